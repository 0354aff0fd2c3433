// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace esc {

/// What a run of a text is watched for: each access of memory, or what it hands back alone, which takes a fraction of
/// the time.
enum class Watched { accesses, results };

}  // namespace esc

// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace esc {

/// SHA-256 of the sources that what is generated follows from: the same on every machine, another one for every change.
/// Made when the program is built.
extern const char* const source_digest;

}  // namespace esc

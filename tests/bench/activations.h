// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace esc::bench {

/// How B and C lie: rows of n columns, or a row of K, and of M, elements for each column, as activations do in PyTorch.
enum class Activations { kn, nk };

}  // namespace esc::bench

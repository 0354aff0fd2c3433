// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace esc {

/// A kernel beside cuBLASLt's dense product of its layer: what either is predicted to take, in microseconds.
struct DenseComparison {
  double kernel = 0;
  double dense = 0;
  std::string device = {};  ///< "H200 SXM", on which

  double over_dense() const { return dense / kernel; }  ///< above 1 where the kernel is the faster one
  bool operator==(const DenseComparison&) const = default;
};

}  // namespace esc

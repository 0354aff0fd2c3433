// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

namespace esc {

/// A kernel beside cuBLASLt's dense product of its layer on a device.
struct DenseComparison {
  /// What a product is predicted to take, in microseconds.
  struct Predicted {
    double kernel = 0;
    double dense = 0;
    std::string device = {};  ///< "H200 SXM", on which
    bool operator==(const Predicted&) const = default;
  };

  double over_dense = 0;                    ///< the dense product's time over the kernel's
  std::optional<Predicted> predicted = {};  ///< absent where layers like this one were measured
  bool operator==(const DenseComparison&) const = default;
};

/// The comparison that follows from predicted times.
inline DenseComparison comparison_of(const DenseComparison::Predicted& predicted) {
  return {.over_dense = predicted.dense / predicted.kernel, .predicted = predicted};
}

}  // namespace esc

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "generator/schedule/layer_class.h"
#include "generator/schedule/schedule.h"
#include "generator/schedule/target.h"

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

/// By measurements of layers like this one on the device where there are any; else predicted, for devices to which the
/// cost model was fitted. Nothing for others, and for layouts of B and C other than kn and nk.
std::optional<DenseComparison> compare_with_dense(const LayerShape& shape, const Schedule& schedule,
                                                  const TargetDevice& device);

/// The comparison that follows from predicted times.
DenseComparison comparison_of(const DenseComparison::Predicted& predicted);

}  // namespace esc

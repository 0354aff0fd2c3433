// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "generator/schedule/device_ceilings.h"
#include "generator/schedule/measured_ratios.h"
#include "generator/support/error.h"

namespace esc {

/// What a product with a layer reads and writes.
struct ProductBytes {
  double dense = 0;  ///< of the matrix, as each of these three
  double csr = 0;
  double packed = 0;  ///< about
  double b_and_c = 0;
};

/// What is known of a layer before anything is generated.
struct LayerEstimate {
  std::string name;
  std::string shape;
  std::string why_not = {};  ///< where nothing is estimated
  ExitStatus status = ExitStatus::done;
  double sparsity = 0;
  ProductBytes bytes = {};
  std::string schedule = {};  ///< that auto takes
  std::optional<MeasuredRatios> measured = {};
};

struct ModelEstimate {
  std::string model;
  std::string gpu;
  long long bcol = 1;
  std::string dtype;
  std::optional<DeviceCeilings> ceilings = {};  ///< of that GPU, where they are known
  std::vector<LayerEstimate> layers = {};
};

/// A table of the layers with their total, and where its numbers are from.
std::string estimate_page(const ModelEstimate& estimate);

/// The same for machines, with the keys that docs/models.md lists.
std::string estimate_json(const ModelEstimate& estimate);

}  // namespace esc

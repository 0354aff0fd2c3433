// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "generator/commands/token_counts.h"
#include "generator/schedule/dense_comparison.h"
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

/// What is known of a layer's kernel for a number of columns of B before it is generated.
struct KernelEstimate {
  std::int64_t bcol = 1;
  double weight = 1;  ///< of that number of columns, beside the others
  ProductBytes bytes = {};
  std::string schedule = {};  ///< that auto takes
  std::optional<MeasuredRatios> measured = {};
  std::string not_measured = {};        ///< why not
  std::vector<std::string> notes = {};  ///< what a user should know of the schedule
  std::optional<DenseComparison> beside_dense = {};
};

/// The same of a layer.
struct LayerEstimate {
  std::string name;
  std::string shape;
  std::string why_not = {};  ///< where nothing is estimated
  ExitStatus status = ExitStatus::done;
  double sparsity = 0;
  std::vector<KernelEstimate> kernels = {};  ///< one for each number of columns
  std::string why_dense = {};                ///< why `generate` leaves it dense; empty where it does not
};

struct ModelEstimate {
  std::string model;
  std::string gpu;
  bool is_named = true;  ///< whether the user has named the GPU
  std::vector<TokenCount> token_counts = {{1}};
  std::string dtype;
  std::string note = {};                        ///< on the type; empty where nothing is to be said
  std::optional<DeviceCeilings> ceilings = {};  ///< of that GPU, where they are known
  std::vector<LayerEstimate> layers = {};
};

/// What the model is expected to win for each number of columns, and by their weights together where there are some,
/// then a table of its layers; with details bytes, bounds and schedules, too, and where the numbers are from.
std::string estimate_page(const ModelEstimate& estimate, bool with_details);

/// The same for machines, with the keys that docs/reference/formats.md lists.
std::string estimate_json(const ModelEstimate& estimate);

}  // namespace esc

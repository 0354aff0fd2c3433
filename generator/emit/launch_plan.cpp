// SPDX-License-Identifier: Apache-2.0
#include "generator/emit/launch_plan.h"

#include "generator/emit/block_memory.h"
#include "generator/emit/device_text.h"
#include "generator/emit/dispatch.h"
#include "generator/emit/fragment_text.h"
#include "generator/emit/gather_text.h"
#include "generator/emit/layout_text.h"
#include "generator/emit/print_kernel.h"
#include "generator/emit/region_text.h"
#include "generator/emit/shared_arrays.h"
#include "generator/ir/evaluate.h"
#include "generator/support/error.h"

namespace esc {
namespace {

/// The sizes of a layer by the names that nests have for them, with what the nest derives from them.
Environment sizes_of(const LoopNest& nest, const Layer& layer) {
  Environment sizes = layer.sizes;
  for (const auto& [name, value] : constants_of(nest)) {
    sizes[name] = value;
  }
  for (const DerivedSize& size : nest.derived_sizes) {
    sizes[size.name] = (size.numerator.evaluate(sizes) + size.divisor - 1) / size.divisor;
  }
  return sizes;
}

/// Iterations of the loops that are mapped so.
unsigned int count(const Block& block, const Environment& sizes, bool (*wanted)(Mapping)) {
  const auto* loop = block.empty() ? nullptr : std::get_if<Loop>(&block.back().content);
  if (loop == nullptr || !is_mapped(loop->mapping)) {
    return 1;
  }
  return static_cast<unsigned int>(wanted(loop->mapping) ? loop->upper.evaluate(sizes) : 1) *
         count(loop->body, sizes, wanted);
}

bool is_grid_x(Mapping mapping) { return mapping == Mapping::grid || mapping == Mapping::cluster; }
bool is_grid_y(Mapping mapping) { return mapping == Mapping::grid_y; }

std::vector<unsigned int> arguments(const LoopNest& nest, const Environment& sizes) {
  std::vector<unsigned int> values;
  for (const std::string& name : kernel_sizes(nest)) {
    values.push_back(static_cast<unsigned int>(sizes.at(name)));
  }
  return values;
}

}  // namespace

std::vector<std::string> kernels_of(const LaunchPlan& plan) {
  std::vector<std::string> kernels{plan.kernel};
  if (plan.zeroing) {
    kernels.push_back(plan.zeroing->kernel);
  }
  return kernels;
}

std::vector<std::string> kernel_variants(const Layer& layer) {
  if (moves_vectors(layer.lowered, layer.sizes)) {
    const bool tuned_vectors = tuned_moves_vectors(layer.lowered, layer.sizes, layer.bcol);
    return {tuned_vectors ? "<true, true>" : "<true, false>", "<false, true>", "<false, false>"};
  }
  return layer.lowered.vectors ? std::vector<std::string>{"<true, false>", "<false, false>"}
                               : std::vector<std::string>{"<true>", "<false>"};
}

LaunchPlan launch_plan(const Layer& layer) {
  const LoopNest& nest = layer.lowered;
  const Environment sizes = sizes_of(nest, layer);
  LaunchPlan plan{.kernel = kernel_name(layer) + kernel_variants(layer).front(),
                  .grid_x = count(nest.body, sizes, is_grid_x),
                  .grid_y = count(nest.body, sizes, is_grid_y),
                  .threads = count(nest.body, sizes, is_thread),
                  .shared_bytes = shared_bytes(nest, layer.sizes),
                  .zeroes_c = nest.zeroed == Zeroed::output,
                  .programmatic = nest.overlaps,
                  .sizes = arguments(nest, sizes)};
  if (copies_tile_boxes(nest)) {
    const BoxOfTile box = box_of_tile(nest);
    const auto element_bytes = static_cast<unsigned int>(bytes_of(nest.element()));
    constexpr std::int64_t piece_bytes = 16;
    plan.boxes = LaunchPlan::Boxes{
        .rows_of_b = static_cast<std::uint64_t>(sizes.at("K")),
        .rows = box.rows,
        .columns = box.columns,
        .element_bytes = element_bytes,
        .of_columns = box.of_columns,
        .are_copied = (box.of_columns ? sizes.at("K") : layer.bcol) * element_bytes % piece_bytes == 0};
  } else if (copies_boxes(nest)) {
    plan.boxes = LaunchPlan::Boxes{.rows_of_b = static_cast<std::uint64_t>(sizes.at("K")),
                                   .rows = static_cast<unsigned int>(nest.constant("k_tile_columns")),
                                   .columns = static_cast<unsigned int>(columns_of_k_tile_row(nest)),
                                   .element_bytes = static_cast<unsigned int>(bytes_of(nest.element())),
                                   .are_copied = tuned_moves_vectors(nest, layer.sizes, layer.bcol)};
  }
  for (const LoopNest& before : nest.before) {
    const Environment own = sizes_of(before, layer);
    if (const unsigned int blocks = count(before.body, own, is_grid_x); blocks != 0) {
      plan.zeroing = LaunchPlan::Zeroing{.kernel = zeroing_name(layer),
                                         .grid_x = blocks,
                                         .threads = count(before.body, own, is_thread),
                                         .sizes = arguments(before, own)};
    }
  }
  return plan;
}

}  // namespace esc

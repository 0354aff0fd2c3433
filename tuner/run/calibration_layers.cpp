// SPDX-License-Identifier: Apache-2.0
#include "tuner/run/calibration_layers.h"

#include <fmt/format.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <array>
#include <set>

#include "generator/ir/linear_nk_nest.h"
#include "generator/matrix/round_values.h"
#include "generator/matrix/sample.h"
#include "generator/schedule/device_catalog.h"
#include "generator/schedule/search_space.h"
#include "generator/support/error.h"
#include "tuner/run/layer_list.h"

namespace esc::tuning {
namespace {

enum class Layout { kn, nk };

struct CalibrationLayer {
  std::int64_t rows;
  std::int64_t columns;
  int zeros;  ///< in a hundred elements
  std::int64_t bcol;
  ScalarType element;
  Layout layout;
};

/// Small layers and large ones, few columns of B and many, for each element type in both layouts.
constexpr std::array layers{
    CalibrationLayer{512, 512, 70, 64, ScalarType::f32, Layout::kn},
    CalibrationLayer{2048, 1024, 90, 32, ScalarType::f32, Layout::kn},
    CalibrationLayer{4096, 4096, 80, 128, ScalarType::f32, Layout::kn},
    CalibrationLayer{2048, 4096, 90, 256, ScalarType::f32, Layout::kn},
    CalibrationLayer{1024, 1024, 80, 64, ScalarType::f32, Layout::nk},
    CalibrationLayer{4096, 2048, 90, 16, ScalarType::f32, Layout::nk},
    CalibrationLayer{512, 2048, 70, 256, ScalarType::f32, Layout::nk},
    CalibrationLayer{1024, 1024, 70, 64, ScalarType::tf32, Layout::kn},
    CalibrationLayer{4096, 2048, 90, 128, ScalarType::tf32, Layout::kn},
    CalibrationLayer{2048, 2048, 80, 32, ScalarType::tf32, Layout::nk},
    CalibrationLayer{1024, 4096, 50, 8, ScalarType::f16, Layout::kn},
    CalibrationLayer{4096, 4096, 70, 16, ScalarType::f16, Layout::kn},
    CalibrationLayer{2048, 2048, 60, 64, ScalarType::f16, Layout::kn},
    CalibrationLayer{4096, 4096, 50, 1, ScalarType::f16, Layout::nk},
    CalibrationLayer{4096, 4096, 60, 16, ScalarType::f16, Layout::nk},
    CalibrationLayer{8192, 2048, 70, 64, ScalarType::f16, Layout::nk},
    CalibrationLayer{2048, 4096, 60, 256, ScalarType::f16, Layout::nk},
};

std::string name_of_layer(const CalibrationLayer& layer) {
  return fmt::format("calibration_{}x{}_z{}", layer.rows, layer.columns, layer.zeros);
}

LoopNest nest_of(const CalibrationLayer& layer) {
  return layer.layout == Layout::nk ? linear_nk_nest(layer.element) : spmm_nest(layer.element);
}

}  // namespace

SparseMatrix calibration_matrix(const std::string& name, ScalarType element) {
  const auto layer = std::ranges::find(layers, name, name_of_layer);
  ESC_CHECK(layer != layers.end(), "the layer is one of the calibration");
  SparseMatrix matrix = sample_matrix({.rows = layer->rows,
                                       .columns = layer->columns,
                                       .sparsity = layer->zeros / 100.0,
                                       .structure = SampleStructure::uniform,
                                       .seed = 1});
  matrix.element = element;
  round_values(matrix, element);
  return matrix;
}

std::vector<ItemRequest> calibration_items() {
  std::vector<ItemRequest> items(layers.size());
  tbb::parallel_for(std::size_t{0}, layers.size(), [&](std::size_t number) {
    const CalibrationLayer& layer = layers[number];
    const std::string name = name_of_layer(layer);
    items[number] = {facts_of(calibration_matrix(name, layer.element), name), layer.bcol, tuned_nest(nest_of(layer)),
                     usual_cache(name_of(layer.element))};
  });
  return items;
}

std::vector<Schedule> calibration_schedules(const WorkItem& item) {
  const LayerShape shape = shape_of(item);
  std::vector<Schedule> schedules;
  std::set<std::size_t> families;
  for (const ExpectedSchedule& one :
       shipped_catalog().model(item.device).ranked(usual_space(shape), shape, kernel_target(item.device, {}), {}, 1)) {
    if (families.insert(one.schedule.index()).second) {
      schedules.push_back(one.schedule);
    }
  }
  return schedules;
}

RunRequest calibration_request() {
  return {.items = calibration_items(),
          .search = {.peers = false, .decided_by = DecidedBy::search},
          .candidates = calibration_schedules,
          .incumbent = [](const WorkItem& item) { return calibration_schedules(item).front(); },
          .matrix = calibration_matrix};
}

}  // namespace esc::tuning

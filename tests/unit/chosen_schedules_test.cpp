// SPDX-License-Identifier: Apache-2.0
// What holds of whatever schedule is chosen, for layers of all sizes, types and devices. How good it is the journals
// say (tests/unit/tuner/measured_choice_test.cpp).

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "generator/schedule/scheduler.h"
#include "tests/support/layer_shapes.h"
#include "tests/support/run_size.h"

namespace esc {
namespace {

/// The oldest architecture that has the instructions of a schedule; 75, the oldest of all, where it needs none.
int least_architecture(const Schedule& schedule) {
  if (const auto* const stream = std::get_if<StreamSchedule>(&schedule)) {
    // Copies in bulk have another text for older ones.
    const bool is_of_hopper = stream->cluster > 1 || stream->ahead || stream->dense == StreamSchedule::Dense::placed;
    return is_of_hopper ? 90 : 80;
  }
  if (const auto* const bitmap = std::get_if<BitmapSchedule>(&schedule)) {
    return bitmap->has_warpgroups() || bitmap->cluster > 1 ? 90 : 80;
  }
  return std::holds_alternative<GatherSchedule>(schedule) ? GatherSchedule::least_architecture : 75;
}

/// Layers of all sizes, densities, numbers of columns and types: an ordinary run draws a third.
std::vector<LayerShape> layers_of_this_run() {
  std::vector<LayerShape> layers;
  for (const std::int64_t rows : {1, 500, 11008}) {
    for (const std::int64_t columns : {1, 300, 4096}) {
      for (const double density : {0.02, 0.4}) {
        for (const long long bcol : {1, 32, 200}) {
          for (const char* const dtype : {"f16", "bf16", "f32", "tf32", "f64"}) {
            layers.push_back(test::layer_of(rows, columns, density, bcol, dtype));
          }
        }
      }
    }
  }
  return tests::drawn_of(layers, layers.size() / 3);
}

class ChosenSchedules : public testing::TestWithParam<std::string> {};

TEST_P(ChosenSchedules, AreLegalAndForTheirDevice) {
  const DeviceKey device = device_of_gpu(GetParam()).key;
  const KernelTarget target = kernel_target(device, {device.capability});
  for (const LayerShape& shape : layers_of_this_run()) {
    const auto databases = databases_for(shape, device, {&shipped_databases()});
    const std::vector<ScheduleChoice> ranking = ranked_schedules(shape, databases, target);
    ASSERT_FALSE(ranking.empty()) << test::print(shape);
    std::set<std::string> texts;
    for (const ScheduleChoice& choice : ranking) {
      const std::string text = print(choice.schedule);
      EXPECT_NO_THROW(check_legal(choice.schedule, shape.product())) << test::print(shape) << ": " << text;
      EXPECT_LE(least_architecture(choice.schedule), device.capability) << test::print(shape) << ": " << text;
      EXPECT_TRUE(texts.insert(text).second) << test::print(shape) << ": twice " << text;
    }
    EXPECT_EQ(ranked_schedules(shape, databases, target).front().schedule, ranking.front().schedule)
        << test::print(shape);
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, ChosenSchedules, testing::Values("t4", "a100", "l4", "h100", "h200", "b200"),
                         [](const auto& tested) { return tested.param; });

}  // namespace
}  // namespace esc

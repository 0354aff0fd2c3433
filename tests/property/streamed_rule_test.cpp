// SPDX-License-Identifier: Apache-2.0
// Schedules by rule, on matrices of many shapes: what the rule takes must have a kernel.

#include <gtest/gtest.h>

#include "generator/emit/generate.h"
#include "generator/matrix/round_values.h"
#include "generator/matrix/sample.h"
#include "generator/matrix/statistics.h"
#include "generator/schedule/streamed_schedules.h"
#include "generator/schedule/streamed_size.h"
#include "generator/support/error.h"

namespace esc {
namespace {

SparseMatrix sample(std::int64_t rows, std::int64_t columns, double zeros, SampleStructure structure,
                    ScalarType type = ScalarType::f16) {
  SparseMatrix matrix =
      sample_matrix({.rows = rows, .columns = columns, .sparsity = zeros, .structure = structure, .seed = 5});
  round_values(matrix, type);
  return matrix;
}

LayerShape shape_of(const SparseMatrix& matrix, long long bcol, const std::string& dtype = "f16") {
  const LengthStatistics lengths = row_statistics(matrix);
  return {.bcol = bcol,
          .rows = matrix.rows,
          .columns = matrix.columns,
          .nonzeros = matrix.nonzeros(),
          .longest_row = lengths.longest,
          .row_variation = lengths.coefficient_of_variation,
          .dtype = dtype};
}

/// Whether there is a kernel of this schedule; false where the matrix does not suit it.
bool is_generated(const SparseMatrix& matrix, const ScheduleChoice& choice, long long bcol, int architecture,
                  ScalarType type = ScalarType::f16) {
  try {
    const GeneratedLayer layer = generate_layer(
        matrix, spmm_nest(type),
        {.name = "layer", .source_file = "layer.npy", .bcol = bcol, .architectures = {architecture}, .choice = choice});
    return !layer.bytes().empty();
  } catch (const UnsuitableSchedule&) {
    return false;
  }
}

struct Shape {
  std::int64_t rows;
  std::int64_t columns;
  double zeros;
};

TEST(StreamedRule, TakesWhatRandomPatternsAllow) {
  int layers = 0;
  for (const Shape& shape : {Shape{512, 512, 0.5}, Shape{512, 512, 0.85}, Shape{2200, 120, 0.6}, Shape{17, 8200, 0.7},
                             Shape{2113, 300, 0.5}, Shape{1030, 256, 0.0}}) {
    const SparseMatrix matrix = sample(shape.rows, shape.columns, shape.zeros, SampleStructure::uniform);
    for (const std::string gpu : {"h200", "a100", "l4"}) {
      const DeviceKey device = device_of_gpu(gpu).key;
      for (const long long bcol : {8, 200}) {
        const std::vector<ScheduleChoice> choices =
            streamed_schedules(shape_of(matrix, bcol), kernel_target(device, {}));
        ASSERT_FALSE(choices.empty());
        EXPECT_TRUE(is_generated(matrix, choices.front(), bcol, device.capability))
            << gpu << ": " << print(choices.front().schedule) << " for " << shape.rows << " x " << shape.columns
            << ", zeros " << shape.zeros << ", bCol " << bcol;
        ++layers;
      }
    }
  }
  EXPECT_EQ(layers, 36);
}

/// Units of float32 are cut from windows half as wide, and copied in bulk where the device has the engine.
TEST(StreamedRule, TakesWhatRandomPatternsOfFloat32Allow) {
  for (const double zeros : {0.5, 0.72}) {
    const SparseMatrix matrix = sample(2048, 2048, zeros, SampleStructure::uniform, ScalarType::f32);
    for (const std::string gpu : {"h200", "a100", "l4"}) {
      const DeviceKey device = device_of_gpu(gpu).key;
      const std::vector<ScheduleChoice> choices =
          streamed_schedules(shape_of(matrix, 128, "f32"), kernel_target(device, {}));
      ASSERT_FALSE(choices.empty());
      EXPECT_TRUE(is_generated(matrix, choices.front(), 128, device.capability, ScalarType::f32))
          << gpu << ": " << print(choices.front().schedule) << ", zeros " << zeros;
    }
  }
}

/// Where non-zeros stand together units are larger than the rule supposes; the last of its schedules has a kernel all
/// the same.
TEST(StreamedRule, EndsInWhatAllPatternsAllow) {
  for (const SampleStructure structure : {SampleStructure::columns, SampleStructure::blocks, SampleStructure::rows}) {
    const SparseMatrix matrix = sample(512, 520, 0.6, structure);
    for (const std::string gpu : {"h200", "l4"}) {
      const DeviceKey device = device_of_gpu(gpu).key;
      const std::vector<ScheduleChoice> choices = streamed_schedules(shape_of(matrix, 64), kernel_target(device, {}));
      ASSERT_FALSE(choices.empty());
      EXPECT_TRUE(is_generated(matrix, choices.back(), 64, device.capability)) << gpu;
    }
  }
}

/// Whether a schedule fits is asked before the matrix is packed.
TEST(StreamedRule, KnowsHowLongListedUnitsOfRandomPatternsAre) {
  for (const auto& [type, dtype] : {std::pair(ScalarType::f16, "f16"), std::pair(ScalarType::f32, "f32")}) {
    for (const double zeros : {0.5, 0.8}) {
      const SparseMatrix matrix = sample(512, 2048, zeros, SampleStructure::uniform, type);
      for (const int rows : {16, 32}) {
        const ScheduleChoice choice{StreamSchedule{.columns = 8,
                                                   .panels = 2,
                                                   .warps = 2,
                                                   .stages = 2,
                                                   .rows = rows,
                                                   .dense = StreamSchedule::Dense::listed},
                                    "user"};
        const GeneratedLayer layer = generate_layer(
            matrix, spmm_nest(type),
            {.name = "layer", .source_file = "layer.npy", .bcol = 8, .architectures = {80}, .choice = choice});
        const auto bytes = static_cast<double>(std::get<transformer::FragmentFormat>(layer.layer.format).unit_bytes());
        EXPECT_NEAR(static_cast<double>(listed_unit_bytes(dtype, 1 - zeros, rows)) / bytes, 1, 0.05)
            << dtype << ", " << rows << " rows, zeros " << zeros;
      }
    }
  }
}

TEST(StreamedRule, KernelsNeedSparseTensorCores) {
  const SparseMatrix matrix = sample(512, 512, 0.7, SampleStructure::uniform);
  const ScheduleChoice choice{parse_schedule("stream:columns=8,panels=1,warps=2,stages=2"), "user"};
  EXPECT_TRUE(is_generated(matrix, choice, 8, 80));
  EXPECT_FALSE(is_generated(matrix, choice, 8, 75));
}

}  // namespace
}  // namespace esc

// SPDX-License-Identifier: Apache-2.0
// What is estimated of streams before a matrix is packed.

#include <gtest/gtest.h>

#include "generator/emit/generate.h"
#include "generator/matrix/round_values.h"
#include "generator/matrix/sample.h"
#include "generator/schedule/stream_packed_tile_bytes.h"
#include "generator/support/error.h"

namespace esc {
namespace {

SparseMatrix sample(std::int64_t rows, std::int64_t columns, double zeros, ScalarType type) {
  SparseMatrix matrix = sample_matrix({.rows = rows, .columns = columns, .sparsity = zeros, .seed = 5});
  round_values(matrix, type);
  return matrix;
}

/// Whether there is a kernel of this schedule; false where the matrix does not suit it.
bool is_generated(const SparseMatrix& matrix, const ScheduleChoice& choice, long long bcol, int architecture) {
  try {
    const GeneratedLayer layer = generate_layer(
        matrix, spmm_nest(matrix.element),
        {.name = "layer", .source_file = "layer.npy", .bcol = bcol, .architectures = {architecture}, .choice = choice});
    return !layer.bytes().empty();
  } catch (const UnsuitableSchedule&) {
    return false;
  }
}

/// Whether a schedule fits is asked before the matrix is packed.
TEST(StreamEstimate, KnowsHowLongListedUnitsOfRandomPatternsAre) {
  for (const ScalarType type : {ScalarType::f32, ScalarType::tf32}) {
    for (const double zeros : {0.5, 0.8}) {
      const SparseMatrix matrix = sample(512, 2048, zeros, type);
      for (const int rows : {16, 32}) {
        const ScheduleChoice choice{StreamSchedule{.columns = 8,
                                                   .row_tiles = 2,
                                                   .warps = 2,
                                                   .stages = 2,
                                                   .rows = rows,
                                                   .dense = StreamSchedule::Dense::listed},
                                    "user"};
        const GeneratedLayer layer = generate_layer(
            matrix, spmm_nest(type),
            {.name = "layer", .source_file = "layer.npy", .bcol = 8, .architectures = {80}, .choice = choice});
        const auto bytes =
            static_cast<double>(std::get<transformer::FragmentFormat>(layer.layer.format).packed_tile_bytes());
        EXPECT_NEAR(static_cast<double>(listed_packed_tile_bytes(1 - zeros, rows)) / bytes, 1, 0.05)
            << name_of(type) << ", " << rows << " rows, zeros " << zeros;
      }
    }
  }
}

TEST(StreamEstimate, KernelsNeedSparseTensorCores) {
  const SparseMatrix matrix = sample(512, 512, 0.7, ScalarType::f32);
  const ScheduleChoice choice{parse_schedule("stream:columns=8,panels=1,warps=2,stages=2"), "user"};
  EXPECT_TRUE(is_generated(matrix, choice, 8, 80));
  EXPECT_FALSE(is_generated(matrix, choice, 8, 75));
}

}  // namespace
}  // namespace esc

// SPDX-License-Identifier: Apache-2.0
// Tiles of the tensor core whose fragments of A are found by their bits: whole kernels, as what is found in one
// instruction is what the next one reads.

#include <utility>

#include "generator/ir/build.h"
#include "generator/ir/linear_nk_nest.h"
#include "generator/ir/loop_nest.h"
#include "generator/ir/rewrite.h"
#include "generator/pipeline.h"
#include "generator/schedule/bitmap_schedule.h"
#include "tests/property/instruction_example.h"
#include "tests/support/nest_memory.h"

namespace esc::tests {
namespace {

/// B and C in rows, which are whole vectors or not.
InstructionExample in_rows(std::string name, const BitmapSchedule& schedule, SparseMatrix matrix, bool vectors) {
  LoopNest nest = lower(spmm_nest(matrix.element), expand(schedule));
  return {std::move(name), std::move(nest), std::move(matrix), vectors, schedule.columns + 8};
}

/// A schedule whose products are those of four warps at once.
BitmapSchedule of_warpgroups(int columns, int row_tiles, int warps, int stages) {
  return {.columns = columns,
          .row_tiles = row_tiles,
          .warps = warps,
          .stages = stages,
          .packed_tiles = 2,
          .mma = BitmapSchedule::Mma::warpgroup,
          .pdl = false};
}

/// One whose packed tiles have two of each four elements.
BitmapSchedule of_sparse24(int columns, int row_tiles, int warps, int stages) {
  return {.columns = columns,
          .row_tiles = row_tiles,
          .warps = warps,
          .stages = stages,
          .packed_tiles = 2,
          .format = BitmapSchedule::Format::sparse24,
          .pdl = false};
}

SparseMatrix two_of_four(std::int64_t rows, std::int64_t columns, double density, ScalarType element,
                         std::uint64_t seed) {
  return with_two_of_four(small_matrix(rows, columns, density, element, seed));
}

/// Both transposed.
InstructionExample transposed(std::string name, const BitmapSchedule& schedule, SparseMatrix matrix,
                              std::int64_t least_columns) {
  LoopNest nest = lower(linear_nk_nest(matrix.element), expand(schedule));
  return {std::move(name), std::move(nest), std::move(matrix), false, least_columns};
}

/// The matrix without what is in packed tiles of an odd number in each row tile: they have no words.
SparseMatrix without_odd_packed_tiles(const SparseMatrix& matrix) {
  SparseMatrix result{matrix.rows, matrix.columns, {0}, {}, {}, matrix.element};
  for (std::int64_t row = 0; row < matrix.rows; ++row) {
    for (auto at = static_cast<std::size_t>(matrix.offsets[static_cast<std::size_t>(row)]);
         at < static_cast<std::size_t>(matrix.offsets[static_cast<std::size_t>(row) + 1]); ++at) {
      if (matrix.column_of[at] / BitmapSchedule::tile_columns_of_a % 2 == 0) {
        result.column_of.push_back(matrix.column_of[at]);
        result.values.push_back(matrix.values[at]);
      }
    }
    result.offsets.push_back(static_cast<std::int64_t>(result.column_of.size()));
  }
  return result;
}

/// A nest beside the product, as a kernel of B and C: `change` says what its instructions have in place of A.
template <typename Change>
LoopNest between_b_and_c(const LoopNest& product, LoopNest nest, const Change& change) {
  std::erase_if(nest.arrays, [](const ArrayDeclaration& array) { return array.name == "A"; });
  for (ArrayDeclaration& array : nest.arrays) {
    array.role = array.name == "Values" ? ArrayRole::packed_value : array.role;
  }
  nest.arrays.push_back(product.array(ArrayRole::dense));
  nest.arrays.push_back(product.array(ArrayRole::output));
  std::erase_if(nest.derived_sizes, [](const DerivedSize& size) { return size.name == "tiles"; });
  nest.vectors = true;
  nest.body = rewrite(nest.body, {.statement = [&](const Statement& statement) -> Block {
                        Statement changed = statement;
                        if (auto* const perform = std::get_if<Perform>(&changed.action)) {
                          change(*perform);
                        }
                        return {Node{std::move(changed)}};
                      }});
  return nest;
}

/// What unpacks the matrix, which writes as many of its columns as C has, and zeros where C has more.
InstructionExample unpacked(std::string name, const BitmapSchedule& schedule, SparseMatrix matrix,
                            std::int64_t least_columns) {
  const LoopNest product = lower(spmm_nest(matrix.element), expand(schedule));
  LoopNest nest = between_b_and_c(product, product.unpacking.front(), [](Perform& perform) {
    if (perform.instruction == "store_a" || perform.instruction == "store_sparse_a") {
      perform.arguments[0] = element("C");
      perform.arguments[4] = index("N");
    }
  });
  return {std::move(name), std::move(nest), std::move(matrix), false, least_columns};
}

/// What writes other values into the packed matrix: those that B has, of which it has no fewer rows and columns.
InstructionExample repacked(std::string name, const BitmapSchedule& schedule, SparseMatrix matrix) {
  const LoopNest product = lower(spmm_nest(matrix.element), expand(schedule));
  LoopNest nest = between_b_and_c(product, product.repacking.front(), [](Perform& perform) {
    if (perform.instruction == "store_words" || perform.instruction == "store_sparse_words") {
      perform.arguments[0] = element("B");
    }
  });
  const std::int64_t columns = matrix.columns;
  return {std::move(name), std::move(nest), std::move(matrix), false, columns};
}

}  // namespace

std::vector<InstructionExample> tile_examples() {
  constexpr ScalarType f16 = ScalarType::f16, bf16 = ScalarType::bf16;
  return {
      in_rows("tiles_vectors", {.columns = 8, .row_tiles = 2, .warps = 2, .stages = 3, .packed_tiles = 2, .pdl = false},
              small_matrix(37, 999, 0.4, f16, 5), true),
      // Three packed tiles of a row tile, in turn: stages go round.
      in_rows("tiles_elements",
              {.columns = 16, .row_tiles = 1, .warps = 1, .stages = 2, .packed_tiles = 2, .pdl = false},
              small_matrix(37, 700, 0.5, bf16, 6), false),
      // More tiles on their way than a packed tile has K steps.
      in_rows("tiles_wide", {.columns = 32, .row_tiles = 3, .warps = 1, .stages = 6, .packed_tiles = 2, .pdl = false},
              small_matrix(37, 700, 0.7, f16, 7), true),
      in_rows("tiles_one", {.columns = 8, .row_tiles = 1, .warps = 1, .stages = 2, .packed_tiles = 2, .pdl = false},
              small_matrix(21, 40, 0.2, bf16, 8), true),
      // K steps of whole K tiles.
      in_rows("tiles_whole_steps",
              {.columns = 16, .row_tiles = 2, .warps = 2, .stages = 2, .packed_tiles = 2, .step = 256, .pdl = false},
              small_matrix(37, 999, 0.4, f16, 21), true),
      // More consumer groups than a block has barriers, each of one warp.
      in_rows("tiles_sixteen",
              {.columns = 8, .row_tiles = 1, .warps = 16, .stages = 2, .packed_tiles = 2, .pdl = false},
              small_matrix(21, 700, 0.5, f16, 20), true),
      in_rows("tiles_full", {.columns = 16, .row_tiles = 2, .warps = 2, .stages = 3, .packed_tiles = 2, .pdl = false},
              small_matrix(16, 512, 1, f16, 9), true),
      in_rows("tiles_empty_packed_tiles",
              {.columns = 8, .row_tiles = 1, .warps = 2, .stages = 2, .packed_tiles = 2, .pdl = false},
              without_odd_packed_tiles(small_matrix(21, 1000, 0.5, bf16, 10)), true),
      in_rows("tiles_clusters",
              {.columns = 16, .row_tiles = 1, .warps = 2, .stages = 2, .packed_tiles = 2, .cluster = 2, .pdl = false},
              small_matrix(21, 1200, 0.5, f16, 18), true),
      // 16 bytes at once where columns of B are one element apart, of which the last ones lack some.
      transposed("tiles_columns",
                 {.columns = 8, .row_tiles = 2, .warps = 2, .stages = 3, .packed_tiles = 2, .pdl = false},
                 small_matrix(37, 703, 0.5, f16, 11), 1),
      transposed("tiles_columns_wide",
                 {.columns = 32, .row_tiles = 1, .warps = 3, .stages = 2, .packed_tiles = 3, .pdl = false},
                 small_matrix(21, 984, 0.6, bf16, 12), 20),
      transposed("tiles_columns_one",
                 {.columns = 16, .row_tiles = 1, .warps = 1, .stages = 3, .packed_tiles = 2, .pdl = false},
                 small_matrix(21, 40, 0.2, f16, 13), 12),
      // Four elements of C at once, whose columns begin at multiples of 8 bytes; the last row tile has fewer rows.
      transposed("tiles_columns_stored",
                 {.columns = 32, .row_tiles = 1, .warps = 1, .stages = 2, .packed_tiles = 2, .pdl = false},
                 small_matrix(36, 40, 0.5, f16, 19), 20),
      // Tensor copies, where lines of B begin at multiples of 16 bytes; the last K tile has blocks that are not there.
      in_rows("tiles_warpgroup", of_warpgroups(64, 4, 1, 3), small_matrix(70, 330, 0.4, f16, 14), false),
      in_rows("tiles_warpgroup_wide", of_warpgroups(128, 4, 1, 3), small_matrix(37, 200, 0.6, bf16, 15), true),
      transposed("tiles_warpgroup_columns", of_warpgroups(64, 4, 2, 4), small_matrix(37, 704, 0.5, bf16, 16), 72),
      transposed("tiles_warpgroup_columns_wide", of_warpgroups(128, 4, 1, 4), small_matrix(70, 333, 0.4, f16, 17), 100),
      unpacked("tiles_stored", {.columns = 8, .row_tiles = 2, .warps = 2, .stages = 3, .packed_tiles = 2, .pdl = false},
               small_matrix(37, 700, 0.5, f16, 18), 300),
      unpacked("tiles_stored_one",
               {.columns = 8, .row_tiles = 1, .warps = 1, .stages = 2, .packed_tiles = 3, .pdl = false},
               small_matrix(21, 40, 0.6, bf16, 19), 27),
      repacked("tiles_repacked",
               {.columns = 8, .row_tiles = 2, .warps = 2, .stages = 3, .packed_tiles = 2, .pdl = false},
               small_matrix(37, 700, 0.5, f16, 20)),
      repacked("tiles_repacked_one",
               {.columns = 8, .row_tiles = 1, .warps = 1, .stages = 2, .packed_tiles = 3, .pdl = false},
               small_matrix(21, 40, 0.6, bf16, 21)),
      // Two of each four elements.
      in_rows("tiles_sparse24", of_sparse24(8, 2, 2, 3), two_of_four(37, 999, 0.4, f16, 22), true),
      in_rows("tiles_sparse24_wide", of_sparse24(32, 3, 1, 2), two_of_four(37, 700, 0.7, bf16, 23), false),
      in_rows("tiles_sparse24_one", of_sparse24(16, 1, 1, 2), two_of_four(21, 37, 0.3, f16, 24), true),
      transposed("tiles_sparse24_columns", of_sparse24(16, 2, 2, 2), two_of_four(37, 703, 0.5, bf16, 25), 12),
      unpacked("tiles_sparse24_stored", of_sparse24(8, 2, 2, 3), two_of_four(37, 700, 0.5, f16, 26), 700),
      unpacked("tiles_sparse24_stored_one", of_sparse24(8, 1, 1, 2), two_of_four(21, 39, 0.6, bf16, 27), 39),
      repacked("tiles_sparse24_repacked", of_sparse24(8, 2, 2, 3), two_of_four(37, 700, 0.5, f16, 28)),
      repacked("tiles_sparse24_repacked_one", of_sparse24(8, 1, 1, 2), two_of_four(21, 39, 0.6, bf16, 29))};
}

}  // namespace esc::tests

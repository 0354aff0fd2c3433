// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "generator/ir/interpret.h"
#include "generator/matrix/sparse_matrix.h"
#include "generator/schedule/schedule.h"

namespace esc::tests {

/// What a nest over `matrix` and `columns_of_b` columns of B runs on at any stage of its lowering: A dense, B drawn
/// from the seed, C zero, and the packed arrays for row tiles of `height` rows whose lists hold at most
/// `max_list_columns`.
Memory nest_memory(const SparseMatrix& matrix, std::int64_t columns_of_b, int height, std::uint32_t max_list_columns,
                   std::uint64_t seed);

/// The same for family panel: A dense, B drawn from the seed, C zero, and the regions of `schedule`.
Memory panel_nest_memory(const SparseMatrix& matrix, std::int64_t columns_of_b, const PanelSchedule& schedule,
                         std::uint64_t seed);

/// The same for family rows: A dense, B drawn from the seed, C zero, and the tasks of `schedule`.
Memory rows_nest_memory(const SparseMatrix& matrix, std::int64_t columns_of_b, const RowsSchedule& schedule,
                        std::uint64_t seed);

/// What the nests of a lowering run on, of whatever directives: A dense, B drawn from the seed, C zero, and what the
/// last of them reads of the packed matrix.
Memory memory_for(const LoopNest& last, const SparseMatrix& matrix, std::int64_t columns_of_b, std::uint64_t seed);

/// The array Values of a packed matrix that has packed tiles.
Tensor packed_tile_values(std::span<const std::byte> packed);

/// The matrix with the first two non-zeros of each four neighbours in a row.
SparseMatrix with_two_of_four(const SparseMatrix& matrix);

/// Largest difference of any element of C between two runs.
double largest_difference(const Memory& a, const Memory& b);

}  // namespace esc::tests

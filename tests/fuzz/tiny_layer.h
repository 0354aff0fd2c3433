// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "generator/emit/generate.h"
#include "generator/ir/loop_nest.h"
#include "generator/matrix/sparse_matrix.h"

namespace esc::fuzz {

/// A matrix of 9 x 13 with a full, an empty and uneven rows.
SparseMatrix tiny_matrix(ScalarType element);

/// The layer of the nest, the matrix and the choice. Throws UserError where they do not go together.
GeneratedLayer tiny_layer(const LoopNest& nest, const SparseMatrix& matrix, std::int64_t bcol,
                          const ScheduleChoice& choice);

/// Makes it with the text of its kernel, as `escgen generate` does.
void make_tiny_layer(const LoopNest& nest, const SparseMatrix& matrix, std::int64_t bcol, const ScheduleChoice& choice);

}  // namespace esc::fuzz

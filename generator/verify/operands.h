// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "generator/ir/loop_nest.h"
#include "generator/ir/placed_layout.h"
#include "generator/verify/c_call.h"
#include "generator/verify/value_draw.h"

namespace esc {

/// What an epilogue reads beside the sums: the values of one operand for a product of some rows and columns without
/// gaps, each exactly a value of its type.
struct Operand {
  std::string name;
  ScalarType type = ScalarType::f32;
  std::size_t rank = 0;       ///< 0: a number; 1: a vector; 2: a matrix
  bool over_columns = false;  ///< of a vector: whether it has an element for each column of C, else for each row
  std::int64_t rows = 1;
  std::int64_t columns = 1;
  std::vector<double> elements;  ///< rows x columns
  PlacedLayout layout = {};      ///< of a matrix

  /// That for an element of C.
  double at(std::int64_t row, std::int64_t column) const {
    const std::int64_t first = rows == 1 ? 0 : row * columns;
    return elements[static_cast<std::size_t>(first + (columns == 1 ? 0 : column))];
  }
};

/// That of an operand of rank 0, in its type.
CArgument number_argument(const Operand& operand);

/// The operands of the nest's epilogue in their order, for `rows` rows and `n` columns of C; numbers ascend from
/// -1.375. Lines of a matrix are its columns, those of a vector its elements. None where the nest has no epilogue.
std::vector<Operand> draw_operands(const LoopNest& nest, std::int64_t rows, std::int64_t n,
                                   const ValueDraw& values = {});

}  // namespace esc

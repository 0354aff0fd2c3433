// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "generator/ir/loop_nest.h"
#include "generator/matrix/sparse_matrix.h"

namespace esc::tests {

inline constexpr std::int64_t warp_lanes = 32;

/// A small kernel around an instruction: a nest that reads B and, where it says so, a packed matrix, and changes C.
struct InstructionExample {
  std::string name;
  LoopNest nest;
  SparseMatrix matrix;              ///< B has a row for each of its columns; packed as the nest says
  bool vectors = false;             ///< which variant of the kernel is run
  std::int64_t least_columns = 16;  ///< of B and C
  double factor_of_b = 1;           ///< of the drawn elements, so that some have more bits, or are far from one
  int products = 4;                 ///< of drawn operands: the first one is what the kernel is tuned for
};

void PrintTo(const InstructionExample& example, std::ostream* stream);

/// Examples by what their instructions are about.
std::vector<InstructionExample> column_examples();
std::vector<InstructionExample> group_examples();
std::vector<InstructionExample> region_examples();
std::vector<InstructionExample> task_examples();
std::vector<InstructionExample> fragment_examples();
std::vector<InstructionExample> gather_examples();
std::vector<InstructionExample> tile_examples();
std::vector<InstructionExample> order_examples();

/// Those of all instructions.
const std::vector<InstructionExample>& all_instruction_examples();

// What examples are put together from.

Node store(const Access& target, Expression value, Guard guard = {});
ArrayDeclaration registers(const std::string& name, const Affine& extent, ScalarType type,
                           const std::string& record = "");
/// for (v = 0; v < extent; v++) ..., written out.
Node for_each_v(const Affine& extent, Block body);
/// sums[v] = B[lane][v] for `count` of them.
Node load_sums(const Affine& count);

/// The nest of one warp that performs `body` once, its arrays beside B and C, which has a row for each lane.
LoopNest nest_of_warp(ScalarType element, std::vector<ArrayDeclaration> own, std::vector<NamedConstant> constants,
                      Block body);
/// A matrix of drawn operands whose row 1 has every column and whose row 2 has none. Of more than 1000 columns only the
/// first and the last few have non-zeros.
SparseMatrix small_matrix(std::int64_t rows, std::int64_t columns, double density, ScalarType element,
                          std::uint32_t seed);
/// A whole number. Products of two, and in f32 sums of a few hundred of those too, are exact: text and meaning have the
/// same bits as long as they add in the same order. Every second number of f64 is none of f32. Those of 16 bits are so
/// small that sums of all columns of a matrix are in range.
double drawn_operand(ScalarType element, std::uint32_t random);

}  // namespace esc::tests

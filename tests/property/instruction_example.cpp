// SPDX-License-Identifier: Apache-2.0
#include "tests/property/instruction_example.h"

#include <algorithm>
#include <iterator>
#include <random>
#include <utility>

#include "generator/ir/build.h"

namespace esc::tests {
namespace {

std::vector<InstructionExample> collect() {
  std::vector<InstructionExample> all;
  for (const auto& examples : {column_examples, group_examples, region_examples, task_examples, fragment_examples,
                               gather_examples, tile_examples, order_examples}) {
    std::vector<InstructionExample> some = examples();
    std::move(some.begin(), some.end(), std::back_inserter(all));
  }
  return all;
}

}  // namespace

void PrintTo(const InstructionExample& example, std::ostream* stream) { *stream << example.name; }

const std::vector<InstructionExample>& all_instruction_examples() {
  static const std::vector<InstructionExample> all = collect();
  return all;
}

Node store(const Access& target, Expression value, Guard guard) {
  return Node{Statement{std::move(guard), Store{target, std::move(value)}}};
}

ArrayDeclaration registers(const std::string& name, const Affine& extent, ScalarType type, const std::string& record) {
  return {name, {extent}, ArrayRole::registers, type, record};
}

Node for_each_v(const Affine& extent, Block body) {
  return Node{mapped_loop(Mapping::unrolled, "v", extent, Role::none, std::move(body))};
}

Node load_sums(const Affine& count) {
  const Affine v = Affine::of("v");
  return for_each_v(count, {store(element("sums", {v}), element("B", {Affine::of("lane"), v}))});
}

LoopNest nest_of_warp(ScalarType element, std::vector<ArrayDeclaration> own, std::vector<NamedConstant> constants,
                      Block body) {
  LoopNest nest;
  nest.arrays = std::move(own);
  nest.arrays.push_back({"B", {Affine::of("K"), Affine::of("N")}, ArrayRole::dense, element});
  nest.arrays.push_back({"C", {warp_lanes, Affine::of("N")}, ArrayRole::output, element});
  nest.constants = std::move(constants);
  nest.constants.push_back({"threads_per_block", warp_lanes, ""});
  if (std::ranges::find(nest.constants, "vector_width", &NamedConstant::name) == nest.constants.end()) {
    nest.constants.push_back({"vector_width", 1, ""});
  }
  nest.vectors = true;
  Loop lanes = mapped_loop(Mapping::lanes, "lane", warp_lanes, Role::none, std::move(body));
  nest.body = {Node{mapped_loop(Mapping::grid, "block", 1, Role::none, {Node{std::move(lanes)}})}};
  return nest;
}

SparseMatrix small_matrix(std::int64_t rows, std::int64_t columns, double density, ScalarType element,
                          std::uint32_t seed) {
  constexpr std::int64_t full_row = 1;
  constexpr std::int64_t empty_row = 2;
  std::mt19937 random(seed);
  std::bernoulli_distribution is_there(density);
  SparseMatrix matrix{rows, columns, {0}, {}, {}, element};
  for (std::int64_t row = 0; row < rows; ++row) {
    const bool is_wide = columns > 1000;
    for (std::int64_t column = 0; column < columns; column += is_wide && column == 9 ? columns - 18 : 1) {
      if (row != empty_row && (row == full_row || is_there(random))) {
        const double value = drawn_operand(element, random());
        matrix.column_of.push_back(static_cast<std::int32_t>(column));
        matrix.values.push_back(value == 0 ? 1 : value);
      }
    }
    matrix.offsets.push_back(static_cast<std::int64_t>(matrix.column_of.size()));
  }
  return matrix;
}

double drawn_operand(ScalarType element, std::uint32_t random) {
  const std::int64_t largest = is_half(element) ? 3 : element == ScalarType::f64 ? std::int64_t{1} << 26 : 100;
  return static_cast<double>(static_cast<std::int64_t>(random) % (2 * largest + 1) - largest);
}

}  // namespace esc::tests

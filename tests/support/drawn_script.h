// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "generator/matrix/sparse_matrix.h"
#include "generator/schedule/directive.h"

namespace esc::tests {

/// A script as a user may write it, well or badly, with what it is for.
struct DrawnScript {
  std::vector<Directive> directives;
  SparseMatrix matrix;
  std::int64_t bcol = 1;
};

/// "unroll(i, 2); ... on 5 x 3, bCol 17".
std::string print(const DrawnScript& drawn);

/// Draws scripts, the same ones from a seed wherever it runs. Most begin as a family's script with any parameters, and
/// then directives are dropped, exchanged, repeated, added or given other parameters, which may be out of range; the
/// others are directives in any order. The matrices are small, with empty and full rows, often of one row or one
/// column.
class ScriptDraw {
 public:
  explicit ScriptDraw(std::uint64_t seed) : random_(seed) {}

  DrawnScript next();

 private:
  int below(int most) { return static_cast<int>(random_() % static_cast<std::uint64_t>(most)); }
  bool chance(int percent) { return below(100) < percent; }
  int power_of_two(int most_exponent) { return 1 << below(most_exponent + 1); }
  template <typename Value>
  Value one_of(const std::vector<Value>& values) {
    return values[static_cast<std::size_t>(below(static_cast<int>(values.size())))];
  }

  std::vector<Directive> atomic();
  std::vector<Directive> row_tile();
  std::vector<Directive> rows();
  std::vector<Directive> placed_stream();
  std::vector<Directive> stream();
  std::vector<Directive> of_a_family();

  Directive any_directive();
  Directive with_another_parameter(const Directive& directive);
  void spoil(std::vector<Directive>& script);

  SparseMatrix matrix();

  std::mt19937_64 random_;
};

}  // namespace esc::tests

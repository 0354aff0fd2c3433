// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>

#include "generator/emit/templates.h"
#include "generator/frontend/parse_loop_nest.h"
#include "generator/ir/print_function.h"
#include "generator/ir/product_digits.h"
#include "tests/fuzz/harness.h"
#include "tests/fuzz/tiny_layer.h"
#include "tests/refusals/refused_nests.h"
#include "tests/unit/accepted_epilogues.h"
#include "tests/unit/accepted_nests.h"
#include "tests/unit/any_nests.h"

namespace esc::fuzz {
namespace {

/// The size that the nest gives as a constant, else `otherwise`; a matrix of the fuzzer stays small.
std::int64_t size_or(const std::vector<Digit>& digits, std::int64_t otherwise) {
  constexpr std::int64_t most = 64;
  const std::int64_t count = count_of(digits).value_or(otherwise);
  return count >= 1 && count <= most ? count : otherwise;
}

/// The tiny matrix, brought to the sizes that the nest has.
SparseMatrix matrix_for(const LoopNest& nest) {
  const SparseMatrix tiny = tiny_matrix(nest.element());
  const ProductDigits digits = digits_of(nest);
  SparseMatrix matrix{
      size_or(digits.rows, tiny.rows), size_or(digits.reductions, tiny.columns), {0}, {}, {}, nest.element()};
  for (std::int64_t row = 0; row < matrix.rows; ++row) {
    for (std::int64_t entry = tiny.offsets[static_cast<std::size_t>(row % tiny.rows)];
         entry < tiny.offsets[static_cast<std::size_t>(row % tiny.rows + 1)]; ++entry) {
      if (const std::int32_t column = tiny.column_of[static_cast<std::size_t>(entry)]; column < matrix.columns) {
        matrix.column_of.push_back(column);
        matrix.values.push_back(tiny.values[static_cast<std::size_t>(entry)]);
      }
    }
    matrix.offsets.push_back(matrix.nonzeros());
  }
  return matrix;
}

/// The manifest's text of the nest is read back as the same nest.
void check_round_trip(const LoopNest& nest) {
  const std::string printed = print_function(nest);
  try {
    expect(parse_loop_nest(printed, "printed.c") == nest, "a nest that is printed as another one:\n" + printed);
  } catch (const UserError& refusal) {
    throw Finding("a nest whose text is refused:\n" + printed + refusal.what());
  }
}

/// A family of each kind makes a kernel of whatever nest is read.
void check_kernels(const LoopNest& nest) {
  const SparseMatrix matrix = matrix_for(nest);
  const std::int64_t bcol = size_or({digits_of(nest).columns.front()}, 8);
  for (const char* text : {"2-2-1-32", "panel:ufi=2,columns=1,vector=1", "rows:columns=1,vector=1"}) {
    is_accepted([&] { make_tiny_layer(nest, matrix, bcol, parse_choice(text, "user")); });
  }
}

/// Of images, in a loop of their own; without it there is no kernel.
constexpr const char* convolution = R"(
void f(int N, const float W[4][2][3][3], const float X[N][2][5][4], float Y[N][4][5][4]) {
  for (int n = 0; n < N; n++)
    for (int f = 0; f < 4; f++)
      for (int p = 0; p < 5; p++)
        for (int q = 0; q < 4; q++)
          for (int c = 0; c < 2; c++)
            for (int r = 0; r < 3; r++)
              for (int s = 0; s < 3; s++) {
                const int h = p + r - 1, w = q + s - 1;
                if (W[f][c][r][s] != 0 && h >= 0 && h < 5 && w >= 0 && w < 4) Y[n][f][p][q] += W[f][c][r][s] * X[n][c][h][w];
              }
}
)";

bool judge(std::string_view input, const char* file) {
  LoopNest nest;
  if (!is_accepted([&] { nest = parse_loop_nest(input, file); }, Remedy::implied)) {
    return false;
  }
  check_round_trip(nest);
  check_kernels(nest);
  return true;
}

bool judge_c(std::string_view input) { return judge(input, "nest.c"); }
bool judge_cpp(std::string_view input) { return judge(input, "nest.cpp"); }

bool is_cpp(std::string_view file) { return !file.ends_with(".c"); }

Harness harness(const char* kind, bool (*judge_one)(std::string_view), bool cpp) {
  Harness harness{.kind = kind, .judge = judge_one, .mutants = cpp ? std::size_t{100} : std::size_t{400}};
  for (const Variant& accepted : accepted_nests()) {
    if (is_cpp(accepted.file) == cpp) {
      harness.seeds.push_back(accepted.source);
    }
  }
  for (const EpilogueVariant& accepted : accepted_epilogues()) {
    if (is_cpp(accepted.file) == cpp) {
      harness.seeds.push_back(accepted.source);
    }
  }
  for (const auto& table : {refused_loops(), refused_subscripts(), refused_statements(), refused_guards(),
                            refused_any_nests(), refused_epilogues(), invalid_texts()}) {
    for (const Refused& refused : table) {
      if (is_cpp(refused.file) == cpp) {
        harness.refused.push_back(refused.source);
        std::erase(harness.refused.back(), '@');
      }
    }
  }
  harness.words = {"0",
                   "1",
                   "-1",
                   "2147483647",
                   "2147483648",
                   "4294967296",
                   "9223372036854775807",
                   "0x",
                   "1.0f",
                   "int",
                   "unsigned",
                   "long",
                   "short",
                   "char",
                   "_Bool",
                   "float",
                   "double",
                   "const",
                   "restrict",
                   "static",
                   "void",
                   "struct",
                   "union",
                   "enum",
                   "typedef",
                   "extern",
                   "volatile",
                   "register",
                   "inline",
                   "sizeof",
                   "for",
                   "while",
                   "do",
                   "if",
                   "else",
                   "continue",
                   "break",
                   "return",
                   "goto",
                   "switch",
                   "case",
                   "i",
                   "j",
                   "k",
                   "M",
                   "K",
                   "N",
                   "A",
                   "B",
                   "C",
                   "[",
                   "]",
                   "(",
                   ")",
                   "{",
                   "}",
                   ";",
                   ",",
                   "*",
                   "&",
                   "+",
                   "-",
                   "/",
                   "%",
                   "++",
                   "--",
                   "+=",
                   "-=",
                   "*=",
                   "=",
                   "==",
                   "!=",
                   "!",
                   "<",
                   "<=",
                   ">",
                   ">=",
                   "&&",
                   "||",
                   "?",
                   ":",
                   ".",
                   "->",
                   "<<",
                   ">>",
                   "~",
                   "^",
                   "|",
                   "\"",
                   "'",
                   "\\",
                   "\n",
                   "#define X ",
                   "#undef ",
                   "#if 0\n",
                   "#endif\n",
                   "#pragma ",
                   "_Pragma(\"",
                   "//",
                   "/*",
                   "*/",
                   "expf",
                   "tanh",
                   "fmaxf",
                   "bias",
                   "scale",
                   "sum",
                   "h >= 0",
                   "h < 8",
                   "2 * i + k - 1",
                   "X[4][8]",
                   "rows[i]",
                   "rows[i + 1]",
                   "columns[p]",
                   "values[p]",
                   "static const int tap[3] = {0, 1, 3};",
                   "static const float scale[3] = {1, 2, 3};"};
  if (cpp) {
    harness.words.insert(
        harness.words.end(),
        {"auto", "template <", "typename", "constexpr", "class",    "namespace", "using",   "this",    "operator",
         "new",  "delete",     "throw",    "try",       "catch",    "bool",      "true",    "nullptr", "static_cast<",
         "[&]",  "::",         "requires", "decltype(", "alignas(", "noexcept",  "restrict"});
  }
  return harness;
}

}  // namespace

Harness nest_harness() {
  Harness made = harness("nest", judge_c, false);
  made.seeds.emplace_back(spmm_template);
  made.seeds.emplace_back(linear_nk_template);
  made.seeds.emplace_back(spmm_csr_template);
  made.seeds.emplace_back(convolution);
  for (const AnyNest& nest : any_nests()) {
    const bool is_of_images = nest.arrays.find("Y[8]") == std::string::npos;
    (is_of_images ? made.seeds : made.refused).push_back(nest.source);
  }
  for (const std::string_view text : {conv2d_template, conv2d_nhwc_template}) {
    made.refused.emplace_back(text);  // without their sizes
  }
  return made;
}

Harness nest_cpp_harness() { return harness("nest_cpp", judge_cpp, true); }

}  // namespace esc::fuzz

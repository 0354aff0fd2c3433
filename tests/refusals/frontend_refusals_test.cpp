// SPDX-License-Identifier: Apache-2.0
// Input programs that are not the product are refused at the right place, in the right words.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "generator/frontend/parse_loop_nest.h"
#include "generator/support/error.h"
#include "tests/refusals/refused_nests.h"

namespace esc {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class FrontendRefuses : public testing::TestWithParam<Refused> {};

TEST_P(FrontendRefuses, WithWordsAtThePlace) {
  Refused refused = GetParam();
  const std::size_t mark = refused.source.find('@');
  ASSERT_NE(mark, std::string::npos) << "no place is marked";
  refused.source.erase(mark, 1);
  const auto start = refused.source.begin();
  const auto place = start + static_cast<std::ptrdiff_t>(mark);
  const auto line = 1 + std::count(start, place, '\n');
  const std::size_t line_start = mark == 0 ? 0 : refused.source.rfind('\n', mark - 1) + 1;
  const std::string expected_place =
      std::string(refused.file) + ":" + std::to_string(line) + ":" + std::to_string(mark - line_start + 1) + ": ";
  try {
    parse_loop_nest(refused.source, refused.file);
    FAIL() << "accepted:\n" << refused.source;
  } catch (const UserError& error) {
    EXPECT_THAT(error.what(), StartsWith(expected_place)) << refused.source;
    EXPECT_THAT(error.what(), HasSubstr(refused.words)) << refused.source;
    EXPECT_EQ(error.status(), ExitStatus::bad_input);
  }
}

const auto name_of = [](const auto& tested) { return std::string(tested.param.name); };

INSTANTIATE_TEST_SUITE_P(Loops, FrontendRefuses, testing::ValuesIn(refused_loops()), name_of);
INSTANTIATE_TEST_SUITE_P(Subscripts, FrontendRefuses, testing::ValuesIn(refused_subscripts()), name_of);
INSTANTIATE_TEST_SUITE_P(Statements, FrontendRefuses, testing::ValuesIn(refused_statements()), name_of);
INSTANTIATE_TEST_SUITE_P(Guards, FrontendRefuses, testing::ValuesIn(refused_guards()), name_of);
INSTANTIATE_TEST_SUITE_P(AnyNests, FrontendRefuses, testing::ValuesIn(refused_any_nests()), name_of);
INSTANTIATE_TEST_SUITE_P(Epilogues, FrontendRefuses, testing::ValuesIn(refused_epilogues()), name_of);
INSTANTIATE_TEST_SUITE_P(Invalid, FrontendRefuses, testing::ValuesIn(invalid_texts()), name_of);

TEST(FrontendRefusal, ShowsTheLineWithACaret) {
  try {
    parse_loop_nest(
        "void f(int M, int K, int N, float A[K][M], float B[K][N], float C[M][N]) {\n"
        "  for (int i = 0; i < M; i++)\n"
        "    for (int k = 0; k < K; k++)\n"
        "      for (int j = 0; j < N; j++)\n"
        "        C[i][j] += A[k][i] * B[k][j];\n"
        "}\n",
        "nests/wrong.c");
    FAIL() << "accepted";
  } catch (const UserError& error) {
    EXPECT_STREQ(error.what(),
                 "nests/wrong.c:5:20: error: A[k][i] is the sparse matrix transposed: expected A[i][k], M x K\n"
                 "    5 |         C[i][j] += A[k][i] * B[k][j];\n"
                 "      |                    ^~~~~~~");
  }
}

TEST(FrontendRefusal, LanguageFollowsFromTheEnding) {
  try {
    parse_loop_nest("", "nest.f90");
    FAIL() << "accepted";
  } catch (const UserError& error) {
    EXPECT_THAT(error.what(), HasSubstr("nest.f90: the language of the loop nest is told by the file's ending; "
                                        "expected .c, .cpp, .cc or .cu"));
  }
}

}  // namespace
}  // namespace esc

// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <functional>
#include <limits>
#include <string>

#include "generator/matrix/sparse_matrix.h"
#include "generator/support/error.h"
#include "tests/unit/matrix_fixtures.h"

namespace esc {
namespace {

TEST(Validate, AcceptsWhatKeepsTheInvariants) {
  EXPECT_NO_THROW(validate(matrix_of(2, 3, {0, 1, 2, 3, 0, 0})));
  EXPECT_NO_THROW(validate(matrix_of(1, 1, {0})));
  EXPECT_NO_THROW(validate(matrix_of(1, 1, {std::numeric_limits<float>::infinity()})));
}

TEST(Validate, NamesTheInvariantThatIsBroken) {
  const struct {
    std::function<void(SparseMatrix&)> spoil;
    const char* words;
  } cases[] = {
      {[](SparseMatrix& m) { m.rows = 0; }, "2^31 - 1 rows"},
      {[](SparseMatrix& m) { m.columns = std::int64_t{1} << 31; }, "2^31 - 1 columns"},
      {[](SparseMatrix& m) { m.offsets.push_back(3); }, "rows + 1 offsets"},
      {[](SparseMatrix& m) { m.values.pop_back(); }, "a column and a value"},
      {[](SparseMatrix& m) { m.offsets[0] = 1; }, "start at 0"},
      {[](SparseMatrix& m) { m.offsets[2] = 2; }, "end at the number"},
      {[](SparseMatrix& m) { m.offsets[1] = 9; }, "decrease after row 1"},
      {[](SparseMatrix& m) { m.column_of[1] = 1; }, "columns of row 0"},
      {[](SparseMatrix& m) { m.column_of[2] = 3; }, "columns of row 1"},
      {[](SparseMatrix& m) { m.column_of[0] = -1; }, "columns of row 0"},
      {[](SparseMatrix& m) { m.values[2] = -0.0F; }, "a zero is stored in row 1, column 0"},
  };
  for (const auto& [spoil, words] : cases) {
    SparseMatrix matrix = matrix_of(2, 3, {0, 1, 2, 3, 0, 0});
    spoil(matrix);
    try {
      validate(matrix);
      ADD_FAILURE() << "accepted, expected: " << words;
    } catch (const Defect& defect) {
      EXPECT_THAT(std::string(defect.what()), testing::HasSubstr(words));
    }
  }
}

}  // namespace
}  // namespace esc

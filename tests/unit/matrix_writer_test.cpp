// SPDX-License-Identifier: Apache-2.0
#include "generator/matrix/matrix_writer.h"

#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include <bit>
#include <cmath>
#include <iterator>
#include <string>
#include <vector>

#include "generator/matrix/matrix_reader.h"
#include "generator/matrix/sample.h"
#include "generator/support/error.h"
#include "generator/support/file.h"
#include "generator/support/output_file.h"
#include "tests/support/refusals.h"
#include "tests/unit/matrix_fixtures.h"

namespace esc {
namespace {

using testing::HasSubstr;

std::size_t files_in(const std::filesystem::path& folder) {
  return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder), {}));
}

TEST(WriteMatrix, WritesTheTextsOfTheFormats) {
  const TestFolder folder;
  const SparseMatrix matrix = matrix_of(3, 4, {0, 0.1F, 0, -2, 0, 0, 0, 0, 3, 0, 0, 0});
  write_matrix(matrix, folder.path() / "a.smtx");
  EXPECT_EQ(read_file(folder.path() / "a.smtx"), "3, 4, 3\n0 2 2 3\n1 3 0\n");
  write_matrix(matrix, folder.path() / "a.MTX");
  EXPECT_EQ(read_file(folder.path() / "a.MTX"),
            "%%MatrixMarket matrix coordinate real general\n3 4 3\n1 2 0.100000001\n1 4 -2\n3 1 3\n");
  write_matrix(matrix, folder.path() / "a.npy");
  const std::string npy = read_file(folder.path() / "a.npy");
  EXPECT_EQ(npy.size(), 128U + 3 * 4 * 4) << "elements start at a multiple of 64";
  EXPECT_EQ(npy.substr(0, 10), std::string("\x93NUMPY\x01\x00\x76\x00", 10));
  EXPECT_EQ(npy.substr(10, 59), "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }");
  EXPECT_EQ(npy[127], '\n');
}

RC_GTEST_PROP(WriteMatrix, ReadsBackExactly, ()) {
  const TestFolder folder;
  const int rows = *rc::gen::inRange(1, 9);
  const int columns = *rc::gen::inRange(1, 9);
  const auto bits = *rc::gen::container<std::vector<std::uint32_t>>(static_cast<std::size_t>(rows * columns),
                                                                    rc::gen::arbitrary<std::uint32_t>());
  std::vector<float> dense;
  for (const std::uint32_t number : bits) {  // every float32 there is, large, small and denormal
    const float value = std::bit_cast<float>(number * 0x9e3779b9U);
    dense.push_back(number % 3 == 0 || !std::isfinite(value) ? 0.0F : value);
  }
  const SparseMatrix matrix = matrix_of(rows, columns, dense);
  for (const char* name : {"a.mtx", "a.npy"}) {
    write_matrix(matrix, folder.path() / name);
    RC_ASSERT(read_matrix(folder.path() / name) == matrix);
  }
  write_matrix(matrix, folder.path() / "a.smtx");
  const SparseMatrix pattern = read_matrix(folder.path() / "a.smtx");
  RC_ASSERT(pattern.offsets == matrix.offsets);
  RC_ASSERT(pattern.column_of == matrix.column_of);
}

TEST(WriteMatrix, WritesRowsLongerThanItsBuffers) {
  const TestFolder folder;
  const SparseMatrix matrix = sample_matrix({.rows = 3, .columns = 600000, .sparsity = 0.5});
  for (const char* name : {"a.smtx", "a.mtx", "a.npy"}) {
    write_matrix(matrix, folder.path() / name);
    EXPECT_EQ(read_matrix(folder.path() / name), matrix) << name;
  }
}

TEST(WriteMatrix, ReplacesAFileAndLeavesNothingElse) {
  const TestFolder folder;
  const std::filesystem::path path = folder.file("a.mtx", "old");
  write_matrix(matrix_of(1, 1, {1}), path);
  EXPECT_THAT(read_file(path), HasSubstr("1 1 1\n"));
  EXPECT_EQ(files_in(folder.path()), 1U);
}

TEST(WriteMatrix, RefusesWhereItCannotWrite) {
  const TestFolder folder;
  std::filesystem::create_directory(folder.path() / "d.npy");
  write_file_whole(folder.path() / "file", "");
  const struct {
    const char* name;
    const char* words;
  } cases[] = {
      {"a.npz", ".npz is not a matrix format that can be written; name a .smtx, .mtx or .npy file"},
      {"a", "has no ending"},
      {"file/a.npy", "Not a directory"},
      {"d.npy", "is a directory"},
  };
  for (const auto& [name, words] : cases) {
    EXPECT_THAT(test::refusal_of([&] { write_matrix(matrix_of(1, 1, {1}), folder.path() / name); }), HasSubstr(words))
        << name;
  }
  EXPECT_EQ(files_in(folder.path()), 2U) << "only what was there";
}

TEST(WriteMatrix, LeavesNothingOfAFileThatIsNotComplete) {
  const TestFolder folder;
  {
    OutputFile file(folder.path() / "a.npy");
    file.write("half");
    EXPECT_EQ(files_in(folder.path()), 1U);
  }
  EXPECT_EQ(files_in(folder.path()), 0U);
}

}  // namespace
}  // namespace esc

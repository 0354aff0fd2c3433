// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "generator/matrix/matrix_reader.h"
#include "generator/matrix/sample.h"
#include "generator/support/error.h"
#include "generator/support/file.h"
#include "tests/support/refusals.h"
#include "tests/unit/matrix_fixtures.h"

namespace esc {
namespace {

using test::expect_refusals;
using testing::HasSubstr;
using testing::Not;

TEST(SmtxRefusals, NameTheLine) {
  const std::string digits(2000, '1');
  expect_refusals(
      {
          {"", "a.smtx, line 1", "the file is empty"},
          {"\n", "a.smtx, line 1", "the number of rows is missing"},
          {"3", "a.smtx, line 1", "the number of columns is missing"},
          {"3, 4\n0 0 0 0\n", "a.smtx, line 1", "the number of non-zeros is missing"},
          {"3; 4; 5\n", "a.smtx, line 1", "the number of rows \"3;\" is not a whole number"},
          {std::string("\x7f"
                       "ELF\0\1\2",
                       7),
           "a.smtx, line 1", "the number of rows \"?ELF???\" is not a whole number"},
          {"0, 4, 0\n0\n", "a.smtx, line 1", "the number of rows is 0, below 1"},
          {"2, 0, 0\n0 0 0\n", "a.smtx, line 1", "the number of columns is 0, below 1"},
          {"-2, 4, 0\n0\n", "a.smtx, line 1", "the number of rows is -2"},
          {"2, 4, -1\n0 0 0\n", "a.smtx, line 1", "the number of non-zeros is -1"},
          {"2147483648, 1, 0\n0\n", "a.smtx, line 1", "2147483648 is beyond 2^31 - 1"},
          {"1, 2147483648, 0\n0\n", "a.smtx, line 1", "2147483648 is beyond 2^31 - 1"},
          {"1, 99999999999999999999, 0\n0\n", "a.smtx, line 1", "does not fit 64 bits"},
          {digits + ", 2, 3\n", "a.smtx, line 1", "a word of more than 1024 characters"},
          {"2, 2, 5\n0 2 5\n0 1 0 1 1\n", "a.smtx, line 1", "5 non-zeros do not fit a matrix of 2 x 2"},
          {"2147483647, 1, 0\n0 0\n", "a.smtx, line 1", "2147483647 rows and 0 non-zeros cannot be in a file of 21"},
          {"65536, 65536, 2147483647\n0 0\n", "a.smtx, line 1", "2147483647 non-zeros cannot be in a file of 29 bytes"},
          {"1, 2, 1, 7\n0 1\n0\n", "a.smtx, line 1", "three numbers, but \",\" follows"},
          {"2, 2, 4\n", "a.smtx, line 1", "cannot be in a file of 8 bytes"},
          {"2, 2, 1   \n\n\n\n", "a.smtx, line 2", "ends after 0 of 3 offsets"},
          {"2, 2, 1\n0 1\n0\n", "a.smtx, line 2", "ends after 2 of 3 offsets"},
          {"2, 2, 1\n0 1 x\n0\n", "a.smtx, line 2", "the offset \"x\" is not a whole number"},
          {"2, 2, 1\n0 1.0 1\n0\n", "a.smtx, line 2", "\"1.0\" is not a whole number"},
          {"2, 2, 2\n1 1 2\n0 1\n", "a.smtx, line 2", "the first offset is 1, not 0"},
          {"2, 2, 2\n0 2 1\n0 1\n", "a.smtx, line 2", "offsets decrease from 2 to 1 at row 2"},
          {"2, 2, 2\n0 -1 2\n0 1\n", "a.smtx, line 2", "offsets decrease from 0 to -1"},
          {"2, 2, 3\n0 3 3\n0 1 1\n", "a.smtx, line 2", "row 0 would have 3 non-zeros in 2 columns"},
          {"2, 2, 2\n0 1 1\n0 1\n", "a.smtx, line 2", "the last offset is 1, but the first line says 2"},
          {"2, 2, 2\n0 1 2 2\n0 1\n", "a.smtx, line 2", "3 offsets (rows + 1), but \"2\" follows"},
          {"2, 2, 2\n0 1 2\n0", "a.smtx, line 3", "ends after 1 of 2 column indices"},
          {"2, 2, 2\n0 1 2\n0\n1\n", "a.smtx, line 3", "ends after 1 of 2 column indices"},
          {"2, 2, 2\n0 1 2\n0 2\n", "a.smtx, line 3", "column 2 of row 1 is outside 0 to 1"},
          {"2, 2, 2\n0 1 2\n0 -1\n", "a.smtx, line 3", "column -1 of row 1 is outside 0 to 1"},
          {"1, 3, 2\n0 2\n1 1\n", "a.smtx, line 3", "column 1 is repeated in row 0"},
          {"1, 3, 2\n0 2\n2 1\n", "a.smtx, line 3", "column 1 follows column 2 in row 0"},
          {"1, 3, 2\n0 2\n1 2 0\n", "a.smtx, line 3", "the matrix is complete, but \"0\" follows"},
          {"1, 3, 2\n0 2\n1 2\n\n\n0.5 0.5\n", "a.smtx, line 6", "the matrix is complete, but \"0.5\" follows"},
      },
      [](const std::string& text) { smtx_of(text); });
}

TEST(MtxRefusals, NameTheLine) {
  const std::string real = "%%MatrixMarket matrix coordinate real general\n";
  const std::string pattern = "%%MatrixMarket matrix coordinate pattern general\n";
  const std::string integer = "%%MatrixMarket matrix coordinate integer general\n";
  const std::string symmetric = "%%MatrixMarket matrix coordinate real symmetric\n";
  const std::string array = "%%MatrixMarket matrix array real general\n";
  expect_refusals(
      {
          {"", "a.mtx, line 1", "the file is empty"},
          {"%MatrixMarket matrix\n", "a.mtx, line 1", "starts with \"%MatrixMarket\""},
          {"%%MatrixMarket vector coordinate real general\n", "a.mtx, line 1", "\"vector\" is not a matrix"},
          {"%%MatrixMarket matrix sparse real general\n", "a.mtx, line 1",
           "\"sparse\" is neither coordinate nor array"},
          {"%%MatrixMarket matrix coordinate complex general\n", "a.mtx, line 1", "\"complex\" is none of"},
          {"%%MatrixMarket matrix array pattern general\n", "a.mtx, line 1", "an array has values"},
          {"%%MatrixMarket matrix coordinate real hermitian\n", "a.mtx, line 1", "\"hermitian\" is neither"},
          {"%%MatrixMarket matrix coordinate real\n", "a.mtx, line 1", "the symmetry \"\" is neither"},
          {"%%MatrixMarket matrix coordinate real general now\n", "a.mtx, line 1", "five words, but \"now\" follows"},
          {real, "a.mtx, line 2", "the number of rows is missing"},
          {real + "% only\n% comments\n", "a.mtx, line 4", "the number of rows is missing"},
          {real + "2 2\n", "a.mtx, line 2", "the number of entries is missing"},
          {real + "2 2 1 1\n1 1 1\n", "a.mtx, line 2", "three numbers, but \"1\" follows"},
          {array + "2 2 4\n1\n1\n1\n1\n", "a.mtx, line 2", "two numbers, but \"4\" follows"},
          {real + "0 2 0\n", "a.mtx, line 2", "the number of rows is 0, below 1"},
          {real + "2 -2 0\n", "a.mtx, line 2", "the number of columns is -2, below 1"},
          {real + "2147483648 2 0\n", "a.mtx, line 2", "2147483648 is beyond 2^31 - 1"},
          {array + "1 9999999999\n", "a.mtx, line 2", "9999999999 is beyond 2^31 - 1"},
          {real + "2 2 5\n", "a.mtx, line 2", "5 entries do not fit a matrix of 2 x 2"},
          {real + "65536 65536 2147483648\n1 1 1\n", "a.mtx, line 2", "2147483648 entries cannot be in a file of"},
          {array + "65536 32768\n1\n", "a.mtx, line 2", "2147483648 entries cannot be in a file of"},
          {real + "2147483647 2 1\n1 1 1\n", "a.mtx, line 2", "2147483647 rows are more than a file of"},
          {symmetric + "2 3 1\n1 1 1\n", "a.mtx, line 2", "2 x 3 cannot be symmetric"},
          {real + "2 2 2\n1 1 1\n", "a.mtx, line 4", "ends after 1 of 2 entries"},
          {array + "2 2\n1\n2\n3\n", "a.mtx, line 6", "ends after 3 of 4 values"},
          {real + "2 2 1\n1 1 1\n2 2 2\n", "a.mtx, line 4", "the matrix is complete, but \"2\" follows"},
          {array + "1 1\n1\n2\n", "a.mtx, line 4", "the matrix is complete, but \"2\" follows"},
          {real + "2 2 1\n1\n", "a.mtx, line 3", "the column is missing"},
          {real + "2 2 1\n1 1\n", "a.mtx, line 3", "the value is missing"},
          {real + "2 2 1\n1 1 1 1\n", "a.mtx, line 3", "row column value, but \"1\" follows"},
          {pattern + "2 2 1\n1 1 1\n", "a.mtx, line 3", "an entry of a pattern is: row column, but \"1\" follows"},
          {real + "2 2 1\n0 1 1\n", "a.mtx, line 3", "the row 0 is outside 1 to 2"},
          {real + "2 2 1\n1 3 1\n", "a.mtx, line 3", "the column 3 is outside 1 to 2"},
          {real + "2 2 1\nx 1 1\n", "a.mtx, line 3", "the row \"x\" is not a whole number"},
          {real + "2 2 1\n1 1 x\n", "a.mtx, line 3", "the value \"x\" is not a number"},
          {real + "2 2 1\n1 1 1,5\n", "a.mtx, line 3", "but \",\" follows"},
          {real + "2 2 1\n1 1 0x1\n", "a.mtx, line 3", "the value \"0x1\" is not a number"},
          {real + "2 2 1\n1 1 1e39\n", "a.mtx, line 3", "the value \"1e39\" does not fit float32"},
          {real + "2 2 1\n1 1 -1e999\n", "a.mtx, line 3", "the value \"-1e999\" does not fit float32"},
          {real + "2 2 1\n1 1 1e-60\n", "a.mtx, line 3", "the value \"1e-60\" does not fit float32"},
          {real + "2 2 1\n1 1 1e-999\n", "a.mtx, line 3", "the value \"1e-999\" does not fit float32"},
          {real + "2 2 2\n1 1 1\n2 1 NaN\n", "a.mtx, line 4", "the value at row 2, column 1 (counted from 1) is nan"},
          {array + "2 2\n1\n1\n-inf\n1\n", "a.mtx, line 5", "the value at row 1, column 2 (counted from 1) is -inf"},
          {integer + "2 2 1\n1 1 1.5\n", "a.mtx, line 3", "the value \"1.5\" is not a whole number"},
          {integer + "2 2 1\n1 1 99999999999999999999\n", "a.mtx, line 3", "does not fit 64 bits"},
          {real + "2 2 3\n2 1 1\n1 1 1\n2 1 1\n", "a.mtx, line 5",
           "the entry at row 2, column 1 (counted from 1) is repeated"},
          {real + "2 2 2\n1 1 1\n1 1 0\n", "a.mtx, line 4", "is repeated"},
          {symmetric + "2 2 2\n2 1 1\n1 2 1\n", "a.mtx, line 4", "is repeated"},
      },
      [](const std::string& text) { mtx_of(text); });
}

TEST(NpyRefusals, NameTheByte) {
  const auto file = [](const std::string& type, const std::string& shape, const std::string& data) {
    return npy_bytes(npy_dictionary(type, false, shape), data);
  };
  const std::string four = raw_bytes<float>({1, 2, 3, 4});
  const std::string valid = file("<f4", "(2, 2)", four);
  const std::string end = std::to_string(valid.size());
  const std::size_t data = valid.size() - 16;
  const auto at_element = [data](std::size_t index, std::size_t bytes) {
    return "a.npy, byte " + std::to_string(data + index * bytes);
  };
  std::string version_4 = valid;
  version_4[6] = 4;
  std::string version_1_1 = valid;
  version_1_1[7] = 1;
  std::string long_header = npy_bytes(npy_dictionary("<f4", false, "(2, 2)"), four, 2);
  long_header[10] = 1;  // the third byte of the length: 65,536 more
  constexpr float infinity = std::numeric_limits<float>::infinity();
  constexpr double huge = 0x1.ffffffp127;  // rounds to infinity, the double before it does not
  expect_refusals(
      {
          {"", "a.npy, byte 0", "the file is empty"},
          {"\x93NUMPX\x01", "a.npy, byte 0", "does not start with \\x93NUMPY"},
          {"\x93NUM", "a.npy, byte 0", "does not start with \\x93NUMPY"},
          {"PK\x03\x04 an archive", "a.npy, byte 0", "does not start with \\x93NUMPY"},
          {"\x93NUMPY", "a.npy, byte 6", "the file ends inside its header"},
          {valid.substr(0, 9), "a.npy, byte 9", "the file ends inside its header"},
          {valid.substr(0, 30), "a.npy, byte 30", "the file ends inside its header"},
          {version_4, "a.npy, byte 6", "version 4.0 of the format is none of 1.0, 2.0, 3.0"},
          {version_1_1, "a.npy, byte 6", "version 1.1"},
          {long_header, "a.npy, byte 8", "is beyond 65535"},
          {valid.substr(0, valid.size() - 1), "a.npy, byte " + std::to_string(valid.size() - 1),
           "the file ends after 15 bytes of data, before 2 x 2 elements of 4 bytes"},
          {valid + "z", "a.npy, byte " + end, "1 bytes follow the last element"},
          {file("<f4", "(2147483647, 2147483647)", four), "a.npy, byte 104", "before 2147483647 x 2147483647 elements"},
          {file("<f4", "(46341, 46341)", ""), "a.npy, byte 78", "the file ends after 0 bytes of data"},
          {file("<f4", "(4,)", four), "a.npy, byte 60", "1 dimensions, not 2"},
          {file("<f4", "()", four), "a.npy, byte 60", "0 dimensions, not 2"},
          {file("<f4", "(1, 2, 2, 1, 1, 1)", four), "a.npy, byte 60",
           "6 dimensions, not 2, nor 3 to 5 as weights of a convolution"},
          {file("<f4", "(1, 46341, 46341, 1)", four), "a.npy, byte 60",
           "the dimensions after the first make more than 2^31 - 1 columns"},
          {file("<f4", "(1, 2147483647, 2147483647, 2147483647)", four), "a.npy, byte 60",
           "make more than 2^31 - 1 columns"},
          {file("<f4", "(1, 2, 0, 2)", ""), "a.npy, byte 67", "a dimension is 0, below 1"},
          {file("<f4", "(2, 2, 2, 2)", four), "a.npy, byte 92",
           "the file ends after 16 bytes of data, before 2 x 8 elements of 4 bytes"},
          {npy_bytes(npy_dictionary("<f4", true, "(1, 2, 2, 1)"), four), "a.npy, byte 59",
           "an array of 4 dimensions is in Fortran order"},
          {file("<f4", "(0, 4)", ""), "a.npy, byte 61", "a dimension is 0, below 1"},
          {file("<f4", "(4, -1)", four), "a.npy, byte 64", "a dimension is -1, below 1"},
          {file("<f4", "(2147483648, 1)", four), "a.npy, byte 61", "a dimension is beyond 2^31 - 1"},
          {file("<f4", "(99999999999999999999, 1)", four), "a.npy, byte 61", "a dimension is beyond 2^31 - 1"},
          {file("<f4", "(2.0, 2)", four), "a.npy, byte 62", "')' is expected"},
          {file("<f4", "(a, 2)", four), "a.npy, byte 61", "'shape' is not a tuple of whole numbers"},
          {file("<f4", "4", four), "a.npy, byte 60", "'(' is expected"},
          {file(">f4", "(2, 2)", four), "a.npy, byte 20", "the element type \">f4\" is none of '<f2', '<f4', '<f8'"},
          {file("<i4", "(2, 2)", four), "a.npy, byte 20", "the element type \"<i4\""},
          {npy_bytes("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2, 2)}", four), "a.npy, byte 20",
           "the elements are records"},
          {npy_bytes("{'descr': '<f4', 'fortran_order': 0, 'shape': (2, 2)}", four), "a.npy, byte 44",
           "'fortran_order' is neither True nor False"},
          {npy_bytes("{'descr': '<f4', 'shape': (2, 2)}", four), "a.npy, byte 44", "the header lacks one of"},
          {npy_bytes("{'descr': '<f4', 'descr': '<f4'}", four), "a.npy, byte 27", "\"descr\" is repeated or unknown"},
          {npy_bytes("{'size': 4}", four), "a.npy, byte 11", "\"size\" is repeated or unknown"},
          {npy_bytes("{} x", four), "a.npy, byte 13", "goes on after its dictionary with \"x"},
          {npy_bytes("{'descr", four), "a.npy, byte 11", "a word between quotation marks is expected"},
          {npy_bytes("[]", four), "a.npy, byte 10", "'{' is expected"},
          {file("<f4", "(2, 2)", raw_bytes<float>({1, 2, std::nanf(""), 4})), at_element(2, 4),
           "the value at row 1, column 0 (counted from 0) is nan"},
          {npy_bytes(npy_dictionary("<f4", true, "(2, 2)") + " ", raw_bytes<float>({1, 2, -infinity, 4})),
           at_element(2, 4), "the value at row 0, column 1 (counted from 0) is -inf"},
          {file("<f2", "(2, 2)", raw_bytes<std::uint16_t>({0, 0x7c00, 0, 0})), at_element(1, 2),
           "the value at row 0, column 1 (counted from 0) is inf"},
          {file("<f8", "(2, 2)", raw_bytes<double>({0, 0, 0, infinity})), at_element(3, 8), "is inf"},
          {file("<f8", "(2, 2)", raw_bytes<double>({0, 0, -1e300, 0})), at_element(2, 8),
           "the value at row 1, column 0 (counted from 0) is -1e+300, beyond float32's 3.4e38"},
          {file("<f8", "(2, 2)", raw_bytes<double>({huge, 0, 0, 0})), at_element(0, 8), "beyond float32's 3.4e38"},
          {file("<f8", "(2, 2)", raw_bytes<double>({0, 1e-60, 0, 0})), at_element(1, 8),
           "is 1e-60, which float32 holds only as zero"},
      },
      [](const std::string& bytes) { npy_of(bytes); });
  EXPECT_NO_THROW(npy_of(valid));
  EXPECT_NO_THROW(npy_of(file("<f8", "(1, 1)", raw_bytes<double>({std::nextafter(huge, 0.0)}))));
}

TEST(FileRefusals, NameThePath) {
  const TestFolder folder;
  const auto path = [&](const std::string& name) { return (folder.path() / name).string(); };
  std::filesystem::create_directory(path("folder.npy"));
  ASSERT_EQ(mkfifo(path("pipe.mtx").c_str(), 0600), 0);
  expect_refusals(
      {
          {path("absent.smtx"), path("absent.smtx"), "cannot be read: No such file or directory"},
          {path("folder.npy"), path("folder.npy"), "is a directory"},
          {path("pipe.mtx"), path("pipe.mtx"), "is not a regular file"},
          {path("a.npz"), path("a.npz"), "the ending .npz is not a matrix format that can be read"},
          {path("a.SafeTensors"), path("a.SafeTensors"), "the ending .safetensors is not a matrix format"},
          {path("a"), path("a"), "has no ending that names a matrix format"},
      },
      [](const std::string& name) { read_matrix(name); });
  try {
    read_matrix(path("a.npz"));
    ADD_FAILURE() << "accepted";
  } catch (const UserError& error) {
    EXPECT_THAT(std::string(error.what()), testing::EndsWith("; give a .smtx, .mtx or .npy file"));
  }
}

TEST(FileRefusals, NameAFileThatIsCutWhileItIsRead) {
  const TestFolder folder;
  const std::string name = (folder.path() / "a.npy").string();
  write_file_whole(name, "12345678");
  FileSource source(name);
  std::filesystem::resize_file(name, 4);
  std::array<std::byte, 8> bytes{};
  expect_refusals({{"", name, "changed while it was being read"}}, [&](const std::string&) { source.read(bytes); });
}

TEST(FileRefusals, NameTheMissingPermission) {
  if (geteuid() == 0) {
    GTEST_SKIP() << "root may read every file";
  }
  const TestFolder folder;
  const std::filesystem::path path = folder.file("a.smtx", "1, 1, 0\n0 0\n");
  std::filesystem::permissions(path, std::filesystem::perms::none);
  expect_refusals({{path.string(), path.string(), "cannot be read: Permission denied"}},
                  [](const std::string& name) { read_matrix(name); });
}

TEST(SampleRefusals, NameTheOption) {
  const auto expect = [](const SampleOptions& options, const std::string& place, const std::string& words) {
    expect_refusals({{"", place, words}}, [&](const std::string&) { sample_matrix(options); });
  };
  expect({.rows = 0, .columns = 1}, "--rows", "0 is outside 1 to 2^31 - 1");
  expect({.rows = 1, .columns = -1}, "--cols", "-1 is outside 1 to 2^31 - 1");
  expect({.rows = std::int64_t{1} << 31, .columns = 1}, "--rows", "2147483648 is outside");
  expect({.rows = 1, .columns = 1, .sparsity = 1.5}, "--sparsity", "1.5 is outside 0 to 1");
  expect({.rows = 1, .columns = 1, .sparsity = -0.1}, "--sparsity", "-0.1 is outside 0 to 1");
  expect({.rows = 1, .columns = 1, .sparsity = std::nan("")}, "--sparsity", "nan is outside 0 to 1");
  expect({.rows = 100000, .columns = 100000, .sparsity = 0.5}, "--sparsity", "5000000000 non-zeros are more");
  expect_refusals({{"diagonal", "--structure", "'diagonal' is not a structure"}},
                  [](const std::string& name) { parse_sample_structure(name); });
  EXPECT_EQ(parse_sample_structure("powerlaw"), SampleStructure::powerlaw);
}

}  // namespace
}  // namespace esc

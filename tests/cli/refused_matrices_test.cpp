// SPDX-License-Identifier: Apache-2.0
// Matrix files that are wrong: one line that names the place, status 2, and nothing left behind. What exactly is
// refused, and with which words, is the matter of tests/refusals; here it is that the program passes it on.

#include <cstring>

#include "tests/cli/workshop.h"

namespace esc::cli {
namespace {

namespace fs = std::filesystem;
using namespace std::string_literals;
using ::testing::HasSubstr;
using ::testing::StartsWith;

/// A file, its content and words of the refusal.
struct WrongFile {
  std::string name;
  std::string content;
  std::string words;
};

const std::string mtx = "%%MatrixMarket matrix coordinate real general\n";

std::string npy(const std::string& shape, const std::vector<float>& values) {
  const std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': " + shape + "}\n";
  std::string bytes = "\x93NUMPY\x01\0"s + static_cast<char>(header.size()) + "\0"s + header;
  bytes.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
  return bytes;
}

class RefusedMatrices : public Workshop {
 protected:
  void expect_refused_everywhere(const std::string& file, const std::string& words) const {
    expect_refusal({"generate", file, "--bcol", "4", "-o", "out"}, words);
    expect_refusal({"inspect", file}, words);
  }

  void expect_refusals(const std::vector<WrongFile>& files) const {
    for (const WrongFile& file : files) {
      SCOPED_TRACE(file.content.substr(0, 100));
      write(file.name, file.content);
      expect_refused_everywhere(file.name, file.name + file.words);
    }
  }
};

TEST_F(RefusedMatrices, Smtx) {
  expect_refusals({{"a.smtx", "", ", line 1: the file is empty"},
                   {"a.smtx", "2, 2, 2\n0 1", ", line 2: the line ends after 2 of 3 offsets"},
                   {"a.smtx", "2, 2, 3\n0 1 2\n0 1\n", ", line 2: the last offset is 2, but the first line says 3"},
                   {"a.smtx", "2, 2, 2\n0 2 1\n0 1\n", ", line 2: offsets decrease from 2 to 1 at row 2"},
                   {"a.smtx", "2, 2, 2\n0 1 2\n0 2\n", ", line 3: column 2 of row 1 is outside 0 to 1"},
                   {"a.smtx", "1, 3, 2\n0 2\n1 1\n", ", line 3: column 1 is repeated in row 0"},
                   {"a.smtx", "1, 3, 2\n0 2\n2 1\n", ", line 3: column 1 follows column 2 in row 0"},
                   {"a.smtx", "0, 4, 0\n0\n", ", line 1: the number of rows is 0, below 1"},
                   {"a.smtx", "-2, 4, 0\n0\n", ", line 1: the number of rows is -2"},
                   {"a.smtx", "2147483648, 1, 0\n0\n", ", line 1: a dimension of 2147483648 is beyond 2^31 - 1"},
                   {"a.smtx", "\x7f"s + "ELF\1\0\0"s, ", line 1: "}});
}

TEST_F(RefusedMatrices, Mtx) {
  expect_refusals(
      {{"a.mtx", "", ", line 1: the file is empty"},
       {"a.mtx", "2 2 1\n1 1 1\n", ", line 1: "},
       {"a.mtx", mtx + "2 2 3\n1 1 1\n", ", line 4: "},
       {"a.mtx", mtx + "2 2 1\n1 1 1\n2 2 2\n", ", line 4: the matrix is complete"},
       {"a.mtx", mtx + "2 2 1\n1 3 1\n", ", line 3: the column 3 is outside 1 to 2"},
       {"a.mtx", mtx + "2 2 2\n1 1 1\n1 1 2\n", ", line 4: "},
       {"a.mtx", mtx + "2 0 0\n", ", line 2: the number of columns is 0"},
       {"a.mtx", mtx + "2147483648 1 0\n", ", line 2: "},
       {"a.mtx", mtx + "2147483647 2147483647 1\n1 1 1\n", ", line 2: "},
       {"a.mtx", mtx + "2 2 1\n1 1 nan\n", ", line 3: the value at row 1, column 1 (counted from 1) is nan"},
       {"a.mtx", mtx + "2 2 1\n1 2 -inf\n", ", line 3: the value at row 1, column 2 (counted from 1) is -inf"}});
}

TEST_F(RefusedMatrices, Npy) {
  const std::string whole = npy("(2, 2)", {1, 0, 0, 2});
  expect_refusals({{"a.npy", "", ", byte 0: the file is empty"},
                   {"a.npy", "PK\x03\x04", ", byte 0: "},
                   {"a.npy", whole.substr(0, 30), ", byte 30: the file ends inside its header"},
                   {"a.npy", whole.substr(0, whole.size() - 1), ", byte "},
                   {"a.npy", whole + "x", ", byte "},
                   {"a.npy", npy("(2, 3)", {1, 0, 0, 2}), ", byte "},
                   {"a.npy", npy("(0, 2)", {}), ", byte "},
                   {"a.npy", npy("(2147483648, 2)", {}), ", byte "},
                   {"a.npy", npy("(4,)", {1, 0, 0, 2}), ", byte "},
                   {"a.npy", npy("(1, 2)", {1, std::numeric_limits<float>::infinity()}), ", byte "}});
}

TEST_F(RefusedMatrices, FilesThatAreNone) {
  write("a.npz", "PK");
  write("a.safetensors", "x");
  write("a.csv", "1,2\n");
  write("a", "1,2\n");
  fs::create_directory(path("folder.mtx"));
  ASSERT_EQ(shell("mkfifo pipe.npy").status, 0);
  expect_refused_everywhere("a.npz", "a.npz, byte 2: the file is too short for a zip archive");
  expect_refused_everywhere("a.safetensors", "a.safetensors, byte 1: the file ends before the length of its header");
  expect_refused_everywhere("a.csv", "a.csv: is a table; save its numbers with numpy.save");
  expect_refused_everywhere("a", "a: has no ending that names a matrix format");
  expect_refused_everywhere("folder.mtx", "folder.mtx: is a directory");
  expect_refused_everywhere("pipe.npy", "pipe.npy: is not a regular file");
  expect_refused_everywhere("absent.mtx", "absent.mtx: cannot be read: No such file or directory");
  expect_refused_everywhere("", "");
}

TEST_F(RefusedMatrices, NonFiniteValuesAreAcceptedOnRequest) {
  write("a.mtx", mtx + "3 4 4\n1 1 nan\n1 2 1\n2 3 2\n3 4 inf\n");
  for (const std::string schedule : {"auto", "4-1-1-32", "panel:columns=4,groups=32"}) {
    const ProcessResult generated = escgen(
        {"generate", "a.mtx", "--bcol", "4", "-o", "out", "--force", "--schedule", schedule, "--allow-nonfinite"});
    EXPECT_EQ(generated.status, 0) << generated.errors;
    EXPECT_THAT(generated.output, ::testing::HasSubstr("verified   by emulation"));
  }
  EXPECT_EQ(escgen({"verify", "out/a"}).status, 0);
  EXPECT_EQ(escgen({"inspect", "a.mtx", "--allow-nonfinite"}).status, 0);
}

}  // namespace
}  // namespace esc::cli

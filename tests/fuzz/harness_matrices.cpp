// SPDX-License-Identifier: Apache-2.0
#include "generator/matrix/mtx_reader.h"
#include "generator/matrix/npy_reader.h"
#include "generator/matrix/smtx_reader.h"
#include "tests/fuzz/harness.h"
#include "tests/unit/matrix_fixtures.h"

namespace esc::fuzz {
namespace {

using Reader = SparseMatrix (*)(ByteSource&, const ReadOptions&);

/// A matrix that keeps its invariants, in either type of elements; the pattern is the same in both.
template <Reader read>
bool judge(std::string_view input) {
  const auto matrix_in = [&](ScalarType element) {
    MemorySource source("fuzzed", input);
    SparseMatrix matrix = read(source, {.element = element});
    validate(matrix);
    expect(matrix.element == element, "a matrix of another type than was asked for");
    return matrix;
  };
  SparseMatrix wide;
  const bool accepted_in_double = is_accepted([&] { wide = matrix_in(ScalarType::f64); });
  const bool accepted = is_accepted([&] {
    const SparseMatrix matrix = matrix_in(ScalarType::f32);
    expect(accepted_in_double, "a matrix that is read in float32 is refused in float64");
    expect(matrix.rows == wide.rows && matrix.columns == wide.columns && matrix.nonzeros() <= wide.nonzeros(),
           "a matrix that has more in float32 than in float64");
  });
  return accepted;
}

const std::vector<std::string> words{
    "0", "-1", "2147483647", "2147483648", "99999999999999999999", "\n", " ", ",", "nan", "1e39", "1e-99", "1e-400",
    "%", "(",  "}",          "'",          "\xff\xff\xff\xff"};

Harness harness(const char* kind, bool (*judge_one)(std::string_view), std::vector<std::string> seeds) {
  return {.kind = kind, .judge = judge_one, .seeds = std::move(seeds), .words = words, .mutants = 8000};
}

}  // namespace

Harness smtx_harness() {
  return harness("smtx", judge<read_smtx>,
                 {"4, 6, 7\n0 2 2 5 7 \n1 4 0 3 5 2 3 \n", "2, 2, 0\n0 0 0\n\n", "1,3,3\n0 3\n0 1 2\n"});
}

Harness mtx_harness() {
  return harness("mtx", judge<read_mtx>,
                 {
                     "%%MatrixMarket matrix coordinate real general\n% comment\n3 4 4\n3 4 -1.5e3\n1 2 2\n1 1 0\n"
                     "2 2 .25\n",
                     "%%MatrixMarket matrix coordinate pattern symmetric\n3 3 3\n1 1\n3 2\n2 1\n",
                     "%%MatrixMarket matrix coordinate integer general\n2 2 2\n2 1 -7\n1 1 9\n",
                     "%%MatrixMarket matrix array real general\n2 3\n1\n0\n-2.5\n4\n0\n1e-3\n",
                     "%%MatrixMarket matrix array integer symmetric\n2 2\n1\n0\n3\n",
                 });
}

Harness npy_harness() {
  return harness(
      "npy", judge<read_npy>,
      {
          npy_bytes(npy_dictionary("<f4", false, "(2, 3)"), raw_bytes<float>({0, 1.5, -2, 4, 0, 0})),
          npy_bytes(npy_dictionary("<f4", true, "(3, 2)"), raw_bytes<float>({0, 1.5, -2, 4, 0, 0}), 2),
          npy_bytes(npy_dictionary("<f8", false, "(1, 3)"), raw_bytes<double>({0, 1e-3, 7}), 3),
          npy_bytes(npy_dictionary("<f4", false, "(2, 1, 3, 1)"), raw_bytes<float>({0, 1.5, -2, 4, 0, 0})),
          npy_bytes(npy_dictionary("<f2", false, "(2, 2)"), raw_bytes<std::uint16_t>({0, 0x3c00, 0x8000, 0x0001})),
      });
}

}  // namespace esc::fuzz

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "generator/matrix/mtx_reader.h"
#include "generator/matrix/npy_reader.h"
#include "generator/matrix/smtx_reader.h"
#include "tests/fuzz/fuzz_reader.h"
#include "tests/unit/matrix_fixtures.h"

namespace esc {
namespace {

constexpr int mutants_per_file = 4000;

/// The seed of this run: ESC_FUZZ_SEED repeats an earlier one.
std::uint64_t run_seed() {
  if (const char* text = std::getenv("ESC_FUZZ_SEED")) {
    return std::strtoull(text, nullptr, 10);
  }
  return std::random_device{}();
}

/// Applies one to five small changes of the kinds that broken files have.
std::string mutate(std::string bytes, std::mt19937_64& random) {
  const auto below = [&](std::size_t bound) { return static_cast<std::size_t>(random() % bound); };
  static const std::vector<std::string> words{
      "0", "-1", "2147483647", "2147483648", "99999999999999999999", "\n", " ", ",", "nan", "1e39", "1e-99",
      "%", "(",  "}",          "'",          "\xff\xff\xff\xff"};
  for (std::size_t changes = 1 + below(5); changes > 0; --changes) {
    const std::size_t at = bytes.empty() ? 0 : below(bytes.size());
    const std::size_t length = std::min(bytes.size() - at, 1 + below(12));
    switch (below(6)) {
      case 0:
        if (!bytes.empty()) {
          bytes[at] = static_cast<char>(static_cast<unsigned char>(bytes[at]) ^ (1U << below(8)));
        }
        break;
      case 1:
        bytes.insert(at, words[below(words.size())]);
        break;
      case 2:
        bytes.replace(at, length, words[below(words.size())]);
        break;
      case 3:
        bytes.erase(at, length);
        break;
      case 4:
        bytes.insert(at, bytes.substr(bytes.empty() ? 0 : below(bytes.size()), length));
        break;
      default:
        bytes.resize(at);
    }
  }
  return bytes;
}

void expect_no_crash(SparseMatrix (*read)(ByteSource&, const ReadOptions&), const std::vector<std::string>& files) {
  const std::uint64_t seed = run_seed();
  std::printf("seed %llu (repeat with ESC_FUZZ_SEED)\n", static_cast<unsigned long long>(seed));
  std::mt19937_64 random(seed);
  for (const std::string& file : files) {
    MemorySource source("valid", file);
    ASSERT_NO_THROW(validate(read(source, {}))) << "mutants of a file that is refused reach nothing";
    for (int i = 0; i < mutants_per_file; ++i) {
      const std::string mutant = mutate(file, random);
      try {
        check_reader(read, std::as_bytes(std::span(mutant)));
      } catch (const std::exception& error) {
        FAIL() << "seed " << seed << ": " << error.what() << " for\n" << testing::PrintToString(mutant);
      }
    }
  }
}

TEST(Mutation, SmtxReaderRefusesOrReads) {
  expect_no_crash(read_smtx, {"4, 6, 7\n0 2 2 5 7 \n1 4 0 3 5 2 3 \n", "2, 2, 0\n0 0 0\n\n", "1,3,3\n0 3\n0 1 2\n"});
}

TEST(Mutation, MtxReaderRefusesOrReads) {
  expect_no_crash(read_mtx,
                  {
                      "%%MatrixMarket matrix coordinate real general\n% comment\n3 4 4\n3 4 -1.5e3\n1 2 2\n1 1 0\n"
                      "2 2 .25\n",
                      "%%MatrixMarket matrix coordinate pattern symmetric\n3 3 3\n1 1\n3 2\n2 1\n",
                      "%%MatrixMarket matrix coordinate integer general\n2 2 2\n2 1 -7\n1 1 9\n",
                      "%%MatrixMarket matrix array real general\n2 3\n1\n0\n-2.5\n4\n0\n1e-3\n",
                      "%%MatrixMarket matrix array integer symmetric\n2 2\n1\n0\n3\n",
                  });
}

TEST(Mutation, NpyReaderRefusesOrReads) {
  expect_no_crash(
      read_npy,
      {
          npy_bytes(npy_dictionary("<f4", false, "(2, 3)"), raw_bytes<float>({0, 1.5, -2, 4, 0, 0})),
          npy_bytes(npy_dictionary("<f4", true, "(3, 2)"), raw_bytes<float>({0, 1.5, -2, 4, 0, 0}), 2),
          npy_bytes(npy_dictionary("<f8", false, "(1, 3)"), raw_bytes<double>({0, 1e-3, 7}), 3),
          npy_bytes(npy_dictionary("<f2", false, "(2, 2)"), raw_bytes<std::uint16_t>({0, 0x3c00, 0x8000, 0x0001})),
      });
}

}  // namespace
}  // namespace esc

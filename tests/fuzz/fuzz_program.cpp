// SPDX-License-Identifier: Apache-2.0
// The program of libFuzzer for one kind of input.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "tests/fuzz/harness.h"
#include "tests/fuzz/mutation.h"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

namespace {

const esc::fuzz::Harness& harness() {
  static const esc::fuzz::Harness& one = esc::fuzz::harness_of(ESC_FUZZED_KIND);
  return one;
}

std::string_view text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static_cast<void>(harness().judge(text_of(data, size)));
  return 0;
}

/// Half of the mutants are made of words, numbers and lines, as in the ordinary tests.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most, unsigned seed) {
  if (seed % 2 == 0) {
    return LLVMFuzzerMutate(data, size, most);
  }
  const std::string mutant = esc::fuzz::Mutation(harness(), seed).changed(std::string(text_of(data, size)));
  const std::size_t kept = std::min(mutant.size(), most);
  std::copy_n(mutant.begin(), kept, data);
  return kept;
}

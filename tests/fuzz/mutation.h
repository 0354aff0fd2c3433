// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <random>
#include <string>

#include "tests/fuzz/harness.h"

namespace esc::fuzz {

/// Mutants of the seeds of a kind of input, the same ones from a number wherever it runs.
class Mutation {
 public:
  Mutation(const Harness& harness, std::uint64_t seed) : harness_(harness), random_(seed) {}

  /// One of the seeds, changed.
  std::string next() { return changed(one_seed()); }
  /// The input with one to three small changes: of bits and bytes, of words and numbers, of lines, and parts of a seed.
  std::string changed(std::string input);

 private:
  std::size_t below(std::size_t bound) { return static_cast<std::size_t>(random_() % bound); }
  const std::string& one_seed();
  const std::string& one_word() { return harness_.words[below(harness_.words.size())]; }

  void change_bytes(std::string& input);
  void change_token(std::string& input);
  void change_lines(std::string& input);
  void take_part_of_seed(std::string& input);

  const Harness& harness_;
  std::mt19937_64 random_;
};

}  // namespace esc::fuzz

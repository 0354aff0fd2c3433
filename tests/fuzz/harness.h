// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "generator/support/error.h"

namespace esc::fuzz {

/// What a reader did that it must not do for any bytes.
class Finding : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A kind of input that comes from outside, with what its reader owes for any bytes. libFuzzer and the ordinary tests
/// use the same ones.
struct Harness {
  std::string kind;
  /// Whether the input is accepted; else it is refused as it should be. Throws Finding where a value that was read does
  /// not keep its promises or a refusal lacks something; whatever else escapes is a finding too.
  bool (*judge)(std::string_view input) = nullptr;
  std::vector<std::string> seeds = {};    ///< accepted ones, that mutants are made of
  std::vector<std::string> refused = {};  ///< refused ones that mutants are made of too
  std::vector<std::string> words = {};    ///< what the inputs are made of
  std::size_t mutants = 2000;             ///< of an ordinary run
};

/// All of them.
const std::vector<Harness>& harnesses();
/// The one of this kind. Throws std::out_of_range where there is none.
const Harness& harness_of(std::string_view kind);

/// Throws Finding with these words unless it holds.
void expect(bool holds, const std::string& words);

/// What a refusal of a kind of input has.
enum class Remedy {
  given,    ///< place, rule and remedy
  implied,  ///< the rule says what is expected, as Clang's diagnostics do, which have the place too
};

/// Throws Finding where a refusal lacks something or has another status than bad input.
void expect_reasons(const UserError& refusal, Remedy remedy);

/// Whether reading is done without a refusal, which is judged.
template <std::invocable Read>
bool is_accepted(const Read& read, Remedy remedy = Remedy::given) {
  try {
    read();
    return true;
  } catch (const UserError& refusal) {
    expect_reasons(refusal, remedy);
    return false;
  }
}

/// A file of this project.
std::string project_file(const std::string& path);

// Each in its own file.

Harness smtx_harness();
Harness mtx_harness();
Harness npy_harness();
Harness safetensors_harness();
Harness npz_harness();
Harness scipy_harness();     ///< arrays of sparse matrices, which no checksum guards
Harness nest_harness();      ///< loop nests in C
Harness nest_cpp_harness();  ///< and in C++
Harness schedule_harness();
Harness script_harness();
Harness spec_harness();
Harness manifest_harness();
Harness packed_harness();
Harness journal_harness();
Harness database_harness();

}  // namespace esc::fuzz

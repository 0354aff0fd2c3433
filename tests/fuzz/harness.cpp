// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/harness.h"

#include <algorithm>

#include "generator/support/file.h"

namespace esc::fuzz {

const std::vector<Harness>& harnesses() {
  static const std::vector<Harness> all{smtx_harness(),     mtx_harness(),     npy_harness(),     safetensors_harness(),
                                        npz_harness(),      scipy_harness(),   nest_harness(),    nest_cpp_harness(),
                                        schedule_harness(), script_harness(),  spec_harness(),    manifest_harness(),
                                        packed_harness(),   journal_harness(), database_harness()};
  return all;
}

const Harness& harness_of(std::string_view kind) {
  const auto found = std::ranges::find(harnesses(), kind, &Harness::kind);
  if (found == harnesses().end()) {
    throw std::out_of_range("no input is of the kind " + std::string(kind));
  }
  return *found;
}

void expect(bool holds, const std::string& words) {
  if (!holds) {
    throw Finding(words);
  }
}

void expect_reasons(const UserError& refusal, Remedy remedy) {
  const std::string words = refusal.what();
  expect(!refusal.rule().empty(), "a refusal without a rule: " + words);
  expect(refusal.status() == ExitStatus::bad_input, "a refusal with another status: " + words);
  if (remedy == Remedy::given) {
    expect(!refusal.place().empty(), "a refusal without a place: " + words);
    expect(!refusal.remedy().empty(), "a refusal without a remedy: " + words);
  }
}

std::string project_file(const std::string& path) { return read_file(std::string(ESC_SOURCE_DIR) + "/" + path); }

}  // namespace esc::fuzz

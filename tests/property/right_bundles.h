// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "generator/verify/verify.h"
#include "tests/property/mutation_subjects.h"

namespace esc::tests {

/// A subject's bundle, which is right, as its users have it.
struct RightBundle {
  const MutationSubject* subject;
  std::filesystem::path folder;
  LoadedBundle bundle;
  BundleUnderTest texts;
  TransformerVerification transformer;  ///< what is found of its transformer, once a verdict needs it

  const std::string& text(bool of_kernel) const { return of_kernel ? bundle.kernel_text : bundle.transformer_text; }
};

/// By the names of their subjects.
using RightBundles = std::map<std::string, RightBundle>;

/// What `escgen verify` does with a text that is not known, but for what a user does not get: all that is wrong; and
/// with less patience for a text that does not end.
EmulationEffort effort_of_a_verdict();

/// What a process may take that gives a verdict, by the processor's time: far more than any needs.
inline constexpr std::chrono::seconds longest_verdict{200};

/// Writes the bundles and reads them back. The subjects must outlive them.
RightBundles write_right_bundles(const std::vector<MutationSubject>& subjects, const std::filesystem::path& folder);

/// Has the transformers of these bundles run.
void run_transformers(RightBundles& bundles, const std::set<std::string>& names);

/// A test fails where a verification has something against one of so many of these bundles, or of all.
void expect_right_bundles_to_pass(const RightBundles& bundles, const std::set<std::string>& names, std::size_t most);

}  // namespace esc::tests

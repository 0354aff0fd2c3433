// SPDX-License-Identifier: Apache-2.0
#include "tests/property/right_bundles.h"

#include <gtest/gtest.h>

#include "generator/emit/dispatch.h"
#include "generator/verify/bundle_policy.h"
#include "generator/verify/described_layer.h"
#include "tests/support/forked_jobs.h"

namespace esc::tests {

EmulationEffort effort_of_a_verdict() {
  EmulationEffort effort = thorough_effort;
  effort.whole_report = false;
  effort.patience = std::chrono::seconds(10);
  return effort;
}

RightBundles write_right_bundles(const std::vector<MutationSubject>& subjects, const std::filesystem::path& folder) {
  RightBundles bundles;
  for (const MutationSubject& subject : subjects) {
    write_bundle_of(subject, folder);
    // In its place for good: the texts refer to what the bundle holds.
    RightBundle& right = bundles[subject.name];
    right.subject = &subject;
    right.folder = folder / subject.name;
    right.bundle = load_bundle(right.folder);
    const GeneratedLayer layer =
        described_layer(right.bundle.manifest, right.bundle.matrix, subject.nest, right.folder / "manifest.json");
    right.texts = right.bundle.under_test(subject.nest, dispatch_of(layer.layer));
  }
  return bundles;
}

void run_transformers(RightBundles& bundles, const std::set<std::string>& names) {
  EmulationEffort effort = effort_of_a_verdict();
  effort.breadth = Breadth::generated;  // it is right: only what it packs is asked for
  for (const std::string& name : names) {
    RightBundle& right = bundles.at(name);
    right.transformer = verify_transformer(right.texts, right.bundle.matrix, effort);
  }
}

void expect_right_bundles_to_pass(const RightBundles& bundles, const std::set<std::string>& names, std::size_t most) {
  std::vector<const RightBundle*> tried;
  for (const std::string& name : names) {
    if (tried.size() < most) {
      tried.push_back(&bundles.at(name));
    }
  }
  run_forked(
      tried.size(), longest_verdict,
      [&](std::size_t number) -> int {
        const RightBundle& right = *tried[number];
        check_policy(right.folder, right.bundle, right.subject->nest);
        return verify_by_emulation(right.texts, right.bundle.matrix, effort_of_a_verdict()).passed() ? 0 : 1;
      },
      [&](std::size_t number, const JobEnd& end) {
        EXPECT_TRUE(end.how == JobEnd::How::returned && end.status == 0) << tried[number]->subject->name << " is right";
      });
}

}  // namespace esc::tests

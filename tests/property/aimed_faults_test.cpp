// SPDX-License-Identifier: Apache-2.0
// What `escgen verify` is worth against who knows it: bundles of all families and layouts with one fault each, aimed at
// what a verification may not look at (aimed_faults.txt). Each bundle is written, read and verified as one of a
// stranger.
//
//   ESC_SWEEP=full build/release/bin/verifier_mutation_test --gtest_filter='AimedFaults.*'      all faults
//   ESC_SEED=7 ...                          another sample
//   ESC_AIMED='gaps: |in rows kernel' ...   those whose title matches this regular expression
//
// Which faults are not found is in aimed_survivors.txt. A fault that survives and is not there is a
// failure; one that is there and is found is printed.

#include "tests/property/aimed_faults.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <tbb/global_control.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <memory>
#include <regex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "generator/emulate/compile_program.h"
#include "generator/support/error.h"
#include "generator/support/file.h"
#include "generator/support/temporary_folder.h"
#include "generator/verify/bundle_policy.h"
#include "generator/verify/kernel_programs.h"
#include "generator/verify/verify.h"
#include "tests/property/mutation_subjects.h"
#include "tests/property/right_bundles.h"
#include "tests/support/forked_jobs.h"
#include "tests/support/run_size.h"

namespace esc {
namespace {

namespace fs = std::filesystem;
using tests::AimedFault;
using tests::JobEnd;
using tests::MutationSubject;
using tests::RightBundle;
using tests::RightBundles;

/// How a verification ends.
enum Verdict : int { refused = 10, found_wrong = 11, survived = 12, does_not_compile = 13 };

/// The share of all that may be in aimed_survivors.txt.
constexpr double most_surviving = 0.05;

bool compiles(const AimedFault& fault, const std::string& text, const Dispatch& dispatch) {
  try {
    if (fault.in_kernel) {
      static_cast<void>(KernelPrograms(text, "subject.cu", dispatch));
    } else {
      static_cast<void>(compile_host(text, "subject_transformer.cpp"));
    }
    return true;
  } catch (const UserError&) {
    return false;
  }
}

/// The folder of a bundle whose text has the fault.
fs::path write_faulty(const AimedFault& fault, const RightBundle& right, const fs::path& place) {
  const std::string& name = right.subject->name;
  fs::copy(right.folder, place / name);
  write_file_whole(place / name / (name + (fault.in_kernel ? ".cu" : "_transformer.cpp")),
                   fault.in(right.text(fault.in_kernel)));
  return place / name;
}

/// What `escgen verify` says of a right bundle with the fault. Half of what it would do is known where the transformer
/// is the right one.
Verdict verdict_on(const AimedFault& fault, const RightBundle& right, const fs::path& place) {
  if (!compiles(fault, fault.in(right.text(fault.in_kernel)), right.texts.dispatch)) {
    return does_not_compile;
  }
  fs::create_directory(place);
  const fs::path folder = write_faulty(fault, right, place);
  try {
    const LoadedBundle bundle = load_bundle(folder);
    const BundleVerdict verdict = check_policy(folder, bundle, right.subject->nest);
    const BundleUnderTest texts = bundle.under_test(right.subject->nest, verdict.dispatch);
    try {
      const VerificationReport report =
          fault.in_kernel ? verify_kernel(texts, bundle.matrix, right.transformer, tests::effort_of_a_verdict())
                          : verify_by_emulation(texts, bundle.matrix, tests::effort_of_a_verdict());
      return report.passed() ? survived : found_wrong;
    } catch (const UserError&) {
      return found_wrong;
    }
  } catch (const UserError&) {
    return refused;
  }
}

/// Those of a run: all with ESC_SWEEP=full, those that ESC_AIMED names, or else a sample.
std::vector<AimedFault> faults_of_this_run(std::vector<AimedFault> faults) {
  constexpr std::size_t ordinary = 6;
  if (const char* const wanted = std::getenv("ESC_AIMED")) {
    const std::regex titles(wanted);
    std::erase_if(faults, [&](const AimedFault& fault) { return !std::regex_search(fault.title(), titles); });
    return faults;
  }
  return tests::drawn_of(faults, ordinary);
}

std::set<std::string> known_survivors() {
  std::set<std::string> titles;
  std::ifstream stream(AIMED_SURVIVORS);
  for (std::string line; std::getline(stream, line);) {
    if (!line.empty() && !line.starts_with("#")) {
      titles.insert(line);
    }
  }
  return titles;
}

struct Tally {
  int refused = 0;
  int found = 0;
  int survived = 0;

  double share() const {
    return refused + found == 0 ? 0 : static_cast<double>(refused + found) / (refused + found + survived);
  }
};

void print(const std::map<std::string, Tally>& tallies) {
  std::cout << fmt::format("{:<32}{:>9}{:>13}{:>10}{:>8}\n", "", "refused", "found wrong", "survived", "share");
  for (const auto& [name, tally] : tallies) {
    std::cout << fmt::format("{:<32}{:>9}{:>13}{:>10}{:>8.3f}\n", name, tally.refused, tally.found, tally.survived,
                             tally.share());
  }
}

TEST(AimedFaults, StandInTheTextsOfAllFamiliesAndLayouts) {
  const std::vector<AimedFault> faults = tests::read_aimed_faults(AIMED_FAULTS);
  const std::vector<MutationSubject> subjects = tests::mutation_subjects();
  const TemporaryFolder folder;
  const RightBundles bundles = tests::write_right_bundles(subjects, folder.path());
  std::set<std::string> used;
  for (const AimedFault& fault : faults) {
    used.insert(fault.subject);
    const auto right = bundles.find(fault.subject);
    ASSERT_NE(right, bundles.end()) << fault.title();
    EXPECT_NO_THROW(static_cast<void>(fault.in(right->second.text(fault.in_kernel)))) << fault.title();
  }
  for (const MutationSubject& subject : subjects) {
    EXPECT_TRUE(used.contains(subject.name)) << subject.name;
  }
  EXPECT_GE(faults.size(), 200U);
}

TEST(AimedFaults, AreFoundButForThoseThatAreListed) {
  const std::vector<AimedFault> faults = tests::read_aimed_faults(AIMED_FAULTS);
  const std::set<std::string> survivors = known_survivors();
  for (const std::string& title : survivors) {
    EXPECT_TRUE(std::ranges::any_of(faults, [&](const AimedFault& fault) { return fault.title() == title; }))
        << title << " is no fault";
  }
  const auto survive = [&](bool also_of_one_number) {
    return std::ranges::count_if(faults, [&](const AimedFault& fault) {
      return survivors.contains(fault.title()) && (also_of_one_number || !fault.needs_one_number);
    });
  };
  std::cout << fmt::format("{} faults, of which {} survive; of those that need no special number {}\n", faults.size(),
                           survive(true), survive(false));
  EXPECT_LE(static_cast<double>(survive(true)), most_surviving * static_cast<double>(faults.size()));
}

TEST(AimedFaults, AreFoundByAVerification) {
  const std::vector<AimedFault> faults = faults_of_this_run(tests::read_aimed_faults(AIMED_FAULTS));
  std::set<std::string> subjects;
  std::set<std::string> of_kernels;
  for (const AimedFault& fault : faults) {
    subjects.insert(fault.subject);
    if (fault.in_kernel) {
      of_kernels.insert(fault.subject);
    }
  }
  std::vector<MutationSubject> used = tests::mutation_subjects();
  std::erase_if(used, [&](const MutationSubject& subject) { return !subjects.contains(subject.name); });
  const TemporaryFolder folder;
  // Children have no other threads than the one that made them.
  const tbb::global_control one_thread(tbb::global_control::max_allowed_parallelism, 1);
  RightBundles bundles = tests::write_right_bundles(used, folder.path());
  tests::run_transformers(bundles, of_kernels);
  tests::expect_right_bundles_to_pass(bundles, subjects, tests::full_sweep() ? subjects.size() : 2);

  const std::set<std::string> listed = known_survivors();
  std::map<std::string, Tally> tallies;
  std::vector<std::string> survivors;
  tests::run_forked(
      faults.size(), tests::longest_verdict,
      [&](std::size_t number) -> int {
        const AimedFault& fault = faults[number];
        return verdict_on(fault, bundles.at(fault.subject), folder.path() / fmt::format("fault {}", number));
      },
      [&](std::size_t number, const JobEnd& end) {
        const AimedFault& fault = faults[number];
        const int verdict = end.how == JobEnd::How::returned ? end.status : 0;
        EXPECT_THAT(verdict, testing::AnyOf(refused, found_wrong, survived))
            << fault.title() << ": a verification ends, of a text that compiles";
        const bool is_listed = listed.contains(fault.title());
        EXPECT_FALSE(verdict == survived && !is_listed) << fault.title() << ": " << fault.effect;
        if (verdict != survived && is_listed) {
          std::cout << "found now  " << fault.title() << "\n";
        }
        for (const std::string& group :
             {std::string("all"), fault.kind,
              std::string(fault.needs_one_number ? "of one number" : "of no special number")}) {
          Tally& tally = tallies[group];
          ++(verdict == refused ? tally.refused : verdict == found_wrong ? tally.found : tally.survived);
        }
        if (verdict != refused && verdict != found_wrong) {
          survivors.push_back(fault.title());
        }
      });
  print(tallies);
  std::ranges::sort(survivors);
  for (const std::string& survivor : survivors) {
    std::cout << "survived  " << survivor << "\n";
  }
}

}  // namespace
}  // namespace esc

// SPDX-License-Identifier: Apache-2.0
// What `escgen verify` is worth: bundles with one fault each in the text of their kernel, launcher or transformer, of all families. Each
// must be found wrong, unless it does what it did before.
//
//   ESC_SWEEP=full build/release/bin/verifier_mutation_test      all faults; ESC_MUTANTS=500 so many of them, else a fixed sample;
//                                                                ESC_MUTANTS_BEFORE=1000 those behind so many;
//                                                                ESC_SUBJECTS=panel,rows those of these bundles alone
//
// Prints the share caught by kind and by text, and the survivors. Those that do the same as the text that they stand for are listed, with the reason, in
// equivalent_mutants.txt.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "generator/emit/generate.h"
#include "generator/frontend/format_source.h"
#include "generator/matrix/drawn_value.h"
#include "generator/schedule/schedule_choice.h"
#include "generator/support/error.h"
#include "generator/support/file.h"
#include "generator/support/temporary_folder.h"
#include "generator/verify/verify.h"
#include "tests/property/equivalent_mutants.h"
#include "tests/property/mutation_subjects.h"
#include "tests/support/forked_jobs.h"
#include "tests/support/run_size.h"
#include "tests/support/text_mutants.h"

namespace esc {
namespace {

namespace fs = std::filesystem;
using tests::EquivalentMutants;
using tests::JobEnd;
using tests::MutationSubject;
using tests::MutationTrial;
using tests::TextMutant;

void write_subject(const MutationSubject& subject, const fs::path& folder) {
  const GeneratedLayer layer = generate_layer(subject.matrix, subject.nest,
                                              {.name = subject.name,
                                               .source_file = "subject.mtx",
                                               .bcol = subject.bcol,
                                               .architectures = {90},
                                               .choice = parse_choice(subject.schedule, "user")});
  write_bundle(make_bundle(layer, [](const std::string& file, const std::string& text) { return format_source(text, file); }), folder,
               false);
}

enum Verdict : int { caught = 10, survived = 11, does_not_compile = 12 };

/// In a process of its own, as the text may do anything.
int verdict_on(const MutationTrial& trial, const fs::path& folder) {
  LoadedBundle bundle = load_bundle(folder / trial.subject->name);
  (trial.in_kernel ? bundle.kernel_text : bundle.transformer_text) = trial.mutant.text;
  EmulationEffort effort = thorough_effort;
  effort.whole_report = false;
  try {
    return verify_by_emulation(bundle.under_test(trial.subject->nest), bundle.matrix, effort).passed() ? survived : caught;
  } catch (const UserError&) {
    return does_not_compile;
  }
}

/// That of a variable of the environment, where it is set.
std::size_t number_in(const char* variable, std::size_t otherwise) {
  const char* const wanted = std::getenv(variable);
  return wanted != nullptr ? static_cast<std::size_t>(std::stoull(wanted)) : otherwise;
}

/// How many of them are verified: all in a whole run.
std::size_t sample_size(std::size_t all) {
  constexpr std::size_t ordinary = 96;
  return number_in("ESC_MUTANTS", tests::full_sweep() ? all : tests::in_this_build(ordinary));
}

/// Whether faults of the subject are asked for: all are, unless ESC_SUBJECTS names some.
bool is_asked_for(const MutationSubject& subject) {
  const char* const wanted = std::getenv("ESC_SUBJECTS");
  return wanted == nullptr || fmt::format(",{},", wanted).find(fmt::format(",{},", subject.name)) != std::string::npos;
}

/// The same on every machine.
std::uint64_t hash_of(const std::string& text) {
  std::uint64_t hash = 0;
  for (const char letter : text) {
    hash = mix_bits(hash + static_cast<unsigned char>(letter));
  }
  return hash;
}

struct Tally {
  int caught = 0;
  int survived = 0;
  int equivalent = 0;
  int not_compiled = 0;

  double share() const { return caught + survived == 0 ? 1 : static_cast<double>(caught) / (caught + survived); }
};

void print_tallies(const std::map<std::string, Tally>& tallies) {
  std::cout << fmt::format("{:<26}{:>8}{:>10}{:>12}{:>14}{:>8}\n", "", "caught", "survived", "equivalent", "not compiled", "share");
  for (const auto& [name, tally] : tallies) {
    std::cout << fmt::format("{:<26}{:>8}{:>10}{:>12}{:>14}{:>8.3f}\n", name, tally.caught, tally.survived, tally.equivalent,
                             tally.not_compiled, tally.share());
  }
}

TEST(Verifier, FindsSingleFaultsInTheTextsOfABundle) {
  const TemporaryFolder folder;
  const std::vector<MutationSubject> all_subjects = tests::mutation_subjects();
  // In children, for threads that packing starts here would be missing in those that verify.
  tests::run_forked(
      all_subjects.size(), std::chrono::seconds(60),
      [&](std::size_t number) {
        write_subject(all_subjects[number], folder.path());
        const LoadedBundle bundle = load_bundle(folder.path() / all_subjects[number].name);
        return verify_by_emulation(bundle.under_test(all_subjects[number].nest), bundle.matrix, thorough_effort).passed() ? 0 : 1;
      },
      [&](std::size_t number, const JobEnd& end) {
        ASSERT_EQ(end.how, JobEnd::How::returned) << all_subjects[number].name;
        ASSERT_EQ(end.status, 0) << all_subjects[number].name;
      });

  std::vector<MutationTrial> trials;
  std::set<std::string> seen;  // texts that several bundles have in common count once
  for (const MutationSubject& subject : all_subjects) {
    for (const bool in_kernel : {true, false}) {
      const fs::path file = folder.path() / subject.name / (subject.name + (in_kernel ? ".cu" : "_transformer.cpp"));
      for (TextMutant& mutant : tests::text_mutants(read_file(file))) {
        MutationTrial trial{&subject, in_kernel, std::move(mutant)};
        if ((in_kernel || seen.insert(trial.fault()).second) && is_asked_for(subject)) {
          trials.push_back(std::move(trial));
        }
      }
    }
  }
  const std::size_t all = trials.size();
  // By a hash of what they are, so that the sample stays where other texts change.
  std::ranges::stable_sort(trials, {},
                           [](const MutationTrial& trial) { return hash_of(trial.subject->name + trial.fault()); });
  const std::size_t before = std::min(all, number_in("ESC_MUTANTS_BEFORE", 0));
  trials.erase(trials.begin(), trials.begin() + static_cast<std::ptrdiff_t>(before));
  trials.resize(std::min(trials.size(), sample_size(all)));
  std::cout << fmt::format("{} of {} faults\n", trials.size(), all);

  const EquivalentMutants equivalents(EQUIVALENT_MUTANTS);
  std::map<std::string, Tally> tallies;
  std::vector<std::string> survivors;
  tests::run_forked(
      trials.size(), std::chrono::seconds(5), [&](std::size_t number) { return verdict_on(trials[number], folder.path()); },
      [&](std::size_t number, const JobEnd& end) {
        const MutationTrial& trial = trials[number];
        const bool returned = end.how == JobEnd::How::returned;
        for (const std::string& group : {std::string("all"), trial.text_name() + " of " + trial.subject->name, trial.mutant.kind}) {
          Tally& tally = tallies[group];
          if (returned && end.status == does_not_compile) {
            ++tally.not_compiled;
          } else if (!returned || end.status != survived) {
            ++tally.caught;
          } else {
            ++(equivalents.has(trial) ? tally.equivalent : tally.survived);
          }
        }
        if (returned && end.status == survived && !equivalents.has(trial)) {
          survivors.push_back(
              fmt::format("{} {} @ {}", trial.subject->name, trial.fault(), trial.mutant.place));
        }
      });
  print_tallies(tallies);
  std::ranges::sort(survivors);
  for (const std::string& survivor : survivors) {
    std::cout << "survived  " << survivor << "\n";
  }
  EXPECT_GE(tallies["all"].share(), 0.95);
}

}  // namespace
}  // namespace esc

// SPDX-License-Identifier: Apache-2.0
// What `escgen verify` is worth: bundles with one fault each in the text of their kernel, launcher or transformer, of
// all families. Each must be found wrong, unless it does what it did before.
//
//   ESC_SWEEP=full build/release/bin/verifier_mutation_test      all faults; ESC_MUTANTS=500 so many of them, else a
//   fixed sample;
//                                                                ESC_MUTANTS_BEFORE=1000 those behind so many;
//                                                                ESC_SUBJECTS=row_tile,rows those of these bundles
//                                                                alone; ESC_MUTANTS_AGAIN=FILE all that survived where
//                                                                FILE was printed
//
// Prints the share caught by kind and by text, and the survivors.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <tbb/global_control.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "generator/emit/built_architectures.h"
#include "generator/emulate/compile_program.h"
#include "generator/matrix/drawn_value.h"
#include "generator/support/error.h"
#include "generator/support/temporary_folder.h"
#include "generator/verify/kernel_programs.h"
#include "tests/property/mutation_subjects.h"
#include "tests/property/right_bundles.h"
#include "tests/support/forked_jobs.h"
#include "tests/support/optimised_code.h"
#include "tests/support/run_size.h"
#include "tests/support/text_mutants.h"

namespace esc {
namespace {

namespace fs = std::filesystem;
using tests::JobEnd;
using tests::MutationSubject;
using tests::RightBundle;
using tests::RightBundles;
using tests::TextMutant;

/// One of the texts of a subject with a fault.
struct MutationTrial {
  const MutationSubject* subject;
  bool in_kernel;
  TextMutant mutant;

  std::string text_name() const { return in_kernel ? "kernel" : "transformer"; }
  /// "kernel: LINE ==> FAULTY LINE", whatever the subject.
  std::string fault() const { return fmt::format("{}: {} ==> {}", text_name(), mutant.line, mutant.faulty); }
};

/// The least of those that the bundles of a fault have counts.
enum Verdict : int { caught = 10, survived = 11, same_code = 12, does_not_compile = 13 };

/// What `verify` would say, in a process of its own, as the text may do anything. Half of what it would do is known:
/// what it finds of a transformer without a fault, and of a kernel that gets from its transformer what it got before.
int verdict_on(const MutationTrial& trial, const RightBundle& right) {
  const SparseMatrix& matrix = right.bundle.matrix;
  const EmulationEffort effort = tests::effort_of_a_verdict();
  BundleUnderTest texts = right.texts;
  try {
    if (trial.in_kernel) {
      texts.kernel_text = trial.mutant.in(texts.kernel_text);
      return verify_kernel(texts, matrix, right.transformer, effort).passed() ? survived : caught;
    }
    texts.transformer_text = trial.mutant.in(texts.transformer_text);
    TransformerVerification transformer = verify_transformer(texts, matrix, effort);
    if (transformer.report.failed()) {
      return caught;
    }
    const bool packs_as_before =
        transformer.others.values && transformer.others.values->packed == right.transformer.others.values->packed;
    return packs_as_before || verify_kernel(texts, matrix, std::move(transformer), effort).passed() ? survived : caught;
  } catch (const UserError&) {
    return does_not_compile;
  }
}

/// Whether the text says the same in other words: with the numbers of its schedule an optimising compiler makes the
/// same code of it.
bool has_same_code(const MutationTrial& trial, const RightBundle& right) {
  const auto code_of = [&](const std::string& text) {
    if (!trial.in_kernel) {
      return tests::optimised_code(host_source(text, "subject.cpp"));
    }
    std::string code = tests::optimised_code(cuda_source(text, "subject.cu"));
    if (asks_for_own_features(text)) {
      code += tests::optimised_code(cuda_source(text, "subject.cu", with_features()));
    }
    if (right.texts.dispatch.copies_in_bulk) {  // it does otherwise on earlier devices
      code += tests::optimised_code(cuda_source(text, "subject.cu", {.headers = {}, .defines = {"__CUDA_ARCH__=800"}}));
    }
    return code;
  };
  const std::string& text = right.text(trial.in_kernel);
  return code_of(text) == code_of(trial.mutant.in(text));
}

/// Where a fault is: in one kernel, or in all transformers that have the same lines.
using Fault = std::vector<MutationTrial>;

/// With how many bundles a fault is tried at most.
constexpr std::size_t most_tried = 4;

/// The bundles with which a fault is tried: the first ones and the last one, which are of different families.
std::vector<const MutationTrial*> trials_of(const Fault& fault) {
  std::vector<const MutationTrial*> trials;
  for (std::size_t number = 0; number < std::min(fault.size(), most_tried); ++number) {
    trials.push_back(number + 1 < most_tried ? &fault[number] : &fault.back());
  }
  return trials;
}

/// What several transformers have in common is tried with one after the other until one shows the fault: not each needs
/// all that it has.
int verdict_on(const Fault& fault, const RightBundles& right_bundles) {
  int verdict = does_not_compile;
  for (const MutationTrial* const trial : trials_of(fault)) {
    const RightBundle& right = right_bundles.at(trial->subject->name);
    const int found = verdict_on(*trial, right);
    if (found == caught) {
      return caught;
    }
    verdict = std::min<int>(verdict, found == survived && has_same_code(*trial, right) ? same_code : found);
  }
  return verdict;
}

/// That of a variable of the environment, where it is set.
std::size_t number_in(const char* variable, std::size_t otherwise) {
  const char* const wanted = std::getenv(variable);
  return wanted != nullptr ? static_cast<std::size_t>(std::stoull(wanted)) : otherwise;
}

/// How many of them are verified: all in a whole run.
std::size_t sample_size(std::size_t all) {
  constexpr std::size_t ordinary = 12;
  return number_in("ESC_MUTANTS", tests::full_sweep() ? all : tests::in_this_build(ordinary));
}

/// Whether faults of the subject are asked for: all are, unless ESC_SUBJECTS names some.
bool is_asked_for(const MutationSubject& subject) {
  const char* const wanted = std::getenv("ESC_SUBJECTS");
  return wanted == nullptr || fmt::format(",{},", wanted).find(fmt::format(",{},", subject.name)) != std::string::npos;
}

constexpr std::string_view survived_mark = "survived  ";

/// One line for it.
std::string description_of(const MutationTrial& trial) {
  return fmt::format("{} {} @ {}", trial.subject->name, trial.fault(), trial.mutant.place);
}

/// Leaves the faults that survived where `file` was printed.
void keep_survivors(std::vector<Fault>& faults, const char* file) {
  std::ifstream stream(file);
  std::set<std::string> again;
  for (std::string line; std::getline(stream, line);) {
    if (line.starts_with(survived_mark)) {
      again.insert(line.substr(survived_mark.size()));
    }
  }
  EXPECT_FALSE(again.empty()) << file;
  std::erase_if(faults, [&again](const Fault& fault) { return !again.contains(description_of(fault.front())); });
}

/// The same on every machine, another for each seed of the run.
std::uint64_t hash_of(const std::string& text) {
  std::uint64_t hash = tests::seed_of_the_run();
  for (const char letter : text) {
    hash = mix_bits(hash + static_cast<unsigned char>(letter));
  }
  return hash;
}

struct Tally {
  int caught = 0;
  int survived = 0;
  int same_code = 0;
  int not_compiled = 0;

  double share() const { return caught + survived == 0 ? 1 : static_cast<double>(caught) / (caught + survived); }
  /// What may be missing from the share of all because these are some of them: two standard errors.
  double error_of(double all) const { return 2 * std::sqrt(all * (1 - all) / std::max(1, caught + survived)); }
};

void print_tallies(const std::map<std::string, Tally>& tallies) {
  std::cout << fmt::format("{:<26}{:>8}{:>10}{:>11}{:>14}{:>8}\n", "", "caught", "survived", "same code",
                           "not compiled", "share");
  for (const auto& [name, tally] : tallies) {
    std::cout << fmt::format("{:<26}{:>8}{:>10}{:>11}{:>14}{:>8.3f}\n", name, tally.caught, tally.survived,
                             tally.same_code, tally.not_compiled, tally.share());
  }
}

/// All faults of the texts of these bundles, what transformers have in common as one.
std::vector<Fault> faults_of(const std::vector<MutationSubject>& subjects, const RightBundles& right_bundles) {
  std::vector<Fault> faults;
  std::map<std::string, std::size_t> in_transformers;  // by what they are
  for (const MutationSubject& subject : subjects) {
    for (const bool in_kernel : {true, false}) {
      for (TextMutant& mutant : tests::text_mutants(right_bundles.at(subject.name).text(in_kernel))) {
        MutationTrial trial{&subject, in_kernel, std::move(mutant)};
        const auto [known, is_new] =
            in_kernel ? std::pair(in_transformers.end(), true) : in_transformers.emplace(trial.fault(), faults.size());
        if (is_new) {
          faults.push_back({std::move(trial)});
        } else {
          faults[known->second].push_back(std::move(trial));
        }
      }
    }
  }
  return faults;
}

/// Those of a run, in an order that follows from what they are, so that the sample stays where other texts change.
std::vector<Fault> faults_of_this_run(std::vector<Fault> faults) {
  std::erase_if(faults, [](const Fault& fault) { return !is_asked_for(*fault.front().subject); });
  const char* const again = std::getenv("ESC_MUTANTS_AGAIN");
  if (again != nullptr) {
    keep_survivors(faults, again);
  }
  const std::size_t all = faults.size();
  std::ranges::stable_sort(
      faults, {}, [](const Fault& fault) { return hash_of(fault.front().subject->name + fault.front().fault()); });
  const std::size_t before = std::min(all, number_in("ESC_MUTANTS_BEFORE", 0));
  faults.erase(faults.begin(), faults.begin() + static_cast<std::ptrdiff_t>(before));
  faults.resize(std::min(faults.size(), again != nullptr ? all : sample_size(all)));
  std::cout << fmt::format("{} of {} faults\n", faults.size(), all);
  return faults;
}

/// Of all faults that compile to other code, so many are caught at least. Of the others many change nothing: what is
/// searched for in another order, or bytes of which any may be taken.
constexpr double least_share = 0.9;

TEST(Verifier, FindsSingleFaultsInTheTextsOfABundle) {
  const TemporaryFolder folder;
  const std::vector<MutationSubject> subjects = tests::mutation_subjects();
  // Children have no other threads than the one that made them.
  const tbb::global_control one_thread(tbb::global_control::max_allowed_parallelism, 1);
  RightBundles right_bundles = tests::write_right_bundles(subjects, folder.path());
  const std::vector<Fault> faults = faults_of_this_run(faults_of(subjects, right_bundles));
  std::set<std::string> tried;
  for (const Fault& fault : faults) {
    for (const MutationTrial* const trial : trials_of(fault)) {
      tried.insert(trial->subject->name);
    }
  }
  tests::run_transformers(right_bundles, tried);
  tests::expect_right_bundles_to_pass(right_bundles, tried, tests::full_sweep() ? tried.size() : 2);

  std::map<std::string, Tally> tallies;
  std::vector<std::string> survivors;
  tests::run_forked(
      faults.size(), most_tried * tests::longest_verdict,
      [&](std::size_t number) { return verdict_on(faults[number], right_bundles); },
      [&](std::size_t number, const JobEnd& end) {
        const MutationTrial& trial = faults[number].front();
        // A verification that does not end tells a user nothing.
        const int verdict = end.how == JobEnd::How::returned ? end.status : survived;
        for (const std::string& group :
             {std::string("all"), trial.text_name() + " of " + trial.subject->name, trial.mutant.kind}) {
          Tally& tally = tallies[group];
          ++(verdict == does_not_compile ? tally.not_compiled
             : verdict == same_code      ? tally.same_code
             : verdict == caught         ? tally.caught
                                         : tally.survived);
        }
        if (verdict == survived) {
          survivors.push_back(description_of(trial));
        }
      });
  print_tallies(tallies);
  std::ranges::sort(survivors);
  for (const std::string& survivor : survivors) {
    std::cout << survived_mark << survivor << "\n";
  }
  const Tally& all = tallies["all"];
  EXPECT_GE(all.share(), least_share - all.error_of(least_share));
}

}  // namespace
}  // namespace esc

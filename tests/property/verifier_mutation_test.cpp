// What `escgen verify` is worth: bundles with one fault each in the text of their kernel, launcher or transformer, of all families. Each
// must be found wrong, unless it does what it did before.
//
//   ESC_SWEEP=full build/release/bin/verifier_mutation_test      all faults; ESC_MUTANTS=500 so many of them, else a fixed sample;
//                                                                ESC_MUTANTS_BEFORE=1000 those behind so many
//
// Prints the share caught by kind and by text, and the survivors. Those that do the same as the text that they stand for are listed, with the reason, in
// equivalent_mutants.txt.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "generator/emit/generate.h"
#include "generator/frontend/format_source.h"
#include "generator/matrix/drawn_value.h"
#include "generator/matrix/sample.h"
#include "generator/schedule/schedule_choice.h"
#include "generator/support/error.h"
#include "generator/support/file.h"
#include "generator/support/temporary_folder.h"
#include "generator/verify/verify.h"
#include "tests/support/awkward_shapes.h"
#include "tests/support/forked_jobs.h"
#include "tests/support/text_mutants.h"

namespace esc {
namespace {

namespace fs = std::filesystem;
using tests::JobEnd;
using tests::TextMutant;

/// A bundle that is made faulty.
struct Subject {
  std::string name;
  std::int64_t bcol;
  ScalarType element;
  std::string schedule;
};

/// All families, element types, variants of their kernels, and a script that is of none.
std::vector<Subject> subjects() {
  return {
      {"panel", 36, ScalarType::f32, "panel:ufi=4,columns=32,vector=4,groups=2,warps=2,panels=8,ufk=4,stage=off,pdl=on"},
      {"staged", 36, ScalarType::f32, "panel:ufi=4,columns=16,vector=4,groups=4,warps=2,panels=4,ufk=8,stage=on,pdl=off"},
      {"doubles", 8, ScalarType::f64, "panel:ufi=4,columns=8,vector=2,groups=4,warps=1,panels=2,ufk=4,stage=on,pdl=on"},
      {"large", 20, ScalarType::f32, "panel:ufi=8,columns=8,vector=4,groups=1,warps=1,panels=32,ufk=4,stage=on,pdl=off"},
      {"rows", 12, ScalarType::f32, "rows:columns=8,vector=2,unroll=2,task=32,light=8,warps=2,pdl=on"},
      {"compacted", 64, ScalarType::f32, "atomic:ufi=3,ufk=2,warptile=2,threads=64"},
      {"patterns", 33, ScalarType::f64, "atomic:ufi=2,ufk=3,warptile=1,threads=32,compaction=off"},
      {"script", 36, ScalarType::f32,
       "unroll(i, 6); enumerate(); merge(); own(i, panels=4, warp=1); tile(j, columns=32, vector=2); split(k, warps=1, groups=2); "
       "accumulate(); shuffle(); transform(A, regions); vectorize(j); batch(k, 8)"},
  };
}

/// Rows of all lengths, so that panels, lists and tasks are long enough for every loop of a kernel to go round; sizes that nothing divides.
SparseMatrix subject_matrix(ScalarType element) {
  SparseMatrix matrix =
      sample_matrix({.rows = 45, .columns = 83, .sparsity = 0.75, .structure = SampleStructure::powerlaw, .seed = 3});
  matrix.element = element;  // a value of float32 is one of float64
  return matrix;
}

void write_subject(const Subject& subject, const fs::path& folder) {
  const SparseMatrix matrix = subject_matrix(subject.element);
  const GeneratedLayer layer = generate_layer(matrix, spmm_nest(subject.element),
                                              {.name = subject.name,
                                               .source_file = "subject.mtx",
                                               .bcol = subject.bcol,
                                               .architectures = {90},
                                               .choice = parse_choice(subject.schedule, "user")});
  write_bundle(make_bundle(layer, [](const std::string& file, const std::string& text) { return format_source(text, file); }), folder,
               false);
}

/// One of the texts of a subject with a fault.
struct Trial {
  const Subject* subject;
  bool in_kernel;
  TextMutant mutant;

  std::string text_name() const { return in_kernel ? "kernel" : "transformer"; }
};

enum Verdict : int { caught = 10, survived = 11, does_not_compile = 12 };

/// In a process of its own, as the text may do anything.
int verdict_on(const Trial& trial, const fs::path& folder) {
  LoadedBundle bundle = load_bundle(folder / trial.subject->name);
  (trial.in_kernel ? bundle.kernel_text : bundle.transformer_text) = trial.mutant.text;
  EmulationEffort effort = thorough_effort;
  effort.whole_report = false;
  try {
    return verify_by_emulation(bundle.under_test(spmm_nest(trial.subject->element)), bundle.matrix, effort).passed() ? survived : caught;
  } catch (const UserError&) {
    return does_not_compile;
  }
}

/// Faults that change nothing, each with the reason, as equivalent_mutants.txt says them.
class Equivalents {
 public:
  explicit Equivalents(const std::string& file) {
    std::ifstream stream(file);
    std::string reason;
    for (std::string line; std::getline(stream, line);) {
      if (line.starts_with("because ")) {
        reason = line;
      } else if (!line.empty() && !line.starts_with("#")) {
        EXPECT_FALSE(reason.empty()) << line;
        known_.push_back(parse(line));
      }
    }
  }
  bool has(const Trial& trial) const {
    return std::ranges::any_of(known_, [&trial](const Entry& known) { return known.describes(trial); });
  }
  static std::string fault(const Trial& trial) {
    return fmt::format("{}: {} ==> {}", trial.text_name(), trial.mutant.line, trial.mutant.faulty);
  }

 private:
  struct Entry {
    std::set<std::string> subjects;  ///< all, where it is empty
    std::string text;
    std::string line;
    std::string faulty;
    std::size_t kept_before;  ///< characters at the beginning of the line that the fault leaves as they are
    std::size_t kept_behind;  ///< and at its end
    bool any_fault;           ///< of what is between them; else it becomes `faulty`
    int place;                ///< of the line among those like it; 0 for each

    bool describes(const Trial& trial) const {
      const TextMutant& mutant = trial.mutant;
      return (subjects.empty() || subjects.contains(trial.subject->name)) && text == trial.text_name() &&
             line == mutant.line && (place == 0 || place == mutant.place) &&
             (any_fault ? keeps_ends(mutant.faulty) : faulty == mutant.faulty);
    }
    bool keeps_ends(const std::string& other) const {
      return other.size() >= kept_before + kept_behind && other.starts_with(line.substr(0, kept_before)) &&
             other.ends_with(line.substr(line.size() - kept_behind));
    }
  };

  /// "SUBJECT,SUBJECT TEXT: LINE ==> FAULTY @ PLACE" and its shorter forms.
  static Entry parse(const std::string& entry) {
    const std::size_t colon = entry.find(": ");
    const std::size_t behind_subjects = entry.substr(0, colon).rfind(' ');
    Entry result{{}, entry.substr(0, colon), entry.substr(colon + 2), {}, 0, 0, false, 0};
    if (behind_subjects != std::string::npos) {
      result.text = result.text.substr(behind_subjects + 1);
      std::istringstream names(entry.substr(0, behind_subjects));
      for (std::string name; std::getline(names, name, ',');) {
        result.subjects.insert(name);
      }
    }
    if (const auto [before, place] = cut(result.line, " @ "); !place.empty()) {
      result.line = before;
      result.place = std::stoi(place);
    }
    const auto [line, faulty] = cut(result.line, " ==> ");
    result.line = line;
    result.faulty = faulty;
    const auto [before, rest] = cut(line, "[[");
    const auto [part, behind] = cut(rest, "]]");
    result.any_fault = faulty == "*" || faulty.empty();
    if (faulty.empty()) {
      EXPECT_FALSE(part.empty()) << entry;
      result.line = before + part + behind;
      result.kept_before = before.size();
      result.kept_behind = behind.size();
    }
    return result;
  }
  /// What stands before and behind the last of these marks; all and nothing where there is none.
  static std::pair<std::string, std::string> cut(const std::string& text, const std::string& mark) {
    const std::size_t at = text.rfind(mark);
    return at == std::string::npos ? std::pair{text, std::string()}
                                   : std::pair{text.substr(0, at), text.substr(at + mark.size())};
  }

  std::vector<Entry> known_;
};

/// That of a variable of the environment, where it is set.
std::size_t number_in(const char* variable, std::size_t otherwise) {
  const char* const wanted = std::getenv(variable);
  return wanted != nullptr ? static_cast<std::size_t>(std::stoull(wanted)) : otherwise;
}

/// How many of them are verified: all in a whole run.
std::size_t sample_size(std::size_t all) {
  constexpr std::size_t ordinary = 128;
  return number_in("ESC_MUTANTS", tests::full_sweep() ? all : ordinary);
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
  const std::vector<Subject> all_subjects = subjects();
  // In children, for threads that packing starts here would be missing in those that verify.
  tests::run_forked(
      all_subjects.size(), std::chrono::seconds(60),
      [&](std::size_t number) {
        write_subject(all_subjects[number], folder.path());
        const LoadedBundle bundle = load_bundle(folder.path() / all_subjects[number].name);
        return verify_by_emulation(bundle.under_test(spmm_nest(all_subjects[number].element)), bundle.matrix, thorough_effort).passed() ? 0 : 1;
      },
      [&](std::size_t number, const JobEnd& end) {
        ASSERT_EQ(end.how, JobEnd::How::returned) << all_subjects[number].name;
        ASSERT_EQ(end.status, 0) << all_subjects[number].name;
      });

  std::vector<Trial> trials;
  std::set<std::string> seen;  // texts that several bundles have in common count once
  for (const Subject& subject : all_subjects) {
    for (const bool in_kernel : {true, false}) {
      const fs::path file = folder.path() / subject.name / (subject.name + (in_kernel ? ".cu" : "_transformer.cpp"));
      for (TextMutant& mutant : tests::text_mutants(read_file(file))) {
        Trial trial{&subject, in_kernel, std::move(mutant)};
        if (in_kernel || seen.insert(Equivalents::fault(trial)).second) {
          trials.push_back(std::move(trial));
        }
      }
    }
  }
  const std::size_t all = trials.size();
  // By a hash of what they are, so that the sample stays where other texts change.
  std::ranges::stable_sort(trials, {},
                           [](const Trial& trial) { return hash_of(trial.subject->name + Equivalents::fault(trial)); });
  const std::size_t before = std::min(all, number_in("ESC_MUTANTS_BEFORE", 0));
  trials.erase(trials.begin(), trials.begin() + static_cast<std::ptrdiff_t>(before));
  trials.resize(std::min(trials.size(), sample_size(all)));
  std::cout << fmt::format("{} of {} faults\n", trials.size(), all);

  const Equivalents equivalents(EQUIVALENT_MUTANTS);
  std::map<std::string, Tally> tallies;
  std::vector<std::string> survivors;
  tests::run_forked(
      trials.size(), std::chrono::seconds(5), [&](std::size_t number) { return verdict_on(trials[number], folder.path()); },
      [&](std::size_t number, const JobEnd& end) {
        const Trial& trial = trials[number];
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
              fmt::format("{} {} @ {}", trial.subject->name, Equivalents::fault(trial), trial.mutant.place));
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

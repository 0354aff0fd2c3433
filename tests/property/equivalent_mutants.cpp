// SPDX-License-Identifier: Apache-2.0
#include "tests/property/equivalent_mutants.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string_view>
#include <utility>

namespace esc::tests {
namespace {

/// What stands before and behind the last of these marks; all and nothing where there is none.
std::pair<std::string, std::string> cut(const std::string& text, const std::string& mark) {
  const std::size_t at = text.rfind(mark);
  return at == std::string::npos ? std::pair{text, std::string()}
                                 : std::pair{text.substr(0, at), text.substr(at + mark.size())};
}

}  // namespace

std::string MutationTrial::fault() const {
  return fmt::format("{}: {} ==> {}", text_name(), mutant.line, mutant.faulty);
}

EquivalentMutants::EquivalentMutants(const std::string& file) {
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

bool EquivalentMutants::has(const MutationTrial& trial) const {
  return std::ranges::any_of(known_, [&trial](const Entry& known) { return known.describes(trial); });
}

std::vector<std::string> EquivalentMutants::describe_none_of(const std::vector<std::vector<MutationTrial>>& trials) const {
  std::vector<std::string> found;
  for (const Entry& known : known_) {
    const bool used = std::ranges::any_of(trials, [&known](const std::vector<MutationTrial>& same) {
      return std::ranges::any_of(same, [&known](const MutationTrial& trial) { return known.describes(trial); });
    });
    if (!used) {
      found.push_back(known.written);
    }
  }
  return found;
}

bool EquivalentMutants::Entry::describes(const MutationTrial& trial) const {
  const TextMutant& mutant = trial.mutant;
  if ((!subjects.empty() && !subjects.contains(trial.subject->name)) || text != trial.text_name()) {
    return false;
  }
  if (!within.empty()) {
    return mutant.within == within;
  }
  return line == mutant.line && (place == 0 || place == mutant.place) &&
         (any_fault ? keeps_ends(mutant.faulty) : faulty == mutant.faulty);
}

bool EquivalentMutants::Entry::keeps_ends(const std::string& other) const {
  return other.size() >= kept_before + kept_behind && other.starts_with(line.substr(0, kept_before)) &&
         other.ends_with(line.substr(line.size() - kept_behind));
}

/// "SUBJECT,SUBJECT TEXT: LINE ==> FAULTY @ PLACE" and its shorter forms, or "SUBJECT TEXT: within NAME".
EquivalentMutants::Entry EquivalentMutants::parse(const std::string& entry) {
  const std::size_t colon = entry.find(": ");
  const std::size_t behind_subjects = entry.substr(0, colon).rfind(' ');
  Entry result{entry, {}, entry.substr(0, colon), entry.substr(colon + 2), {}, 0, 0, false, 0, {}};
  if (behind_subjects != std::string::npos) {
    result.text = result.text.substr(behind_subjects + 1);
    std::istringstream names(entry.substr(0, behind_subjects));
    for (std::string name; std::getline(names, name, ',');) {
      result.subjects.insert(name);
    }
  }
  constexpr std::string_view within_mark = "within ";
  if (result.line.starts_with(within_mark)) {
    result.within = result.line.substr(within_mark.size());
    return result;
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

}  // namespace esc::tests

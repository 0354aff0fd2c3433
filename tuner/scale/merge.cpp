// SPDX-License-Identifier: Apache-2.0
#include "tuner/scale/merge.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <tuple>

#include "tuner/records/record_text.h"

namespace esc::tuning {
namespace {

constexpr double most_difference = 0.10;

/// Where a record is: decisions after the candidates that they are about.
using Place = std::tuple<ItemKey, bool, Stage, Edge, std::string, std::string>;

Place place_of(const Record& record, const std::string& text) {
  if (const auto* candidate = std::get_if<CandidateRecord>(&record)) {
    return {key_of(candidate->item), false, candidate->stage, candidate->edge, candidate->candidate, text};
  }
  return {key_of(item_of(record)), true, Stage::final, Edge::plain, std::get<DecisionRecord>(record).winner, text};
}

std::string where(const CandidateRecord& record) {
  return fmt::format("{}, bCol {}, {}{}: {}", print(record.item.device), record.item.bcol,
                     record.item.layer.pattern.substr(0, 16), nest_suffix(record.item.nest), record.candidate);
}

/// What is to be compared with each other.
using Subject = std::tuple<ItemKey, Stage, Edge, std::string, std::string, std::string>;

/// How the records of one subject contradict each other; empty where they do not.
std::string contradiction(const std::vector<const CandidateRecord*>& records) {
  std::set<std::string> outcomes;
  std::vector<double> medians;
  for (const CandidateRecord* record : records) {
    outcomes.insert(print(record->outcome));
    if (record->outcome == Outcome::ok) {
      medians.push_back(median(record->samples));
    }
  }
  if (outcomes.size() > 1) {
    return fmt::format("{}: {}", where(*records.front()), fmt::join(outcomes, " and "));
  }
  if (medians.size() > 1) {
    const auto [least, most] = std::ranges::minmax(medians);
    if (most > (1 + most_difference) * least) {
      return fmt::format("{}: {:.2f} us and {:.2f} us", where(*records.front()), least, most);
    }
  }
  return {};
}

std::vector<std::string> conflicts_in(const std::map<Place, Record>& records) {
  std::map<Subject, std::vector<const CandidateRecord*>> subjects;
  for (const auto& [place, record] : records) {
    if (const auto* candidate = std::get_if<CandidateRecord>(&record)) {
      subjects[{key_of(candidate->item), candidate->stage, candidate->edge, candidate->candidate, candidate->builder,
                candidate->digest}]
          .push_back(candidate);
    }
  }
  std::vector<std::string> conflicts;
  for (const auto& [subject, candidates] : subjects) {
    if (std::string problem = contradiction(candidates); !problem.empty()) {
      conflicts.push_back(std::move(problem));
    }
  }
  return conflicts;
}

std::vector<std::string> differing_environments(const std::map<Place, Record>& records) {
  std::map<DeviceKey, std::set<std::string>> found;
  for (const auto& [place, record] : records) {
    const Environment& of = environment_of(record);
    found[item_of(record).device].insert(
        fmt::format("{}, driver {}, CUDA {}, ESC {}", of.device_name, of.driver, of.toolkit, of.tool));
  }
  std::vector<std::string> differing;
  for (const auto& [device, environments] : found) {
    if (environments.size() > 1) {
      differing.push_back(fmt::format("{}: {}", print(device), fmt::join(environments, "; ")));
    }
  }
  return differing;
}

}  // namespace

Merged merge(const std::vector<Record>& records, const std::vector<RatesRecord>& rates) {
  std::set<std::string> of_devices;
  std::ranges::transform(rates, std::inserter(of_devices, of_devices.end()),
                         [](const RatesRecord& one) { return print(one); });
  std::map<Place, Record> united;
  for (const Record& record : records) {
    united.emplace(place_of(record, print(record)), record);
  }
  const std::size_t lines = united.size() + of_devices.size();
  Merged merged{.text = lines == 0 ? "" : journal_header() + '\n',
                .records = lines,
                .conflicts = conflicts_in(united),
                .environments = differing_environments(united)};
  for (const std::string& line : of_devices) {
    merged.text += line + '\n';
  }
  for (const auto& [place, record] : united) {
    merged.text += std::get<std::tuple_size_v<Place> - 1>(place) + '\n';
  }
  return merged;
}

}  // namespace esc::tuning

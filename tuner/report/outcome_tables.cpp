// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/outcome_tables.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string>
#include <tuple>

namespace esc::tuning {
namespace {

constexpr std::array every_outcome{Outcome::ok,           Outcome::compile_failed, Outcome::launch_failed,
                                   Outcome::wrong_result, Outcome::timed_out,      Outcome::skipped_by_limit};

using Results = std::map<std::string, CandidateResult>;

/// The kinds of measurements, in the order of the table's columns.
constexpr std::array<Results ItemResults::*, 4> every_kind{&ItemResults::search, &ItemResults::final,
                                                           &ItemResults::chain, &ItemResults::peers};

/// What a row of the table of failures is about.
struct Failure {
  Outcome outcome = Outcome::ok;
  std::string detail;
  auto operator<=>(const Failure&) const = default;
};

struct Cases {
  std::size_t count = 0;
  std::string candidate;  ///< of the first one
  std::string layer;
  std::int64_t bcol = 0;
};

}  // namespace

Table outcome_table(const std::map<ItemKey, ItemResults>& items) {
  std::map<Outcome, std::array<std::size_t, every_kind.size()>> counts;
  for (const auto& [key, results] : items) {
    for (std::size_t kind = 0; kind < every_kind.size(); ++kind) {
      for (const auto& [candidate, result] : results.*every_kind[kind]) {
        ++counts[result.outcome][kind];
      }
    }
  }
  Table table{"Numbers of candidates by outcome.",
              {text_column("outcome"), {"search"}, {"final, plain"}, {"final, chain"}, {"libraries"}},
              {}};
  for (const Outcome outcome : every_outcome) {
    std::vector<std::string> row{print(outcome)};
    for (const std::size_t count : counts[outcome]) {
      row.push_back(std::to_string(count));
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table failure_table(const std::map<ItemKey, ItemResults>& items) {
  std::map<Failure, Cases> failures;
  for (const auto& [key, results] : items) {
    for (const auto kind : every_kind) {
      for (const auto& [candidate, result] : results.*kind) {
        if (result.outcome == Outcome::ok) {
          continue;
        }
        Cases& cases = failures[{result.outcome, result.detail}];
        if (cases.count++ == 0) {
          cases.candidate = candidate;
          cases.layer = std::filesystem::path(results.item.layer.file).filename().string();
          cases.bcol = key.bcol;
        }
      }
    }
  }
  std::vector<std::pair<Failure, Cases>> ordered(failures.begin(), failures.end());
  std::ranges::stable_sort(ordered, {}, [](const auto& one) {
    return std::tuple(one.first.outcome, -static_cast<std::int64_t>(one.second.count));
  });
  Table table{"Why candidates failed: the most frequent reasons of each outcome first, with one example.",
              {text_column("outcome"),
               text_column("reason"),
               {"candidates"},
               text_column("for example"),
               text_column("layer"),
               {"N"}},
              {}};
  for (const auto& [failure, cases] : ordered) {
    table.rows.push_back({print(failure.outcome), failure.detail.empty() ? "-" : failure.detail,
                          std::to_string(cases.count), cases.candidate, cases.layer, std::to_string(cases.bcol)});
  }
  return table;
}

Table environment_table(const std::map<ItemKey, ItemResults>& items) {
  using Key = std::tuple<DeviceKey, std::string, std::string, std::string, std::string>;
  std::map<Key, std::size_t> counts;
  for (const auto& [key, results] : items) {
    const Environment& environment = results.environment;
    ++counts[{key.device, environment.device_name, environment.driver, environment.toolkit, environment.tool}];
  }
  Table table{
      "What was measured with.",
      {text_column("device"), text_column("name"), {"newest CUDA of the driver"}, {"CUDA toolkit"}, {"ESC"}, {"items"}},
      {}};
  for (const auto& [key, count] : counts) {
    const auto& [device, name, driver, toolkit, tool] = key;
    table.rows.push_back({print(device), name, driver, toolkit, tool, std::to_string(count)});
  }
  return table;
}

}  // namespace esc::tuning

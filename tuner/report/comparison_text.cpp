// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/comparison_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "generator/support/json_result.h"

namespace esc::tuning {
namespace {

std::string winners(const ItemChange& change) {
  if (change.same_winner) {
    return change.after.winner.empty() ? "none" : change.after.winner;
  }
  const auto name = [](const std::string& winner) { return winner.empty() ? std::string("none") : winner; };
  return name(change.before.winner) + " -> " + name(change.after.winner);
}

}  // namespace

Table change_table(const JournalComparison& comparison) {
  Table table{
      fmt::format("Winners before and after. Differences of up to {:.0f} %, and those within noise (the larger of the "
                  "relative spreads) by the same schedule, are SAME.",
                  100 * tolerated_change),
      {text_column("layer"),
       {"N"},
       {"before, us"},
       {"after, us"},
       {"after / before"},
       {"noise, %"},
       text_column("verdict"),
       text_column("winner")},
      {}};
  for (const ItemChange& change : comparison.changes) {
    const bool both = change.before.microseconds && change.after.microseconds;
    table.rows.push_back({change.after.name, std::to_string(change.after.item.bcol),
                          with_digits(change.before.microseconds), with_digits(change.after.microseconds),
                          both ? with_digits(change.ratio, 3) : "-", percent(change.noise, 1), print(change.verdict),
                          winners(change)});
  }
  return table;
}

std::string print(const JournalComparison& comparison) {
  std::string text = markdown(change_table(comparison));
  text += fmt::format("\n{} items in both: {} BETTER, {} WORSE, {} SAME, {} UNSURE; same winner or SAME: {} %\n",
                      comparison.changes.size(), comparison.count(Verdict::better), comparison.count(Verdict::worse),
                      comparison.count(Verdict::same), comparison.count(Verdict::unsure),
                      percent(comparison.agreement(), 1));
  if (!comparison.only_before.empty()) {
    text += fmt::format("only before: {}\n", fmt::join(comparison.only_before, ", "));
  }
  if (!comparison.only_after.empty()) {
    text += fmt::format("only after: {}\n", fmt::join(comparison.only_after, ", "));
  }
  return text;
}

std::string to_json(const JournalComparison& comparison) {
  const auto number = [](const std::optional<double>& value) {
    return value ? nlohmann::json(*value) : nlohmann::json(nullptr);
  };
  nlohmann::json items = nlohmann::json::array();
  for (const ItemChange& change : comparison.changes) {
    items.push_back(
        {{"item", label(change.after)},
         {"device", print(change.after.item.device)},
         {"before", {{"winner", change.before.winner}, {"microseconds", number(change.before.microseconds)}}},
         {"after", {{"winner", change.after.winner}, {"microseconds", number(change.after.microseconds)}}},
         {"ratio", change.ratio},
         {"noise", change.noise},
         {"same_winner", change.same_winner},
         {"verdict", print(change.verdict)}});
  }
  return json_result("comparison", comparison.count(Verdict::worse) > 0 ? "failed" : "passed",
                     {{"items", items},
                      {"only_before", comparison.only_before},
                      {"only_after", comparison.only_after},
                      {"better", comparison.count(Verdict::better)},
                      {"worse", comparison.count(Verdict::worse)},
                      {"same", comparison.count(Verdict::same)},
                      {"unsure", comparison.count(Verdict::unsure)},
                      {"agreement", number(comparison.agreement())}});
}

}  // namespace esc::tuning

// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/summary_json.h"

#include <nlohmann/json.hpp>

#include "generator/support/json_result.h"

namespace esc::tuning {
namespace {

nlohmann::json number(const std::optional<double>& value) {
  return value ? nlohmann::json(*value) : nlohmann::json(nullptr);
}

/// As records call the libraries, of which one multiplies in the layer's own type.
std::string key_name(Rival rival, const std::string& dtype) {
  switch (rival) {
    case Rival::best_exact:
      return "best_exact";
    case Rival::cublas_fp32:
      return dtype == "f32" ? "cublas-fp32" : "cublas-" + dtype;
    case Rival::cublas_tf32:
      return "cublas-tf32";
    case Rival::cusparse:
      break;
  }
  return "cusparse";
}

/// Of layers of tf32 the library of their own type is the one of TF32.
bool is_named_already(Rival rival, const std::string& dtype) { return rival == Rival::cublas_tf32 && dtype == "tf32"; }

nlohmann::json setting_json(const Setting& setting) {
  return {{"device", print(setting.device)},
          {"dtype", setting.dtype},
          {"cache", print(setting.cache)},
          {"layout", setting.layout}};
}

nlohmann::json item_json(const ItemSummary& item) {
  const LayerFacts& layer = item.item.layer;
  nlohmann::json result = setting_json(setting_of(item));
  result.update({{"name", item.name},
                 {"pattern", layer.pattern},
                 {"rows", layer.rows},
                 {"columns", layer.columns},
                 {"nonzeros", layer.nonzeros},
                 {"bcol", item.item.bcol},
                 {"winner", item.winner},
                 {"microseconds", number(item.microseconds)},
                 {"spread", item.spread},
                 {"incumbent", item.verdict ? nlohmann::json(item.incumbent) : nlohmann::json(nullptr)},
                 {"verdict", item.verdict ? nlohmann::json(print(*item.verdict)) : nlohmann::json(nullptr)}});
  set_renamed(result, "pdl_microseconds", "chain_microseconds", number(item.chain_microseconds));
  nlohmann::json libraries;
  for (const Rival rival : every_rival) {
    if (!is_named_already(rival, item.item.dtype)) {
      libraries[key_name(rival, item.item.dtype)] = {{"microseconds", number(time_of(item, rival))},
                                                     {"speed_up", number(speed_up(item, rival))}};
    }
  }
  set_renamed(result, "results_by_library", "rivals", libraries);
  return result;
}

nlohmann::json comparison_json(const Comparison& comparison) {
  return {{"layers", comparison.layers},
          {"geometric_mean", number(comparison.geometric_mean)},
          {"faster", number(comparison.faster)}};
}

nlohmann::json group_json(const GroupSummary& group) {
  nlohmann::json result = setting_json(group.setting);
  result.update({{"bcol", group.bcol},
                 {"layers", group.items.size()},
                 {"right", group.right},
                 {"microseconds", number(group.microseconds)}});
  nlohmann::json stream_ordered;
  nlohmann::json pdl;
  for (const Rival rival : every_rival) {
    if (!is_named_already(rival, group.setting.dtype)) {
      const std::string key = key_name(rival, group.setting.dtype);
      stream_ordered[key] = comparison_json(group.plain.at(rival));
      pdl[key] = comparison_json(group.chain.at(rival));
    }
  }
  set_renamed(result, "stream_ordered_by_library", "plain", stream_ordered);
  set_renamed(result, "pdl_by_library", "chain", pdl);
  nlohmann::json verdicts = nlohmann::json::object();
  for (const auto& [verdict, count] : group.verdicts) {
    verdicts[print(verdict)] = count;
  }
  set_renamed(result, "items_by_verdict", "verdicts", verdicts);
  return result;
}

/// Schedules that were tried, by their text.
nlohmann::json candidates_json(const ItemResults& results) {
  nlohmann::json candidates = nlohmann::json::array();
  for (const auto& [schedule, result] : results.search) {
    candidates.push_back({{"schedule", schedule},
                          {"outcome", print(result.outcome)},
                          {"microseconds", number(results.time_of(schedule))},
                          {"detail", result.detail}});
  }
  return candidates;
}

nlohmann::json measured_items(const std::vector<ItemSummary>& summaries, const std::map<ItemKey, ItemResults>& items) {
  nlohmann::json rows = nlohmann::json::array();
  std::map<std::string, std::size_t> outcomes;
  for (const ItemSummary& item : summaries) {
    rows.push_back(item_json(item));
    const ItemResults& results = items.at(key_of(item.item));
    for (const auto* kind : {&results.search, &results.final, &results.chain, &results.peers}) {
      for (const auto& [candidate, result] : *kind) {
        ++outcomes[print(result.outcome)];
      }
    }
  }
  nlohmann::json groups = nlohmann::json::array();
  for (const GroupSummary& one : group(summaries)) {
    groups.push_back(group_json(one));
  }
  nlohmann::json result{{"items", rows}, {"summary", groups}};
  set_renamed(result, "candidates_by_outcome", "outcomes", outcomes);
  return result;
}

constexpr const char* kind = "measured items";

}  // namespace

std::string to_json(const std::vector<ItemSummary>& summaries, const std::map<ItemKey, ItemResults>& items,
                    const std::string& status) {
  return json_result(kind, status, measured_items(summaries, items));
}

std::string layer_json(const ItemResults& results, const std::string& status) {
  const std::map<ItemKey, ItemResults> items{{key_of(results.item), results}};
  nlohmann::json result = measured_items(summarise(items), items);
  result.at("items").at(0)["candidates"] = candidates_json(results);
  return json_result(kind, status, result);
}

}  // namespace esc::tuning

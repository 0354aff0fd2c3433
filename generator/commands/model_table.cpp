// SPDX-License-Identifier: Apache-2.0
#include "generator/commands/model_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>

#include "generator/commands/expected_speed.h"
#include "generator/commands/layer_rows.h"
#include "generator/commands/weighted_times.h"
#include "generator/emit/measured_json.h"
#include "generator/emit/model_speed.h"
#include "generator/support/page_text.h"

namespace esc {
namespace {

/// Schedules by letters: "A", .., "Z", "AA", .. in the order in which they are asked for.
class ScheduleLetters {
 public:
  const std::string& letter_of(const std::string& schedule) {
    const auto found = std::ranges::find(schedules_, schedule, &std::pair<std::string, std::string>::first);
    return found != schedules_.end() ? found->second : schedules_.emplace_back(schedule, next()).second;
  }
  const std::vector<std::pair<std::string, std::string>>& all() const { return schedules_; }

 private:
  std::string next() const {
    std::string letter;
    for (std::size_t rest = schedules_.size() + 1; rest > 0; rest = (rest - 1) / 26) {
      letter.insert(letter.begin(), static_cast<char>('A' + (rest - 1) % 26));
    }
    return letter;
  }

  std::vector<std::pair<std::string, std::string>> schedules_;
};

ExpectedSpeed speed_of(const ModelRow& row, const ModelVariant& variant) {
  return expected_speed({.measured = variant.measured,
                         .not_measured = variant.not_measured,
                         .beside_dense = variant.beside_dense,
                         .packed_bytes = static_cast<double>(row.layer.packed_bytes(variant.bcol)),
                         .dense_bytes = row.dense_bytes});
}

/// The kernel that GPUs of this capability take: of those that are made for it or an earlier one the last.
const ModelVariant* variant_for(const ModelLayer& layer, std::int64_t bcol, int capability) {
  const ModelVariant* taken = nullptr;
  for (const ModelVariant& variant : layer.variants) {
    if (variant.bcol == bcol && variant.capability <= capability) {
      taken = &variant;
    }
  }
  return taken;
}

/// By capability; the numbers of columns that exceptions alone have do not count.
std::map<int, WeightedTimes> weighted_times(const std::vector<ModelRow>& rows, const std::vector<TokenCount>& counts) {
  std::map<int, WeightedTimes> all;
  for (const ModelRow& row : rows) {
    for (const ModelVariant& variant : row.layer.variants) {
      all.try_emplace(variant.capability);
    }
  }
  for (auto& [capability, times] : all) {
    for (const ModelRow& row : rows) {
      for (const TokenCount& count : counts) {
        if (const ModelVariant* const variant = variant_for(row.layer, count.columns, capability)) {
          times.add(speed_of(row, *variant), count.weight);
        }
      }
    }
  }
  return all;
}

/// "1: ~1.42 x, 16: <2.0 x", with the capability before it where there are several, and the letters of the schedules
/// where these are asked for.
std::string kernels_text(const ModelRow& row, ScheduleLetters* letters) {
  const bool several = has_several_capabilities(row.layer);
  std::string text;
  int capability = 0;
  for (const ModelVariant& variant : row.layer.variants) {
    text += text.empty() ? "" : ", ";
    if (several && variant.capability != capability) {
      text += fmt::format("sm_{} ", variant.capability);
      capability = variant.capability;
    }
    text += fmt::format("{}: {}", variant.bcol, speed_cell(speed_of(row, variant)));
    text += letters != nullptr ? fmt::format(" ({})", letters->letter_of(variant.schedule)) : "";
  }
  return text;
}

/// What users should know of the schedules, each sentence once, with the kernels that it is said of.
std::string notes_text(const std::vector<ModelRow>& rows) {
  constexpr std::size_t most = 6;
  std::vector<std::pair<std::string, int>> notes;
  for (const ModelRow& row : rows) {
    for (const ModelVariant& variant : row.layer.variants) {
      for (const std::string& note : variant.notes) {
        const auto found = std::ranges::find(notes, note, &std::pair<std::string, int>::first);
        found == notes.end() ? void(notes.emplace_back(note, 1)) : void(++found->second);
      }
    }
  }
  std::ranges::stable_sort(notes, std::greater(), &std::pair<std::string, int>::second);
  std::string text;
  for (const auto& [note, kernels] : std::span(notes).first(std::min(most, notes.size()))) {
    text += labelled("note", fmt::format("{} ({} {})", note, kernels, kernels == 1 ? "kernel" : "kernels"));
  }
  return text +
         (notes.size() > most ? labelled("note", fmt::format("{} more: --json has all", notes.size() - most)) : "");
}

nlohmann::json to_json(const ModelRow& row, const std::vector<TokenCount>& counts) {
  nlohmann::json entry{{"name", row.name}, {"shape", row.shape}};
  if (row.sparsity >= 0) {
    entry["sparsity"] = row.sparsity;
  }
  if (row.outcome != ModelRow::Outcome::made) {
    entry[row.outcome == ModelRow::Outcome::failed ? "failed" : "left_out"] = row.reason;
    return entry;
  }
  entry["rows"] = row.layer.rows;
  entry["columns"] = row.layer.columns;
  entry["packed_bytes"] = row.layer.packed_bytes();
  entry["dense_bytes"] = std::llround(row.dense_bytes);
  entry["kept"] = row.kept;
  for (const ModelVariant& variant : row.layer.variants) {
    entry["kernels"].push_back({{"bcol", variant.bcol},
                                {"capability", variant.capability},
                                {"kernel", variant.kernel},
                                {"schedule", variant.schedule},
                                {"speed", speed_json(speed_of(row, variant))}});
    if (const std::optional<double> weight = weight_of(variant.bcol, counts); weight && is_weighted(counts)) {
      entry["kernels"].back()["weight"] = *weight;
    }
    if (variant.measured) {
      entry["kernels"].back()["measured"] = measured_json(*variant.measured);
    } else if (!variant.not_measured.empty()) {
      entry["kernels"].back()["not_measured"] = variant.not_measured;
    }
    if (!variant.notes.empty()) {
      entry["kernels"].back()["notes"] = variant.notes;
    }
  }
  return entry;
}

/// What kernels are predicted to take of which nothing was measured, for each device and number of columns.
std::string predicted_lines(const std::vector<ModelRow>& rows) {
  std::map<std::pair<std::string, std::int64_t>, WeightedTimes> sums;
  for (const ModelRow& row : rows) {
    for (const ModelVariant& variant : row.layer.variants) {
      if (const ExpectedSpeed speed = speed_of(row, variant); speed.source == ExpectedSpeed::Source::model) {
        sums[{speed.device, variant.bcol}].add(speed, 1);
      }
    }
  }
  std::string text;
  for (const auto& [key, sum] : sums) {
    text += labelled(
        "predicted",
        fmt::format("N = {}: about {:.1f} us in place of {:.1f} dense, {} {}, by a model of the {}", key.second,
                    sum.ours, sum.library, sum.known, sum.known == 1 ? "layer" : "layers", key.first));
  }
  return text;
}

}  // namespace

std::string model_speeds(const std::vector<ModelRow>& rows, const std::vector<TokenCount>& counts) {
  ModelSpeed sums;
  for (const ModelRow& row : rows) {
    add_expected_times(sums, row.layer);
  }
  std::string text;
  for (const auto& [key, sum] : sums) {
    text += labelled("speed", fmt::format("N = {}: about {:.1f} us in place of {:.1f} with the faster of cuBLAS and "
                                          "cuSPARSE for each, {} {} like measured ones on one {}",
                                          key.second, sum.ours, sum.library, sum.layers,
                                          sum.layers == 1 ? "layer" : "layers", key.first));
  }
  text += text.empty() ? labelled("speed", "not measured with layers like these") : "";
  text += predicted_lines(rows);
  if (is_weighted(counts)) {
    const std::map<int, WeightedTimes> all = weighted_times(rows, counts);
    for (const auto& [capability, times] : all) {
      text += weighted_line(counts, times, all.size() > 1 ? fmt::format("sm_{}, ", capability) : "");
    }
  }
  return text;
}

std::string model_table(const std::vector<ModelRow>& rows, bool with_schedules) {
  LayerRows places;
  for (const ModelRow& row : rows) {
    places.expect(row.name, row.shape);
  }
  ScheduleLetters letters;
  const auto figures = [](const std::string& zeros, const std::string& ratio) {
    return fmt::format("{:>7}  {:>8}  ", zeros, ratio);
  };
  std::string text = places.row("layer", "shape", figures("% zeros", "of dense"), "N: speed");
  for (const ModelRow& row : rows) {
    const std::string zeros = row.sparsity < 0 ? "-" : fmt::format("{:.2f}", 100 * row.sparsity);
    if (row.outcome == ModelRow::Outcome::made) {
      const double ratio = static_cast<double>(row.layer.packed_bytes()) / row.dense_bytes;
      text += places.row(row.name, row.shape, figures(zeros, fmt::format("{:.2f}", ratio)),
                         kernels_text(row, with_schedules ? &letters : nullptr));
    } else {
      text += places.row(row.name, row.shape, figures(zeros, "-"),
                         (row.outcome == ModelRow::Outcome::failed ? "failed: " : "") + row.reason);
    }
  }
  text += labelled("speed", speed_legend());
  for (const auto& [schedule, letter] : letters.all()) {
    text += labelled("schedule", fmt::format("{}  {}", letter, schedule));
  }
  return text + notes_text(rows);
}

nlohmann::json model_table_json(const std::vector<ModelRow>& rows, const std::vector<TokenCount>& counts) {
  nlohmann::json entries = nlohmann::json::array();
  std::ranges::transform(rows, std::back_inserter(entries), [&](const ModelRow& row) { return to_json(row, counts); });
  return entries;
}

nlohmann::json weighted_totals_json(const std::vector<ModelRow>& rows, const std::vector<TokenCount>& counts) {
  nlohmann::json totals = nlohmann::json::array();
  for (const auto& [capability, times] : weighted_times(rows, counts)) {
    totals.push_back(weighted_json(times));
    totals.back()["capability"] = capability;
  }
  return totals;
}

}  // namespace esc

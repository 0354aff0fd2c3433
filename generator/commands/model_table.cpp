// SPDX-License-Identifier: Apache-2.0
#include "generator/commands/model_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>

#include "generator/emit/measured_json.h"
#include "generator/emit/model_speed.h"
#include "generator/support/plain_text.h"

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

/// "1:A 16:A(1.42 x) 64:B", with the speed over libraries where that was measured, and the capability in front where
/// there are several.
std::string kernels_text(const ModelLayer& layer, ScheduleLetters& letters) {
  const bool several = has_several_capabilities(layer);
  std::string text;
  int capability = 0;
  for (const ModelVariant& variant : layer.variants) {
    text += text.empty() ? "" : " ";
    if (several && variant.capability != capability) {
      text += fmt::format("sm_{} ", variant.capability);
      capability = variant.capability;
    }
    text += fmt::format("{}:{}", variant.bcol, letters.letter_of(variant.schedule));
    text += variant.measured ? fmt::format("({:.2f} x)", *variant.measured->over_exact) : "";
  }
  return text;
}

std::string outcome_text(const ModelRow& row, ScheduleLetters& letters) {
  switch (row.outcome) {
    case ModelRow::Outcome::made:
      return fmt::format("{:>12}  {:>8.2f}  {}", row.layer.packed_bytes(),
                         static_cast<double>(row.layer.packed_bytes()) / row.dense_bytes,
                         kernels_text(row.layer, letters));
    case ModelRow::Outcome::left_out:
      return fmt::format("{:>12}  {:>8}  {}", "-", "-", row.reason);
    case ModelRow::Outcome::failed:
      break;
  }
  return fmt::format("{:>12}  {:>8}  failed: {}", "-", "-", row.reason);
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
    text += fmt::format("note       {} ({} {})\n", note, kernels, kernels == 1 ? "kernel" : "kernels");
  }
  return text + (notes.size() > most ? fmt::format("note       {} more: --json has all\n", notes.size() - most) : "");
}

/// What the layers of which that is known are expected to take, a line for each device and bCol.
std::string speeds_text(const std::vector<ModelRow>& rows) {
  ModelSpeed sums;
  for (const ModelRow& row : rows) {
    add_expected_times(sums, row.layer);
  }
  std::string text;
  for (const auto& [key, sum] : sums) {
    text += fmt::format(
        "speed      one {}, bCol {}: {} {} like measured ones, about {:.1f} us in place of {:.1f} with the faster one "
        "of cuBLAS and cuSPARSE for each\n",
        key.first, key.second, sum.layers, sum.layers == 1 ? "layer" : "layers", sum.ours, sum.library);
  }
  return text;
}

nlohmann::json to_json(const ModelRow& row) {
  nlohmann::json entry{{"name", row.name}, {"shape", row.shape}};
  if (row.sparsity >= 0) {
    entry["sparsity"] = row.sparsity;
  }
  if (row.outcome != ModelRow::Outcome::made) {
    entry[row.outcome == ModelRow::Outcome::failed ? "failed" : "left_out"] = row.reason;
    return entry;
  }
  entry["packed_bytes"] = row.layer.packed_bytes();
  entry["dense_bytes"] = std::llround(row.dense_bytes);
  entry["kept"] = row.kept;
  for (const ModelVariant& variant : row.layer.variants) {
    entry["kernels"].push_back({{"bcol", variant.bcol},
                                {"capability", variant.capability},
                                {"kernel", variant.kernel},
                                {"schedule", variant.schedule}});
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

}  // namespace

std::string model_table(const std::vector<ModelRow>& rows) {
  std::size_t name_width = 5;
  std::size_t shape_width = 5;
  for (const ModelRow& row : rows) {
    name_width = std::max(name_width, plain_text(row.name).size());
    shape_width = std::max(shape_width, row.shape.size());
  }
  ScheduleLetters letters;
  std::string text = fmt::format("{:<{}}  {:<{}}  {:>7}  {:>12}  {:>8}  {}\n", "layer", name_width, "shape",
                                 shape_width, "% zeros", "packed bytes", "of dense", "bCol:schedule(over a library)");
  for (const ModelRow& row : rows) {
    text += fmt::format("{:<{}}  {:<{}}  {:>7}  {}\n", plain_text(row.name), name_width, row.shape, shape_width,
                        row.sparsity < 0 ? "-" : fmt::format("{:.2f}", 100 * row.sparsity), outcome_text(row, letters));
  }
  for (const auto& [schedule, letter] : letters.all()) {
    text += fmt::format("schedule {}  {}\n", letter, schedule);
  }
  return text + notes_text(rows) + speeds_text(rows);
}

nlohmann::json model_table_json(const std::vector<ModelRow>& rows) {
  nlohmann::json entries = nlohmann::json::array();
  std::ranges::transform(rows, std::back_inserter(entries), [](const ModelRow& row) { return to_json(row); });
  return entries;
}

}  // namespace esc

// SPDX-License-Identifier: Apache-2.0
#include "generator/commands/choice_within.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "generator/commands/layer_ranking.h"

namespace esc {
namespace {

/// Largest packed matrix that auto takes, over CSR, where a schedule after it in rank packs smaller.
const PackedLimit most_packed{2.0, PackedLimit::Of::csr};

std::string within_note(std::size_t rank, const PackedLimit& limit) {
  return fmt::format(", number {} in rank, the first {}", rank + 1, limit.within());
}

/// Whether it takes so few bytes that nobody minds what is zero of them.
bool fills_nothing(const LayerTask& task, const ScheduleChoice& choice) {
  try {
    return packed_bytes(task, choice) <= unlimited_bytes(task.shape);
  } catch (const UnsuitableSchedule&) {
    return false;  // said by whoever falls back from it
  }
}

}  // namespace

std::optional<RankedSize> find_within(const LayerTask& task, const std::vector<ScheduleChoice>& ranking,
                                      const PackedLimit& limit) {
  std::optional<RankedSize> smallest;
  for (std::size_t rank = 0; rank < ranking.size(); ++rank) {
    try {
      const double ratio = limit.ratio_of(packed_bytes(task, ranking[rank]), task.matrix);
      const RankedSize size{rank, ratio, smallest.has_value()};
      if (size.ratio <= limit.ratio()) {
        return size;
      }
      if (!smallest || size.ratio < smallest->ratio) {
        smallest = size;
      }
    } catch (const UnsuitableSchedule&) {
      continue;  // said by whoever falls back from it
    }
  }
  return smallest;
}

void check_packed(const LayerTask& task, const ScheduleChoice& choice, const PackedLimit& limit) {
  if (const double ratio = limit.ratio_of(packed_bytes(task, choice), task.matrix); ratio > limit.ratio()) {
    throw UserError("--max-packed " + limit.text(),
                    fmt::format("{} packs {} into {}", text_of(choice), task.request.name, limit.describe(ratio)),
                    fmt::format("leave the schedule to auto, or allow {}", limit.allowance_for(ratio)));
  }
}

ScheduleChoice choose_within(const LayerTask& task, std::vector<ScheduleChoice> ranking, const PackedLimit& limit) {
  ranking.push_back(last_resort(task));
  const std::optional<RankedSize> found = find_within(task, ranking, limit);
  ESC_CHECK(found, "what auto falls back to takes every matrix");
  ScheduleChoice& choice = ranking[found->rank];
  if (found->ratio > limit.ratio()) {
    throw UserError(
        "--max-packed " + limit.text(),
        fmt::format("no schedule that is known for such layers packs {} so small: the smallest, {}, takes {}",
                    task.request.name, print(choice.schedule), limit.describe(found->ratio)),
        fmt::format("allow {}, or try other schedules with --schedule", limit.allowance_for(found->ratio)));
  }
  choice.source += within_note(found->rank, limit);
  return choice;
}

void prefer_compact(const LayerTask& task, std::vector<ScheduleChoice>& ranking) {
  if (ranking.front().is_own || fills_nothing(task, ranking.front())) {
    return;
  }
  const std::optional<RankedSize> found = find_within(task, ranking, most_packed);
  if (found && found->ratio <= most_packed.ratio() && found->is_behind_larger) {
    const auto choice = ranking.begin() + static_cast<std::ptrdiff_t>(found->rank);
    choice->source += within_note(found->rank, most_packed);
    std::rotate(ranking.begin(), choice, choice + 1);
  }
}

bool is_within(const LayerTask& task, const ScheduleChoice& choice, const PackedLimit& limit) {
  return limit.ratio_of(packed_bytes(task, choice), task.matrix) <= limit.ratio();
}

bool is_small_enough(const LayerTask& task, const ScheduleChoice& choice, const GenerateMode& mode) {
  return mode.max_packed ? is_within(task, choice, *mode.max_packed)
                         : choice.is_own || packed_bytes(task, choice) <= unlimited_bytes(task.shape) ||
                               is_within(task, choice, most_packed);
}

}  // namespace esc

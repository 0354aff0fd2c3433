// SPDX-License-Identifier: Apache-2.0
#include "generator/schedule/one_column_streams.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "generator/schedule/streamed_size.h"

namespace esc {
namespace {

bool can_have_one_column(const StreamSchedule& schedule) {
  return !schedule.has_one_column() && schedule.dense == StreamSchedule::Dense::off && schedule.share == 1 && schedule.cluster == 1;
}

}  // namespace

std::vector<ScheduleChoice> with_one_column(std::vector<ScheduleChoice> choices, const LayerShape& shape) {
  if (stream_columns(shape) != 1) {
    return choices;
  }
  std::vector<ScheduleChoice> result;
  for (ScheduleChoice& choice : choices) {
    if (auto* const stream = std::get_if<StreamSchedule>(&choice.schedule); stream != nullptr && can_have_one_column(*stream)) {
      stream->columns = 1;
      choice.source += "; for one column by itself by rule";
      choice.notes.clear();  // which are of 8 columns, as the ratios are
      choice.measured.reset();
    }
    if (std::ranges::find(result, choice.schedule, &ScheduleChoice::schedule) == result.end()) {
      result.push_back(std::move(choice));
    }
  }
  return result;
}

}  // namespace esc

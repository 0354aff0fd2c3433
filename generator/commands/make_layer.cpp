// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "generator/commands/choice_notes.h"
#include "generator/commands/choice_within.h"
#include "generator/commands/input.h"
#include "generator/commands/layer_ranking.h"
#include "generator/commands/layer_task.h"
#include "generator/schedule/packed_form.h"

namespace esc {
namespace {

/// The layer by the first schedule of the ranking that the matrix allows, after all of them what auto falls back to.
GeneratedLayer generate_first_suitable(const LayerTask& task, std::vector<ScheduleChoice> ranking) {
  ranking.push_back(last_resort(task));
  const std::string first = text_of(ranking.front());
  for (std::size_t rank = 0; rank < ranking.size(); ++rank) {
    ScheduleChoice choice = with_notes(ranking[rank], task);
    if (rank > 0) {
      choice.source += fmt::format(", number {} in rank, because {} is illegal for this matrix", rank + 1, first);
    }
    try {
      return generate_with(task, choice);
    } catch (const UnsuitableSchedule&) {
      continue;  // the next best one
    }
  }
  throw Defect(__FILE__, __LINE__, "a suitable schedule", "what auto falls back to takes every matrix");
}

/// What auto chooses.
GeneratedLayer generate_automatically(const LayerTask& task, const GenerateMode& mode) {
  std::vector<ScheduleChoice> ranking = ranking_of(task, mode);
  if (mode.max_packed) {
    ranking = {choose_within(task, std::move(ranking), *mode.max_packed)};
  } else {
    prefer_compact(task, ranking);
  }
  return generate_first_suitable(task, std::move(ranking));
}

/// The first of the ranking that the matrix allows and `accepts` takes, at most so many. Schedules of one form pack the
/// matrix into the same bytes, so that one that was refused stands for all of its form.
std::vector<Schedule> first_accepted(const std::vector<ScheduleChoice>& ranking, std::size_t most,
                                     const std::function<bool(const ScheduleChoice&)>& accepts) {
  std::vector<Schedule> first;
  std::set<std::string> refused_forms;
  for (const ScheduleChoice& choice : ranking) {
    if (first.size() == most) {
      break;
    }
    const std::string form = packed_form(choice.schedule);
    if (refused_forms.contains(form)) {
      continue;
    }
    try {
      if (accepts(choice)) {
        first.push_back(choice.schedule);
      } else {
        refused_forms.insert(form);
      }
    } catch (const UnsuitableSchedule&) {
      continue;
    }
  }
  return first;
}

/// A schedule that was measured, as the ranking has it, with what it knows of it: or by its text, where it was measured
/// of another layer and is not in this one's.
ScheduleChoice measured_choice(const std::vector<ScheduleChoice>& ranking, const std::string& schedule) {
  const auto found =
      std::ranges::find_if(ranking, [&](const ScheduleChoice& choice) { return text_of(choice) == schedule; });
  return found != ranking.end() ? *found : parse_choice(schedule, "");
}

/// "measured: the fastest of 8 candidates on one NVIDIA H200 (sm90-132sm-60mib), cold, 2.31 us".
std::string measured_source(const LayerTask& task, std::size_t place, const MeasuredCandidate& taken) {
  const TuningRecord& record = *task.request.tuning;
  return fmt::format("measured: {} of {} candidates on one {} ({}), {}, {:.2f} us{}",
                     place == 0 ? "the fastest" : fmt::format("number {}", place + 1), record.candidates.size(),
                     record.device_name, print(record.device), record.cache, taken.microseconds,
                     record.layer == printable_file_name(task.request.matrix) ? "" : ", with " + record.layer);
}

/// The layer by the fastest of the measured schedules that the matrix allows; absent where it allows none.
std::optional<GeneratedLayer> generate_measured(const LayerTask& task, const GenerateMode& mode) {
  const std::vector<ScheduleChoice> ranking = ranking_of(task, mode);
  const std::vector<MeasuredCandidate> fastest = task.request.tuning->fastest_first();
  for (std::size_t place = 0; place < fastest.size(); ++place) {
    ScheduleChoice choice = measured_choice(ranking, fastest[place].schedule);
    choice.source = measured_source(task, place, fastest[place]);
    choice = beside_dense(with_measurements(std::move(choice), task), task);
    try {
      if (!mode.max_packed || is_within(task, choice, *mode.max_packed)) {
        GeneratedLayer generated = generate_with(task, with_sharing_note(std::move(choice), task.request));
        generated.layer.tuning = *task.request.tuning;
        return generated;
      }
    } catch (const UnsuitableSchedule&) {
      continue;  // the next fastest one
    }
  }
  return std::nullopt;
}

/// Whether auto chooses the schedule.
bool chooses(const LayerRequest& request, const GenerateMode& mode) {
  return request.schedule == "auto" && mode.compaction;
}

/// The schedule that is asked for by name, for a layer of which the task has a part.
ScheduleChoice named_choice(const LayerTask& task, const LayerShape& layer, const GenerateMode& mode) {
  const std::string& schedule = task.request.schedule;
  ScheduleChoice choice = schedule == "bitmap"     ? with_measurements(bitmap_choice(task, layer), task)
                          : is_looked_up(schedule) ? published_schedule(task.columns.count)
                                                   : parse_choice(schedule, "user");
  if (!mode.compaction) {
    auto* atomic = std::get_if<AtomicSchedule>(&choice.schedule);
    if (atomic == nullptr || !choice.script.empty()) {
      throw ScheduleError(text_of(choice), "has no cases that compaction could leave apart",
                          "give --no-compaction with a schedule of family atomic");
    }
    atomic->compaction = false;
  }
  if (task.request.devices.empty()) {
    choice.notes.push_back(no_gpu_note());
  }
  return choice;
}

/// Rows from the middle of a matrix.
SparseMatrix middle_rows(const SparseMatrix& matrix, std::int64_t most) {
  const std::int64_t rows = std::min(matrix.rows, most);
  const auto first = matrix.offsets.begin() + (matrix.rows - rows) / 2;
  const auto last = first + rows;
  SparseMatrix part{.rows = rows,
                    .columns = matrix.columns,
                    .offsets = {first, last + 1},
                    .column_of = {matrix.column_of.begin() + *first, matrix.column_of.begin() + *last},
                    .values = {matrix.values.begin() + *first, matrix.values.begin() + *last},
                    .element = matrix.element};
  std::ranges::for_each(part.offsets, [begin = *first](std::int64_t& offset) { offset -= begin; });
  return part;
}

}  // namespace

PlannedLayer plan_layer(const LayerRequest& request, const GenerateMode& mode, const LoopNest& nest,
                        const SparseMatrix& matrix, std::shared_ptr<PackingCache> fragments) {
  const SparseMatrix part = middle_rows(matrix, planned_rows);
  const LayerTask sample(request, mode, nest, part, std::move(fragments));
  const auto bytes_by = [&](const ScheduleChoice& choice) {
    return packed_bytes(sample, choice) / static_cast<double>(csr_bytes(part)) * static_cast<double>(csr_bytes(matrix));
  };
  const LayerTask whole(request, mode, nest, matrix, nullptr);
  if (!chooses(request, mode)) {
    const ScheduleChoice choice = beside_dense(named_choice(sample, whole.shape, mode), whole);
    return {choice, bytes_by(choice)};
  }
  std::vector<ScheduleChoice> ranking = ranking_of(whole, mode);
  ranking.push_back(last_resort(whole));
  if (!mode.max_packed) {
    prefer_compact(sample, ranking);
  } else if (const std::optional<RankedSize> found = find_within(sample, ranking, *mode.max_packed)) {
    std::swap(ranking.front(), ranking[found->rank]);  // whether all rows are within it, the layer says
  }
  for (const ScheduleChoice& choice : ranking) {
    try {
      return {with_notes(choice, whole), bytes_by(choice)};
    } catch (const UnsuitableSchedule&) {
      continue;  // the next best one
    }
  }
  throw Defect(__FILE__, __LINE__, "a suitable schedule", "what auto falls back to takes every matrix");
}

std::vector<Schedule> first_usable_schedules(const LayerRequest& request, const GenerateMode& mode,
                                             const LoopNest& nest, const SparseMatrix& matrix,
                                             std::shared_ptr<PackingCache> fragments, std::size_t most) {
  const LayerTask task(request, mode, nest, matrix, std::move(fragments));
  std::vector<ScheduleChoice> ranking = ranking_of(task, mode);
  std::vector<Schedule> first =
      first_accepted(ranking, most, [&](const ScheduleChoice& choice) { return is_small_enough(task, choice, mode); });
  if (first.empty() && !mode.max_packed) {  // a nearly empty matrix, of which the header is most
    first = first_accepted(ranking, most, [&](const ScheduleChoice& choice) {
      packed_bytes(task, choice);  // which says whether the matrix allows it
      return true;
    });
  }
  if (!first.empty()) {
    return first;
  }
  const ScheduleChoice last =
      mode.max_packed ? choose_within(task, std::move(ranking), *mode.max_packed) : last_resort(task);
  return {last.schedule};
}

GeneratedLayer make_layer(const LayerRequest& request, const GenerateMode& mode, const LoopNest& nest,
                          const SparseMatrix& matrix, std::shared_ptr<PackingCache> fragments, const Console& console) {
  const LayerTask task(request, mode, nest, matrix, std::move(fragments));
  if (chooses(request, mode)) {
    if (is_shared(request)) {
      console.say(fmt::format("{}: {}", request.name, sharing_note(request)));
    }
    std::optional<GeneratedLayer> measured = request.tuning ? generate_measured(task, mode) : std::nullopt;
    return measured ? *std::move(measured) : generate_automatically(task, mode);
  }
  const ScheduleChoice choice = beside_dense(named_choice(task, task.shape, mode), task);
  if (mode.max_packed) {
    check_packed(task, choice, *mode.max_packed);
  }
  return generate_with(task, choice);
}

}  // namespace esc

// SPDX-License-Identifier: Apache-2.0
#include "generator/commands/layer_ranking.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <variant>

#include "generator/schedule/element_types.h"
#include "generator/schedule/packed_form.h"

namespace esc {
namespace {

/// The user's databases come before the shipped ones; of either the one whose device is the nearest to the one wanted.
std::vector<const ScheduleDatabase*> databases_for(const LayerShape& shape, const LayerRequest& request,
                                                   const GenerateMode& mode) {
  std::set<DeviceKey> devices;
  for (const ScheduleDatabase& database : mode.own.databases) {
    devices.insert(database.head().key);
  }
  if (devices.size() > 1 && request.devices.empty()) {
    throw UserError("--database",
                    fmt::format("has the databases of {} devices, and no device is named", devices.size()),
                    "name it with --gpu, or give the file of one");
  }
  return databases_for(shape, wanted_device(request).key, {&mode.own.databases, &shipped_databases()});
}

/// Where the nest has an epilogue, without the family whose blocks share rows and, where columns are apart, without
/// what would cut rows.
std::vector<ScheduleChoice> usable(std::vector<ScheduleChoice> ranking, const LayerTask& task) {
  if (task.nest.finishes_sums()) {
    const bool cuts_rows = !task.columns.are_contiguous && task.matrix.longest_row() > RowsSchedule::max_task;
    std::erase_if(ranking, [&](const ScheduleChoice& choice) {
      return std::holds_alternative<AtomicSchedule>(choice.schedule) ||
             (cuts_rows && std::holds_alternative<RowsSchedule>(choice.schedule));
    });
  }
  return ranking;
}

/// What auto may choose for a layer, of this form where there is one, the best first.
std::vector<ScheduleChoice> expected_schedules(const LayerShape& layer,
                                               std::span<const ScheduleDatabase* const> databases,
                                               const LayerTask& task, const std::string& form) {
  const KernelTarget target = target_of(task.request);
  return ranked_schedules(layer, databases, target, task.catalog.model(target.device), {}, form);
}

/// In 16 bits a bitmap is the smallest of all: after what is faster it is there for those who limit bytes.
void add_bitmap(const LayerTask& task, std::vector<ScheduleChoice>& ranking) {
  const std::vector<int> architectures = architectures_for(task.request);
  if (!can_use_bitmap(name_of(task.matrix.element)) ||
      std::ranges::min(architectures) < BitmapSchedule::least_architecture) {
    return;
  }
  try {
    ranking.push_back(bitmap_choice(task, task.shape));
  } catch (const UnsuitableSchedule&) {
    return;  // what else there is is said to be too large
  }
}

}  // namespace

ScheduleChoice last_resort(const LayerTask& task) {
  return task.nest.finishes_sums() ? whole_rows_schedule(task.columns.count, task.matrix.longest_row())
                                   : uneven_rows_schedule(task.columns.count);
}

ScheduleChoice bitmap_choice(const LayerTask& task, const LayerShape& layer) {
  const std::string name = "--schedule bitmap";
  if (!can_use_bitmap(name_of(task.matrix.element))) {
    throw UserError(
        name, fmt::format("packs elements of 16 bits, and {} has {}", task.request.name, name_of(task.matrix.element)),
        "choose --dtype f16 or bf16, or leave the schedule to auto");
  }
  std::optional<UnsuitableSchedule> refused;
  const std::string form = packed_form(BitmapSchedule{});
  for (const ScheduleChoice& choice : expected_schedules(layer, {}, task, form)) {
    try {
      planned_bytes(task.matrix, task.nest, options_of(task, choice));
      return choice;
    } catch (const UnsuitableSchedule& why) {
      refused = why;
    }
  }
  throw refused ? *refused
                : UnsuitableSchedule(name, "no block of the family has room for this matrix in shared memory",
                                     "leave the schedule to auto");
}

std::vector<ScheduleChoice> ranking_of(const LayerTask& task, const GenerateMode& mode) {
  const LayerShape& shape = task.shape;
  const std::vector<const ScheduleDatabase*> databases = databases_for(shape, task.request, mode);
  std::vector<ScheduleChoice> ranking = usable(expected_schedules(shape, databases, task, task.request.form), task);
  if (mode.max_packed) {
    add_bitmap(task, ranking);
  }
  const bool asks_given = std::ranges::any_of(mode.own.databases, [&](const ScheduleDatabase& given) {
    return std::ranges::find(databases, &given) != databases.end();
  });
  const std::vector<std::string> types = types_like(shape.dtype);
  const bool knows_type = std::ranges::any_of(mode.own.databases, [&](const ScheduleDatabase& given) {
    return std::ranges::find(types, given.head().dtype) != types.end();
  });
  for (ScheduleChoice& choice : ranking) {
    if (!mode.own.databases.empty() && !asks_given) {
      choice.notes.push_back(knows_type ? fmt::format("--database knows nothing of layout {}", shape.layout)
                                        : fmt::format("--database has no measurements that hold for {}", shape.dtype));
    }
    if (choice.database && choice.database->layout != shape.layout) {
      choice.notes.push_back(fmt::format("no measurements of layout {}: the schedule is the one for {}", shape.layout,
                                         choice.database->layout));
    }
  }
  return ranking;
}

}  // namespace esc

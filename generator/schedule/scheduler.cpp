// SPDX-License-Identifier: Apache-2.0
#include "generator/schedule/scheduler.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <utility>

#include "generator/schedule/element_types.h"
#include "generator/schedule/fitted_schedule.h"
#include "generator/schedule/kernel_estimate.h"
#include "generator/schedule/packed_form.h"
#include "generator/schedule/search_space.h"
#include "generator/support/error.h"

namespace esc {
namespace {

/// What every matrix allows whose rows are not far too long for it.
ScheduleChoice family_default(const LayerShape& shape) {
  return follows_power_law(shape) ? uneven_rows_schedule(shape.bcol)
                                  : ScheduleChoice{fitted(PanelSchedule{}, shape.bcol), "default: of family panel"};
}

/// Whether random rows of this density would take more than twice the bytes of CSR, nearly all of them for explicit
/// zeros, and more than nobody minds.
bool wastes_memory(const Schedule& schedule, const LayerShape& shape) {
  const double csr_bytes = 4 + value_bytes(shape.dtype);
  const double most = 2 * csr_bytes * static_cast<double>(shape.nonzeros);
  return shape.nonzeros > 0 &&
         static_cast<double>(estimated_kernel(schedule, shape).packed_bytes) > std::max(unlimited_bytes(shape), most);
}

/// Choices in the order in which they are added, each schedule once.
class Ranking {
 public:
  void add(ScheduleChoice choice) {
    if (std::ranges::find(choices_, choice.schedule, &ScheduleChoice::schedule) == choices_.end()) {
      choices_.push_back(std::move(choice));
    }
  }
  void add(const std::vector<ScheduleChoice>& choices) {
    for (const ScheduleChoice& choice : choices) {
      add(choice);
    }
  }
  /// What fills memory with zeros comes last of what was added so far, but what the user has measured of the layer.
  void put_oversized_last(const LayerShape& shape) {
    std::ranges::stable_partition(
        choices_, [&](const ScheduleChoice& one) { return one.is_own || !wastes_memory(one.schedule, shape); });
  }
  std::vector<ScheduleChoice> choices() && { return std::move(choices_); }

 private:
  std::vector<ScheduleChoice> choices_;
};

/// Adds what the user has measured of the layer or close to it.
void add_own_measurements(Ranking& ranking, const LayerShape& shape, const std::vector<ClassAdvice>& advices) {
  for (const ClassAdvice& advice : advices) {
    const ScheduleDatabase& database = advice.database();
    if (database.is_shipped()) {
      continue;
    }
    if (const LayerEntry* const entry = database.layer(shape)) {
      ranking.add(choice_of(*entry, shape, database));
    }
    ranking.add(advice.choices());
  }
}

/// What of the layer's usual space packs a matrix so.
std::vector<Schedule> space_of_form(const LayerShape& shape, const std::string& form) {
  std::vector<Schedule> space;
  std::ranges::copy_if(usual_space(shape), std::back_inserter(space),
                       [&](const Schedule& schedule) { return packed_form(schedule) == form; });
  return space;
}

/// What is expected to be the fastest, with the evidence of databases that have measured just that nearby.
std::vector<ScheduleChoice> expected_schedules(const LayerShape& shape, const std::vector<ClassAdvice>& advices,
                                               const KernelTarget& target, const ScheduleModel& model,
                                               std::string_view left_out, const std::string& form) {
  std::vector<ScheduleChoice> choices;
  const std::vector<ExpectedSchedule> ranked = form.empty()
                                                   ? model.ranked(usual_space(shape), shape, target, left_out)
                                                   : model.ranked(space_of_form(shape, form), shape, target, left_out);
  for (const ExpectedSchedule& one : ranked) {
    choices.push_back({one.schedule, "model: expected to be the fastest"});
  }
  const auto add_evidence = [&](ScheduleChoice measured) {
    const auto found = std::ranges::find(choices, measured.schedule, &ScheduleChoice::schedule);
    if (found != choices.end() && !found->database) {
      *found = std::move(measured);
    }
  };
  for (const ClassAdvice& advice : advices) {
    if (const LayerEntry* const entry = advice.database().layer(shape)) {
      add_evidence(choice_of(*entry, shape, advice.database()));
    }
    std::ranges::for_each(advice.choices(), add_evidence);
  }
  return choices;
}

}  // namespace

double unlimited_bytes(const LayerShape& shape) {
  constexpr double small = 1 << 20;
  const double element = bytes_of_type(shape.dtype);
  return std::max({small, shape.elements() * element / 8,
                   static_cast<double>(shape.rows) * static_cast<double>(shape.bcol) * element});
}

ScheduleChoice uneven_rows_schedule(long long bcol) {
  const RowsSchedule schedule = bcol < 32
                                    ? RowsSchedule{.columns = widest_tile(bcol), .unroll = 4, .task = 512, .light = 16}
                                    : RowsSchedule{.columns = 32, .unroll = 4, .task = 256, .light = 64};
  return {fitted(schedule, bcol), "default: measured on power laws of row lengths on one NVIDIA H200"};
}

ScheduleChoice whole_rows_schedule(long long bcol, std::int64_t longest) {
  constexpr const char* source = "default: rows are not cut, for the epilogue";
  if (longest <= RowsSchedule::max_task) {
    const RowsSchedule schedule{
        .columns = std::min(32, widest_tile(bcol)), .unroll = 4, .task = RowsSchedule::max_task, .light = 64};
    return {fitted(schedule, bcol), source};
  }
  PanelSchedule schedule{
      .ufi = 1, .columns = std::min(32, widest_tile(bcol)), .vector = widest_vector(bcol), .warps = 16, .row_tiles = 1};
  const auto parts = [&] { return std::int64_t{schedule.warps} * schedule.warp_groups(); };
  while (schedule.columns > schedule.vector && parts() * PanelSchedule::max_group_columns < longest) {
    schedule.columns /= 2;
  }
  schedule.groups = schedule.warp_groups();
  return {fitted(schedule, bcol), source};
}

ScheduleChoice published_schedule(long long bcol) {
  const DefaultEntry* entry = published_database().default_for(bcol);
  ESC_CHECK(entry != nullptr, "the database of the A100 has the paper's schedules");
  return {entry->schedule,
          fmt::format("published: the paper's best single schedule on an A100 at bCol {}", entry->bcol)};
}

std::vector<ScheduleChoice> ranked_schedules(const LayerShape& shape,
                                             std::span<const ScheduleDatabase* const> databases,
                                             const KernelTarget& target, const ScheduleModel& model,
                                             std::string_view left_out, const std::string& form) {
  Ranking ranking;
  std::vector<ClassAdvice> advices;
  std::ranges::transform(databases, std::back_inserter(advices),
                         [&](const ScheduleDatabase* database) { return ClassAdvice(shape, *database); });
  add_own_measurements(ranking, shape, advices);
  ranking.add(expected_schedules(shape, advices, target, model, left_out, form));
  ranking.add(family_default(shape));
  ranking.put_oversized_last(shape);
  std::vector<ScheduleChoice> choices = std::move(ranking).choices();
  if (!form.empty()) {
    std::erase_if(choices, [&](const ScheduleChoice& choice) { return packed_form(choice.schedule) != form; });
  }
  return choices;
}

std::vector<ScheduleChoice> ranked_schedules(const LayerShape& shape,
                                             std::span<const ScheduleDatabase* const> databases,
                                             const KernelTarget& target, const std::string& form) {
  return ranked_schedules(shape, databases, target, shipped_model(target.device), {}, form);
}

namespace {

/// A database of a source, and how many element types and layouts are more like the layer's than its own.
struct NearestDatabase {
  const ScheduleDatabase* database = nullptr;
  std::size_t unlike = 0;
};

NearestDatabase nearest_in(const std::vector<ScheduleDatabase>& source, const LayerShape& shape,
                           const DeviceKey& device) {
  NearestDatabase nearest;
  for (const std::string& dtype : types_like(shape.dtype)) {
    for (const std::string& layout : {shape.layout, std::string("kn")}) {
      if (layout == shape.layout || shape.contiguous) {
        nearest.database = find_nearest(source, device, layout, dtype);
      }
      if (nearest.database != nullptr) {
        return nearest;
      }
      ++nearest.unlike;
    }
  }
  return nearest;
}

}  // namespace

std::vector<const ScheduleDatabase*> databases_for(const LayerShape& shape, const DeviceKey& device,
                                                   const std::vector<const std::vector<ScheduleDatabase>*>& sources) {
  std::vector<NearestDatabase> found;
  for (const std::vector<ScheduleDatabase>* const source : sources) {
    if (const NearestDatabase nearest = nearest_in(*source, shape, device); nearest.database != nullptr) {
      found.push_back(nearest);
    }
  }
  // A user who has measured one layer of another type or layout does not lose what this program knows.
  const auto least = std::ranges::min_element(found, {}, &NearestDatabase::unlike);
  std::vector<const ScheduleDatabase*> databases;
  for (const NearestDatabase& one : found) {
    if (one.unlike == least->unlike || one.database->is_shipped()) {
      databases.push_back(one.database);
    }
  }
  return databases;
}

namespace {

/// The first of a ranking, with what was measured of it where it is from.
ScheduleChoice first_of(std::vector<ScheduleChoice> ranking, const LayerShape& shape) {
  ScheduleChoice& first = ranking.front();
  const TargetDevice there =
      first.database ? TargetDevice{first.database->device, first.database->key} : TargetDevice{};
  const MeasuredCase wanted = case_of(first.schedule, shape, there);
  return settled(std::move(first), wanted);
}

}  // namespace

ScheduleChoice choose_schedule(const LayerShape& shape, const DeviceKey& device) {
  const std::vector<const ScheduleDatabase*> databases = databases_for(shape, device, {&shipped_databases()});
  return first_of(ranked_schedules(shape, databases, kernel_target(device, {})), shape);
}

ScheduleChoice choose_schedule(const LayerShape& shape, const ScheduleDatabase& database) {
  return first_of(ranked_schedules(shape, std::array{&database}), shape);
}

}  // namespace esc

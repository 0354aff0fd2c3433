// SPDX-License-Identifier: Apache-2.0
#include "generator/schedule/scheduler.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <iterator>

#include "generator/schedule/bitmap_schedules.h"
#include "generator/schedule/element_types.h"
#include "generator/schedule/fitted_schedule.h"
#include "generator/schedule/gathered_rows.h"
#include "generator/schedule/half_step_streams.h"
#include "generator/schedule/high_panel_streams.h"
#include "generator/schedule/lined_streams.h"
#include "generator/schedule/listed_streams.h"
#include "generator/schedule/one_column_streams.h"
#include "generator/schedule/quartered_streams.h"
#include "generator/schedule/sparse_panels.h"
#include "generator/schedule/spread_schedules.h"
#include "generator/schedule/streamed_schedules.h"
#include "generator/support/error.h"

namespace esc {
namespace {

/// One float32 sum of family panel runs over a whole row: not for rows of which a few are very long.
bool suits(const Schedule& schedule, const LayerShape& shape) {
  return !follows_power_law(shape) || !std::holds_alternative<PanelSchedule>(schedule);
}

ScheduleChoice family_default(const LayerShape& shape, std::span<const ScheduleDatabase* const> databases) {
  const bool power_law = follows_power_law(shape);
  ScheduleChoice choice = power_law ? uneven_rows_schedule(shape.bcol)
                                    : ScheduleChoice{fitted(PanelSchedule{}, shape.bcol), "default: of family panel"};
  for (const ScheduleDatabase* database : databases) {
    choice.source += fmt::format("; the database of {} has nothing for {}", database->describe(),
                                 power_law ? "power-law rows" : "such layers");
  }
  return choice;
}

/// Whether a database is of measurements that had such streams among their schedules, so that there is no need for a
/// rule.
template <typename Predicate>
bool has_streams(const ScheduleDatabase* database, Predicate is_such) {
  return std::ranges::any_of(database->candidates(), [&](const CandidateEntry& candidate) {
    const auto* const stream = std::get_if<StreamSchedule>(&candidate.schedule);
    return stream != nullptr && is_such(*stream);
  });
}
bool has_quarters(const ScheduleDatabase* database) {
  return has_streams(database, [](const StreamSchedule& stream) { return stream.quarters; });
}
bool has_one_column(const ScheduleDatabase* database) {
  return has_streams(database, [](const StreamSchedule& stream) { return stream.has_one_column(); });
}
bool has_listed_values(const ScheduleDatabase* database) {
  return has_streams(database,
                     [](const StreamSchedule& stream) { return stream.dense == StreamSchedule::Dense::listed; });
}

/// About what panels of random rows take for each element of a matrix of this density, in bytes.
double panel_bytes(const PanelSchedule& schedule, double density) {
  constexpr double column_bytes = 2;
  constexpr double value_bytes = 4;
  const double union_of_rows = 1 - std::pow(1 - density, schedule.ufi);
  return union_of_rows * (column_bytes / schedule.ufi + value_bytes);
}

/// Whether random rows of this density would take more than twice the bytes of CSR, nearly all of them for explicit
/// zeros; a stream also more than nobody minds.
bool wastes_memory(const Schedule& schedule, const LayerShape& shape) {
  constexpr double csr_bytes = 8;
  const double elements = static_cast<double>(shape.rows) * static_cast<double>(shape.columns);
  const double most = 2 * csr_bytes * static_cast<double>(shape.nonzeros);
  if (shape.nonzeros == 0) {
    return false;
  }
  if (const auto* panel = std::get_if<PanelSchedule>(&schedule)) {
    return elements * panel_bytes(*panel, static_cast<double>(shape.nonzeros) / elements) > most;
  }
  const auto* const stream = std::get_if<StreamSchedule>(&schedule);
  return stream != nullptr && streamed_bytes(shape, stream->dense) > std::max(unminded_bytes(shape), most);
}

/// The choice with panels of so few rows that they fill memory with no more zeros than may be.
ScheduleChoice with_lower_panels(ScheduleChoice choice, const LayerShape& shape) {
  auto* panel = std::get_if<PanelSchedule>(&choice.schedule);
  const int measured = panel->ufi;
  while (wastes_memory(choice.schedule, shape)) {
    panel->ufi /= 2;
  }
  mark_changed(choice, fmt::format(", with panels of {} in place of {} rows", panel->ufi, measured));
  return choice;
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
  void put_wasteful_last(const LayerShape& shape) {
    std::ranges::stable_partition(
        choices_, [&](const ScheduleChoice& one) { return one.is_own || !wastes_memory(one.schedule, shape); });
  }
  void leave_out_streamed() {
    std::erase_if(choices_,
                  [](const ScheduleChoice& one) { return std::holds_alternative<StreamSchedule>(one.schedule); });
  }
  void leave_out_clusters() {
    std::erase_if(choices_, [](const ScheduleChoice& one) {
      const auto* streamed = std::get_if<StreamSchedule>(&one.schedule);
      return streamed != nullptr && streamed->cluster > 1;
    });
  }
  std::vector<ScheduleChoice> choices() && { return std::move(choices_); }

 private:
  std::vector<ScheduleChoice> choices_;
};

/// Adds what a database has of the very layer, and then of a close class.
void add_close(Ranking& ranking, const LayerShape& shape, const KernelTarget& target, const ClassAdvice& advice) {
  if (const LayerEntry* const entry = advice.database().layer(shape)) {
    ranking.add(choice_of(*entry, shape, advice.database()));
  }
  if (advice.is_close()) {
    ranking.add(advice.choices_for(target));
  }
}

/// Adds what the user has measured of the layer or close to it, which counts before any rule. Gives the databases that
/// are heard where it is asked whether a rule is needed: the program's own, and of the user's those. What was measured
/// far away says nothing of the layer.
std::vector<const ScheduleDatabase*> add_own_measurements(Ranking& ranking, const LayerShape& shape,
                                                          const KernelTarget& target,
                                                          const std::vector<ClassAdvice>& advices) {
  std::vector<const ScheduleDatabase*> heard;
  for (const ClassAdvice& advice : advices) {
    const ScheduleDatabase& database = advice.database();
    if (!database.is_shipped()) {
      add_close(ranking, shape, target, advice);
    }
    if (database.is_shipped() || advice.is_close() || database.layer(shape) != nullptr) {
      heard.push_back(&database);
    }
  }
  return heard;
}

/// The choices without those whose schedule an earlier one has.
std::vector<ScheduleChoice> each_once(const std::vector<ScheduleChoice>& choices) {
  Ranking ranking;
  ranking.add(choices);
  return std::move(ranking).choices();
}

}  // namespace

double unminded_bytes(const LayerShape& shape) {
  constexpr double small_stream = 1 << 20;
  return std::max(small_stream,
                  static_cast<double>(shape.rows) * static_cast<double>(shape.bcol) * bytes_of_type(shape.dtype));
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
      .ufi = 1, .columns = std::min(32, widest_tile(bcol)), .vector = widest_vector(bcol), .warps = 16, .panels = 1};
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
                                             const KernelTarget& target) {
  Ranking ranking;
  std::vector<ClassAdvice> advices;
  std::ranges::transform(databases, std::back_inserter(advices),
                         [&](const ScheduleDatabase* database) { return ClassAdvice(shape, *database); });
  const std::vector<const ScheduleDatabase*> heard = add_own_measurements(ranking, shape, target, advices);
  const bool knows_shipped_alone =
      std::ranges::all_of(heard, [](const ScheduleDatabase* database) { return database->is_shipped(); });
  if (knows_shipped_alone) {
    ranking.add(preferred_bitmaps(shape, target));
  }
  const bool quarters_by_rule = std::ranges::none_of(heard, has_quarters);
  if (quarters_by_rule) {
    ranking.add(high_panel_streams(shape, target));
  }
  if (std::ranges::none_of(heard, has_listed_values)) {
    ranking.add(listed_streams(shape, target));
    ranking.add(half_step_streams(shape, target));
  }
  if (quarters_by_rule) {
    ranking.add(quartered_streams(shape, target));
  }
  // What this program's tuner measures it measures with lines.
  if (knows_shipped_alone) {
    ranking.add(lined_streams(shape, target));
  }
  if (std::ranges::none_of(heard, has_one_column)) {
    ranking.add(one_column_streams(shape, target));
  }
  // What is measured in the other types is measured with the family that streams, too.
  if (std::ranges::all_of(heard, [](const ScheduleDatabase* database) { return database->head().dtype == "f32"; })) {
    const std::vector<ScheduleChoice> gathered = gathered_rows(shape, target);
    if (gathers_faster_than_streams(shape)) {
      ranking.add(gathered);
    }
    ranking.add(streamed_schedules(shape, target));
    ranking.add(gathered);
    ranking.add(sparse_panels(shape, target));
  }
  for (const ClassAdvice& advice : advices) {
    if (advice.database().is_shipped()) {
      add_close(ranking, shape, target, advice);
    }
  }
  std::ranges::stable_sort(advices, {}, &ClassAdvice::distance_with_bcol);
  for (const ClassAdvice& advice : advices) {
    if (advice.distance() <= farthest_class) {
      ranking.add(advice.choices_for(target));
    }
  }
  for (const ScheduleDatabase* database : databases) {
    if (const DefaultEntry* entry = database->default_for(shape.bcol);
        entry != nullptr && suits(entry->schedule, shape)) {
      ranking.add(choice_of(*entry, shape, *database));
    }
  }
  if (shape.contiguous) {
    // What is best for other layers of the layout is better than what was never measured with it.
    for (const ClassAdvice& advice : advices) {
      for (const ScheduleChoice& choice : advice.choices()) {
        if (suits(choice.schedule, shape)) {
          ranking.add(choice);
        }
      }
    }
    // Where all of that is wasteful, the nearest to it that is not.
    for (const ClassAdvice& advice : advices) {
      for (const ScheduleChoice& choice : advice.choices()) {
        if (std::holds_alternative<PanelSchedule>(choice.schedule) && suits(choice.schedule, shape) &&
            wastes_memory(choice.schedule, shape)) {
          ranking.add(with_lower_panels(choice, shape));
        }
      }
    }
    ranking.add(family_default(shape, databases));
  }
  ranking.put_wasteful_last(shape);
  if (!shape.contiguous) {
    ranking.add(spread_schedules(shape));
  }
  if (!can_stream(shape.dtype, shape.layout) || target.oldest_architecture < StreamSchedule::least_architecture) {
    ranking.leave_out_streamed();
  }
  if (target.oldest_architecture < StreamSchedule::cluster_architecture) {
    ranking.leave_out_clusters();
  }
  std::vector<ScheduleChoice> choices = std::move(ranking).choices();
  if (quarters_by_rule) {
    // Two that differ in this alone become one.
    choices = each_once(with_quarter_steps(std::move(choices), shape));
  }
  return std::ranges::none_of(heard, has_one_column) ? with_one_column(std::move(choices), shape) : choices;
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

// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "generator/commands/input.h"
#include "generator/commands/layer_request.h"
#include "generator/emit/layout_class.h"
#include "generator/matrix/scatter.h"
#include "generator/schedule/compare_with_dense.h"
#include "generator/schedule/device_ceilings.h"
#include "generator/schedule/element_types.h"
#include "generator/schedule/half_speeds.h"
#include "generator/schedule/packed_form.h"

namespace esc {
namespace {

/// What is to be made, and what of.
struct Task {
  const LayerRequest& request;
  const DeviceCatalog& catalog;
  const LoopNest& nest;
  const SparseMatrix& matrix;
  std::shared_ptr<PackingCache> fragments;  ///< of the matrix
  ProductColumns columns;                   ///< of the product that the kernel is made for
  LayerShape shape = {};                    ///< where auto chooses
};

LayerShape shape_of(const SparseMatrix& matrix, const LoopNest& nest, const ProductColumns& columns) {
  const LengthStatistics lengths = row_statistics(matrix);
  return {.bcol = columns.count,
          .rows = matrix.rows,
          .columns = matrix.columns,
          .nonzeros = matrix.nonzeros(),
          .longest_row = lengths.longest,
          .row_variation = lengths.coefficient_of_variation,
          .pattern = fingerprint(matrix).pattern,
          .layout = layout_class(nest),
          .contiguous = columns.are_contiguous,
          .dtype = name_of(matrix.element),
          .scattered = is_scattered(matrix)};
}

GenerateOptions options_of(const Task& task, const ScheduleChoice& choice) {
  return {.name = task.request.name,
          .source_file = printable_file_name(task.request.matrix),
          .bcol = task.request.bcol,
          .architectures = architectures_for(task.request),
          .choice = choice,
          .fragments = task.fragments};
}

GeneratedLayer generate_with(const Task& task, const ScheduleChoice& choice) {
  return generate_layer(task.matrix, task.nest, options_of(task, choice));
}

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

/// "a100, t4 and h200".
std::string names_of(const std::vector<TargetDevice>& devices) {
  std::string names;
  for (std::size_t number = 0; number < devices.size(); ++number) {
    names += (number == 0 ? "" : number + 1 == devices.size() ? " and " : ", ") + devices[number].name;
  }
  return names;
}

std::string no_gpu_note() {
  return "no GPU was named (--gpu): built for " + names_of_architectures(default_architectures());
}

/// What is not known of the device that the user named, or that none was named; empty where nothing is to be said.
std::string device_note(const ScheduleChoice& choice, const LayerRequest& request, const DeviceCatalog& catalog) {
  const DatabaseHead& known = choice.database ? *choice.database : shipped_database().head();
  if (request.devices.empty()) {
    return no_gpu_note() + fmt::format(", with the schedule for one {}", known.device);
  }
  const TargetDevice device = request.devices.front();
  if (is_architecture(device) && may_be(device.key, known.key)) {
    return fmt::format("no GPU was named (--gpu): of those with {}, the schedule is the one for one {}", device.name,
                       known.device);
  }
  if (choice.database) {
    return is_measured_on(device, {known.device, known.key})
               ? ""
               : fmt::format(
                     "no measurements of such layers on {}: the schedule is from the database of the nearest "
                     "device, {}",
                     device.name, describe(known));
  }
  return catalog.has_measurements_of(device.key)
             ? ""
             : fmt::format(
                   "no kernels were measured on {}: the schedule is the one that a model expects to be the fastest, "
                   "which was corrected by kernels of an H100 and an H200{}",
                   device.name,
                   device_ceilings(device.key, catalog.devices()) ? "" : ", with the memory bandwidth of an H200");
}

/// The choice with a word on the device.
ScheduleChoice with_device_note(ScheduleChoice choice, const Task& task) {
  if (const std::string note = device_note(choice, task.request, task.catalog); !note.empty()) {
    choice.notes.push_back(note);
  }
  return choice;
}

/// Whether the kernel is built for devices that cannot all be the one whose schedule auto takes.
bool is_shared(const LayerRequest& request) {
  return std::ranges::any_of(request.devices, [&](const TargetDevice& device) {
    const DeviceKey& first = request.devices.front().key;
    return !may_be(device.key, first) && !may_be(first, device.key);
  });
}

std::string sharing_note(const LayerRequest& request) {
  return fmt::format(
      "one schedule serves {}: it is chosen for {}, the first one named; for the best one of each, "
      "generate a bundle for each",
      names_of(request.devices), request.devices.front().name);
}

/// The choice with a word, for the manifest too, on whose it is, where devices share it.
ScheduleChoice with_sharing_note(ScheduleChoice choice, const LayerRequest& request) {
  if (is_shared(request)) {
    choice.source +=
        fmt::format(", chosen for {}, the first of {}", request.devices.front().name, names_of(request.devices));
    choice.notes.push_back(sharing_note(request));
  }
  return choice;
}

/// The choice with a word on the type of its measurements, where it is another one.
ScheduleChoice with_type_note(ScheduleChoice choice, ScalarType element) {
  if (choice.database && choice.database->dtype != name_of(element)) {
    choice.notes.push_back(
        fmt::format("no measurements in {}: the schedule is the one for {}", name_of(element), choice.database->dtype));
  }
  return choice;
}

/// What auto falls back to after its ranking: a schedule that takes every matrix and, where the nest has an epilogue,
/// gives each row to threads that have all of its sum.
ScheduleChoice last_resort(const Task& task) {
  return task.nest.finishes_sums() ? whole_rows_schedule(task.columns.count, task.matrix.longest_row())
                                   : uneven_rows_schedule(task.columns.count);
}

/// Where the nest has an epilogue, without the family whose blocks share rows and, where columns are apart, without
/// what would cut rows.
std::vector<ScheduleChoice> usable(std::vector<ScheduleChoice> ranking, const Task& task) {
  if (task.nest.finishes_sums()) {
    const bool cuts_rows = !task.columns.are_contiguous && task.matrix.longest_row() > RowsSchedule::max_task;
    std::erase_if(ranking, [&](const ScheduleChoice& choice) {
      return std::holds_alternative<AtomicSchedule>(choice.schedule) ||
             (cuts_rows && std::holds_alternative<RowsSchedule>(choice.schedule));
    });
  }
  return ranking;
}

/// The choice beside a dense product on the device that it is made for.
ScheduleChoice beside_dense(ScheduleChoice choice, const Task& task) {
  if (choice.script.empty()) {
    choice.beside_dense = compare_with_dense(task.shape, choice.schedule, wanted_device(task.request), task.catalog);
  }
  return choice;
}

/// The choice with what was measured of this layer's like with exactly this schedule, on this device, without an
/// epilogue: or with why nothing was, and where dense is known to be faster.
ScheduleChoice with_measurements(ScheduleChoice choice, const Task& task) {
  const bool is_any = task.request.devices.empty() && choice.database;  // then that is said
  const TargetDevice device =
      is_any ? TargetDevice{choice.database->device, choice.database->key} : wanted_device(task.request);
  const MeasuredCase wanted = case_of(choice.schedule, task.shape, device, task.nest.epilogue.has_value());
  choice = settled(std::move(choice), wanted);
  if (const std::optional<HalfSpeed> known = half_speed(task.shape, choice.schedule); known && !choice.measured) {
    choice.notes.push_back(describe(*known, task.shape, choice.schedule));
  }
  return choice;
}

ScheduleChoice with_notes(ScheduleChoice choice, const Task& task) {
  choice = beside_dense(with_measurements(std::move(choice), task), task);
  return with_type_note(with_sharing_note(with_device_note(choice, task), task.request), task.matrix.element);
}

/// Bytes that the schedule packs the matrix into.
double packed_bytes(const Task& task, const ScheduleChoice& choice) {
  return static_cast<double>(planned_bytes(task.matrix, task.nest, options_of(task, choice)));
}

/// A schedule that was asked for by name is not exchanged for another one.
void check_packed(const Task& task, const ScheduleChoice& choice, const PackedLimit& limit) {
  if (const double ratio = limit.ratio_of(packed_bytes(task, choice), task.matrix); ratio > limit.ratio()) {
    throw UserError("--max-packed " + limit.text(),
                    fmt::format("{} packs {} into {}", text_of(choice), task.request.name, limit.describe(ratio)),
                    fmt::format("leave the schedule to auto, or allow {}", limit.allowance_for(ratio)));
  }
}

/// A schedule of a ranking, and how large it makes the packed matrix, by what a limit goes by.
struct RankedSize {
  std::size_t rank = 0;
  double ratio = 0;
  bool is_behind_larger = false;  ///< whether one before it is legal, and larger
};

/// The first schedule of the ranking that packs the matrix within the limit; where none does, the one that packs it
/// smallest. Those that the matrix does not allow are passed over; absent where it allows none.
std::optional<RankedSize> find_within(const Task& task, const std::vector<ScheduleChoice>& ranking,
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

std::string within_note(std::size_t rank, const PackedLimit& limit) {
  return fmt::format(", number {} in rank, the first {}", rank + 1, limit.within());
}

/// The best in the ranking that packs the matrix small enough, after all of them what auto falls back to.
ScheduleChoice choose_within(const Task& task, std::vector<ScheduleChoice> ranking, const PackedLimit& limit) {
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

/// Largest packed matrix that auto takes, over CSR, where a schedule after it in rank packs smaller.
const PackedLimit most_packed{2.0, PackedLimit::Of::csr};

/// Whether it takes so few bytes that nobody minds what is zero of them.
bool fills_nothing(const Task& task, const ScheduleChoice& choice) {
  try {
    return packed_bytes(task, choice) <= unlimited_bytes(task.shape);
  } catch (const UnsuitableSchedule&) {
    return false;  // said by whoever falls back from it
  }
}

/// Brings the best schedule that packs the matrix within `most_packed` to the front, where those before it pack it
/// larger. A matrix for which none does (nearly empty ones, of which the header is most) keeps the ranking.
void prefer_compact(const Task& task, std::vector<ScheduleChoice>& ranking) {
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

/// The layer by the first schedule of the ranking that the matrix allows, after all of them what auto falls back to.
GeneratedLayer generate_first_suitable(const Task& task, std::vector<ScheduleChoice> ranking) {
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

/// What auto may choose for a layer, of this form where there is one, the best first.
std::vector<ScheduleChoice> expected_schedules(const LayerShape& layer,
                                               std::span<const ScheduleDatabase* const> databases, const Task& task,
                                               const std::string& form) {
  const KernelTarget target = target_of(task.request);
  return ranked_schedules(layer, databases, target, task.catalog.model(target.device), {}, form);
}

/// The fastest schedule of family bitmap for a layer, by expectation, that the matrix of the task allows, which may be
/// a part of the layer's.
ScheduleChoice bitmap_choice(const Task& task, const LayerShape& layer) {
  const std::string name = "--schedule bitmap";
  if (!can_use_bitmap(name_of(task.matrix.element))) {
    throw UserError(
        name, fmt::format("packs elements of 16 bits, and {} has {}", task.request.name, name_of(task.matrix.element)),
        "choose --dtype f16 or bf16, or leave the schedule to auto");
  }
  std::optional<UnsuitableSchedule> refused;
  const std::string form = packed_form(BitmapSchedule{}, layer);
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

/// In 16 bits a bitmap is the smallest of all: after what is faster it is there for those who limit bytes.
void add_bitmap(const Task& task, std::vector<ScheduleChoice>& ranking) {
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

/// All that auto may choose, the best first: by the databases, or by a rule where these say nothing of such columns.
std::vector<ScheduleChoice> ranking_of(const Task& task, const GenerateMode& mode) {
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

/// What auto chooses.
GeneratedLayer generate_automatically(const Task& task, const GenerateMode& mode) {
  std::vector<ScheduleChoice> ranking = ranking_of(task, mode);
  if (mode.max_packed) {
    ranking = {choose_within(task, std::move(ranking), *mode.max_packed)};
  } else {
    prefer_compact(task, ranking);
  }
  return generate_first_suitable(task, std::move(ranking));
}

/// Whether the schedule packs the matrix within a limit.
bool is_within(const Task& task, const ScheduleChoice& choice, const PackedLimit& limit) {
  return limit.ratio_of(packed_bytes(task, choice), task.matrix) <= limit.ratio();
}

/// Whether auto may take the schedule by the bytes that it packs the matrix into: within the user's limit or, without
/// one, as `prefer_compact` has it.
bool is_small_enough(const Task& task, const ScheduleChoice& choice, const GenerateMode& mode) {
  return mode.max_packed ? is_within(task, choice, *mode.max_packed)
                         : choice.is_own || packed_bytes(task, choice) <= unlimited_bytes(task.shape) ||
                               is_within(task, choice, most_packed);
}

/// The first of the ranking that the matrix allows and `accepts` takes, at most so many. Schedules of one form pack the
/// matrix into the same bytes, so that one that was refused stands for all of its form.
std::vector<Schedule> first_accepted(const Task& task, const std::vector<ScheduleChoice>& ranking, std::size_t most,
                                     const std::function<bool(const ScheduleChoice&)>& accepts) {
  std::vector<Schedule> first;
  std::set<std::string> refused_forms;
  for (const ScheduleChoice& choice : ranking) {
    if (first.size() == most) {
      break;
    }
    const std::string form = packed_form(choice.schedule, task.shape);
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
std::string measured_source(const Task& task, std::size_t place, const MeasuredCandidate& taken) {
  const TuningRecord& record = *task.request.tuning;
  return fmt::format("measured: {} of {} candidates on one {} ({}), {}, {:.2f} us{}",
                     place == 0 ? "the fastest" : fmt::format("number {}", place + 1), record.candidates.size(),
                     record.device_name, print(record.device), record.cache, taken.microseconds,
                     record.layer == printable_file_name(task.request.matrix) ? "" : ", with " + record.layer);
}

/// The layer by the fastest of the measured schedules that the matrix allows; absent where it allows none.
std::optional<GeneratedLayer> generate_measured(const Task& task, const GenerateMode& mode) {
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
ScheduleChoice named_choice(const Task& task, const LayerShape& layer, const GenerateMode& mode) {
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
  const ProductColumns columns = product_columns(nest, request.bcol);
  const Task sample{
      request, *mode.own.catalog, nest, part, std::move(fragments), columns, shape_of(part, nest, columns)};
  const auto bytes_by = [&](const ScheduleChoice& choice) {
    return packed_bytes(sample, choice) / static_cast<double>(csr_bytes(part)) * static_cast<double>(csr_bytes(matrix));
  };
  const Task whole{request, *mode.own.catalog, nest, matrix, nullptr, columns, shape_of(matrix, nest, columns)};
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
  const ProductColumns columns = product_columns(nest, request.bcol);
  const Task task{
      request, *mode.own.catalog, nest, matrix, std::move(fragments), columns, shape_of(matrix, nest, columns)};
  std::vector<ScheduleChoice> ranking = ranking_of(task, mode);
  std::vector<Schedule> first = first_accepted(
      task, ranking, most, [&](const ScheduleChoice& choice) { return is_small_enough(task, choice, mode); });
  if (first.empty() && !mode.max_packed) {  // a nearly empty matrix, of which the header is most
    first = first_accepted(task, ranking, most, [&](const ScheduleChoice& choice) {
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
  Task task{request, *mode.own.catalog, nest, matrix, std::move(fragments), product_columns(nest, request.bcol)};
  if (chooses(request, mode)) {
    if (is_shared(request)) {
      console.say(fmt::format("{}: {}", request.name, sharing_note(request)));
    }
    task.shape = shape_of(matrix, nest, task.columns);
    std::optional<GeneratedLayer> measured = request.tuning ? generate_measured(task, mode) : std::nullopt;
    return measured ? *std::move(measured) : generate_automatically(task, mode);
  }
  task.shape = shape_of(matrix, nest, task.columns);
  const ScheduleChoice choice = beside_dense(named_choice(task, task.shape, mode), task);
  if (mode.max_packed) {
    check_packed(task, choice, *mode.max_packed);
  }
  return generate_with(task, choice);
}

}  // namespace esc

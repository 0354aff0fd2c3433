#include <algorithm>

#include "generator/commands/input.h"
#include "generator/commands/layer_request.h"

namespace esc {
namespace {

GeneratedLayer generate_with(const LayerRequest& request, const SparseMatrix& matrix, const ScheduleChoice& choice) {
  return generate_layer(
      matrix, read_loop_nest(request.kernel),
      {.name = request.name,
       .source_file = printable_file_name(request.matrix),
       .bcol = request.bcol,
       .architectures = request.devices.empty() ? default_architectures() : architectures_of(request.devices),
       .choice = choice});
}

LayerShape shape_of(const LayerRequest& request, const SparseMatrix& matrix) {
  const LengthStatistics lengths = statistics(matrix).row_lengths;
  return {.bcol = request.bcol,
          .rows = matrix.rows,
          .columns = matrix.columns,
          .nonzeros = matrix.nonzeros(),
          .longest_row = lengths.longest,
          .row_variation = lengths.coefficient_of_variation,
          .pattern = fingerprint(matrix).pattern};
}

/// The database that the user gave, else the shipped one of the device that is nearest to the one wanted.
const ScheduleDatabase& database_for(const LayerRequest& request, const GenerateMode& mode) {
  if (mode.database) {
    return *mode.database;
  }
  return request.devices.empty() ? shipped_database() : nearest_database(request.devices.front().key);
}

/// "a100, t4 and h200".
std::string names_of(const std::vector<TargetDevice>& devices) {
  std::string names;
  for (std::size_t number = 0; number < devices.size(); ++number) {
    names += (number == 0 ? "" : number + 1 == devices.size() ? " and " : ", ") + devices[number].name;
  }
  return names;
}

/// The choice with a word on the device, where the database is of another one.
ScheduleChoice with_device_note(ScheduleChoice choice, const LayerRequest& request, const GenerateMode& mode) {
  if (request.devices.empty()) {
    return choice;
  }
  const TargetDevice& wanted = request.devices.front();
  const ScheduleDatabase& database = database_for(request, mode);
  if (!may_be(wanted.key, database.head().key)) {
    choice.notes.push_back(
        mode.database
            ? fmt::format("the database given is of {}, not of {}", database.describe(), wanted.name)
            : fmt::format("no measurements for {}: its schedule is from the database of the nearest device, {}",
                          wanted.name, database.describe()));
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
  return fmt::format("one schedule serves {}: it is chosen for {}, the first one named; for the best one of each, "
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

/// What auto chooses; where the matrix does not allow that, what it falls back to.
GeneratedLayer generate_automatically(const LayerRequest& request, const GenerateMode& mode,
                                      const SparseMatrix& matrix) {
  const ScheduleChoice choice = choose_schedule(shape_of(request, matrix), database_for(request, mode));
  try {
    return generate_with(request, matrix, with_sharing_note(with_device_note(choice, request, mode), request));
  } catch (const UnsuitableSchedule& refusal) {
    ScheduleChoice fallback = uneven_rows_schedule(request.bcol);
    fallback.source += fmt::format(", because {} is illegal for this matrix", print(choice.schedule));
    return generate_with(request, matrix, with_sharing_note(fallback, request));
  }
}

}  // namespace

bool is_looked_up(const std::string& schedule) { return schedule == "auto" || schedule == "published"; }

GeneratedLayer make_layer(const LayerRequest& request, const GenerateMode& mode, const SparseMatrix& matrix,
                          const Console& console) {
  if (request.schedule == "auto" && mode.compaction) {
    if (is_shared(request)) {
      console.say(fmt::format("{}: {}", request.name, sharing_note(request)));
    }
    return generate_automatically(request, mode, matrix);
  }
  ScheduleChoice choice = is_looked_up(request.schedule) ? published_schedule(request.bcol)
                                                         : ScheduleChoice{parse_schedule(request.schedule), "user"};
  if (!mode.compaction) {
    auto* atomic = std::get_if<AtomicSchedule>(&choice.schedule);
    if (atomic == nullptr) {
      throw ScheduleError(print(choice.schedule), "has no cases that compaction could leave apart",
                          "give --no-compaction with a schedule of family atomic");
    }
    atomic->compaction = false;
  }
  return generate_with(request, matrix, choice);
}

}  // namespace esc

// SPDX-License-Identifier: Apache-2.0
// The text of a schedule database: written here, and read here.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <sstream>
#include <utility>

#include "generator/schedule/database_line.h"
#include "generator/schedule/element_types.h"
#include "generator/schedule/gone_entries.h"
#include "generator/schedule/schedule_database.h"
#include "generator/schedule/schedule_text.h"
#include "generator/support/error.h"
#include "generator/support/plain_text.h"

namespace esc {
namespace {

constexpr const char* introduction =
    "# Schedules by layer and class of layers: one entry a line, sorted; what is not known is -. A layer gets the\n"
    "# one of the candidates of its bCol that is expected to lose least, by what each one loses on the layers of\n"
    "# the classes around. In a class, rows, columns, mean and longest are twice the logarithms to base 2,\n"
    "# rounded, of the sizes of A and of the mean and the largest number of non-zeros of a row; its losses are\n"
    "# those of the candidates, by their numbers, in per cent over the time of the best schedule of each layer; ~\n"
    "# marks one that is estimated in part, because it was not measured on all of the layers. A layer that gains\n"
    "# by it has a schedule of its own; it is known by the first digits of its pattern's SHA-256. A default is\n"
    "# for any other layer with so many columns of B or more. loss, worst and gain are ratios of times: the\n"
    "# geometric mean and the maximum of the schedule's over the best one's, and that by the classes over its\n"
    "# own. exact and tf32 are the time of the fastest exact library product, and of a dense one in TF32, over\n"
    "# that of the schedule (in a class, of the best one of each layer): below 1 the library is faster. library\n"
    "# is the geometric mean of the time of that library product on the layers of a class, where it was kept.\n"
    "# candidate bcol number schedule\n"
    "# class bcol rows columns mean longest matrices exact tf32 losses\n"
    "# library bcol rows columns mean longest microseconds\n"
    "# default bcol schedule matrices loss worst exact tf32\n"
    "# layer bcol pattern schedule gain exact tf32\n";

/// Is after it where there are entries of other layouts.
constexpr const char* words_on_layouts =
    "# A word before bcol says how B and C lie that the entry was measured with; without one, B is K x N and C\n"
    "# is M x N. nk: both are transposed. Others name for each dimension of B, and after a dot of C, whether rows of\n"
    "# A (m), columns of A (k) or columns of C (n) run over it, with the stride of n where it has one; bcol counts\n"
    "# columns of C.\n";

/// In thousandths; a ratio below has three digits, because 0.000 is none.
std::string print(std::optional<double> ratio) {
  if (!ratio) {
    return "-";
  }
  return *ratio < 0.001 ? fmt::format("{:.2e}", *ratio) : fmt::format("{:.3f}", *ratio);
}

std::string print(const ScheduleEvidence& evidence) {
  return fmt::format("{} {} {} {} {}", evidence.matrices, print(evidence.loss), print(evidence.worst),
                     print(evidence.over_exact), print(evidence.over_tf32));
}

std::string print(const CandidateLoss& loss) {
  return fmt::format("{}{:.1f}", loss.estimated ? "~" : "", loss.percent);
}

/// What is after the kind of an entry of the layout.
std::string print_layout(const std::string& layout) { return layout == "kn" ? "" : " " + layout; }

std::string print(const CandidateEntry& entry, const std::string& layout) {
  return fmt::format("candidate{} {} {} {}", layout, entry.bcol, entry.number, compact(entry.schedule));
}

std::string print(const LayerClass& layers) {
  return fmt::format("{} {} {} {} {}", layers.bcol, layers.rows, layers.columns, layers.mean_row, layers.longest_row);
}

std::string print(const ClassEntry& entry, const std::string& layout) {
  std::string text = fmt::format("class{} {} {} {} {}", layout, print(entry.layers), entry.matrices,
                                 print(entry.over_exact), print(entry.over_tf32));
  for (const CandidateLoss& loss : entry.losses) {
    text += " " + print(loss);
  }
  return text;
}

std::string print(const DefaultEntry& entry, const std::string& layout) {
  return fmt::format("default{} {} {} {}", layout, entry.bcol, compact(entry.schedule), print(entry.evidence));
}

std::string print(const LayerEntry& entry, const std::string& layout) {
  return fmt::format("layer{} {} {} {} {} {} {}", layout, entry.bcol, entry.pattern, compact(entry.schedule),
                     print(entry.gain), print(entry.over_exact), print(entry.over_tf32));
}

/// A database while its lines are read.
class Reading {
 public:
  void add(const std::string& text, const std::string& place, int number) {
    DatabaseLine line(text, place);
    const std::string kind = line.word();
    const std::string key = kind == "candidate" ? read_candidate(line)
                            : kind == "class"   ? read_class(line)
                            : kind == "library" ? read_library(line)
                            : kind == "default" ? read_default(line)
                            : kind == "layer"   ? read_layer(line)
                                                : read_head(kind, line);
    line.end();
    const auto [earlier, is_new] = lines_.emplace(key, number);
    if (!is_new) {
      line.refuse(fmt::format("is a second entry for {}; the first one is in line {}", key, earlier->second));
    }
  }

  ReadDatabases databases(const std::string& file) && {
    for (const char* needed : {"the device", "the dtype", "the evidence"}) {
      if (!lines_.contains(needed)) {
        throw UserError(file, fmt::format("does not say {}, so it is not a schedule database", needed),
                        "write lines such as: device sm90-132sm-60mib NVIDIA H200, dtype f32, evidence measured");
      }
    }
    std::vector<ScheduleDatabase> databases;
    take(file, "kn", databases);
    while (!parts_.empty()) {
      take(file, std::string(parts_.begin()->first), databases);
    }
    return {std::move(databases), gone_};
  }

 private:
  /// What there is of one layout.
  struct Part {
    DatabaseEntries entries;
    std::map<long long, int> candidates;  ///< how many there are, by bCol
    std::map<LayerClass, double> library_microseconds;
  };

  /// Makes the part of a layout a database.
  void take(const std::string& file, const std::string& layout, std::vector<ScheduleDatabase>& databases) {
    Part part = std::move(parts_[layout]);
    parts_.erase(layout);
    check_candidates(part, file, layout);
    check_losses(part, file, layout);
    add_library_times(part, file, layout);
    gone_ += leave_out_gone(part.entries, head_.dtype);
    if (layout != "kn" && part.entries == DatabaseEntries()) {
      return;
    }
    DatabaseHead head = head_;
    head.layout = layout;
    databases.emplace_back(std::move(head), std::move(part.entries));
  }

  // Each reads a line after its first word and returns what it is an entry for.
  std::string read_candidate(DatabaseLine& line) {
    const std::string layout = line.layout();
    const CandidateEntry entry{.bcol = line.bcol(), .number = static_cast<int>(line.number(0, 999)), .schedule = {}};
    Part& part = parts_[layout];
    ++part.candidates[entry.bcol];
    keep(part.entries.candidates, entry, line.schedule_for(layout, entry.bcol));
    return name_of(layout, entry.bcol, entry.number);
  }
  std::string read_class(DatabaseLine& line) {
    const std::string layout = line.layout();
    ClassEntry entry{.layers = line.layers(),
                     .matrices = static_cast<int>(line.number(1, 0x7fffffff)),
                     .over_exact = line.ratio(),
                     .over_tf32 = line.ratio(),
                     .losses = line.losses()};
    parts_[layout].entries.classes.push_back(entry);
    return name_of(layout, entry.layers);
  }
  std::string read_library(DatabaseLine& line) {
    const std::string layout = line.layout();
    const LayerClass layers = line.layers();
    const std::optional<double> microseconds = line.positive("a time in microseconds");
    if (!microseconds) {
      line.refuse("has no time: leave the line out");
    }
    parts_[layout].library_microseconds[layers] = *microseconds;
    return name_of_library(layout, layers);
  }
  std::string read_default(DatabaseLine& line) {
    const std::string layout = line.layout();
    DefaultEntry entry{.bcol = line.bcol(), .schedule = {}};
    const std::optional<Schedule> schedule = line.schedule_for(layout, entry.bcol);
    entry.evidence = line.evidence();
    keep(parts_[layout].entries.defaults, entry, schedule);
    return fmt::format("bCol {}{}", entry.bcol, in_layout(layout));
  }
  std::string read_layer(DatabaseLine& line) {
    const std::string layout = line.layout();
    LayerEntry entry{.bcol = line.bcol(), .pattern = line.pattern(), .schedule = {}};
    const std::optional<Schedule> schedule = line.schedule_for(layout, entry.bcol);
    entry.gain = line.ratio();
    entry.over_exact = line.ratio();
    entry.over_tf32 = line.ratio();
    keep(parts_[layout].entries.layers, entry, schedule);
    return fmt::format("layer {} at bCol {}{}", entry.pattern, entry.bcol, in_layout(layout));
  }
  std::string read_head(const std::string& kind, DatabaseLine& line) {
    if (kind == "device") {
      head_.key = line.device_key();
      head_.device = line.rest();
      if (head_.device.empty()) {
        line.refuse("does not name the device after its key");
      }
    } else if (kind == "dtype") {
      head_.dtype = line.word();
      if (std::ranges::find(measured_types, head_.dtype) == measured_types.end()) {
        line.refuse(fmt::format("has '{}', but schedules are for {}", head_.dtype, fmt::join(measured_types, ", ")));
      }
    } else if (kind == "evidence") {
      const std::string origin = line.word();
      if (origin != "measured" && origin != "published") {
        line.refuse(fmt::format("has '{}', which is neither measured nor published", origin));
      }
      head_.origin = origin == "measured" ? DatabaseOrigin::measured : DatabaseOrigin::published;
    } else {
      line.refuse(fmt::format(
          "begins with '{}', not with device, dtype, evidence, candidate, class, library, default or layer", kind));
    }
    return "the " + kind;
  }

  /// Keeps an entry with its schedule, unless that is gone.
  template <typename Entry>
  void keep(std::vector<Entry>& entries, Entry entry, const std::optional<Schedule>& schedule) {
    if (!schedule) {
      ++gone_;
      return;
    }
    entry.schedule = *schedule;
    entries.push_back(std::move(entry));
  }

  // What a line is an entry for.
  static std::string in_layout(const std::string& layout) { return layout == "kn" ? "" : " in layout " + layout; }
  static std::string name_of(const std::string& layout, long long bcol, int candidate) {
    return fmt::format("candidate {} at bCol {}{}", candidate, bcol, in_layout(layout));
  }
  static std::string name_of(const std::string& layout, const LayerClass& layers) {
    return "the class of " + describe(layers) + in_layout(layout);
  }
  static std::string name_of_library(const std::string& layout, const LayerClass& layers) {
    return "the time of a library on " + name_of(layout, layers);
  }

  void check_candidates(const Part& part, const std::string& file, const std::string& layout) const {
    for (const auto& [bcol, count] : part.candidates) {
      for (int number = 0; number < count; ++number) {
        if (!lines_.contains(name_of(layout, bcol, number))) {
          throw UserError(
              file,
              fmt::format("has {} candidates at bCol {}{}, but no number {}", count, bcol, in_layout(layout), number),
              "number them from 0 on, without gaps");
        }
      }
    }
  }

  void check_losses(const Part& part, const std::string& file, const std::string& layout) const {
    for (const ClassEntry& entry : part.entries.classes) {
      const auto found = part.candidates.find(entry.layers.bcol);
      const std::size_t needed = found == part.candidates.end() ? 0 : static_cast<std::size_t>(found->second);
      if (needed == 0 || entry.losses.size() != needed) {
        throw UserError(fmt::format("{}:{}", file, lines_.at(name_of(layout, entry.layers))),
                        fmt::format("has {} losses for the {} candidates at bCol {}", entry.losses.size(), needed,
                                    entry.layers.bcol),
                        "give one loss for each candidate of this bCol, in the order of their numbers");
      }
    }
  }

  void add_library_times(Part& part, const std::string& file, const std::string& layout) const {
    for (const auto& [layers, microseconds] : part.library_microseconds) {
      const auto found = std::ranges::find(part.entries.classes, layers, &ClassEntry::layers);
      if (found == part.entries.classes.end()) {
        throw UserError(fmt::format("{}:{}", file, lines_.at(name_of_library(layout, layers))),
                        fmt::format("has a time for {}, which has no entry", name_of(layout, layers)),
                        "give the class in a line of its own");
      }
      found->exact_microseconds = microseconds;
    }
  }

  DatabaseHead head_;
  std::map<std::string, Part> parts_;  ///< by layout
  std::map<std::string, int> lines_;   ///< by what is in them
  std::size_t gone_ = 0;               ///< entries whose schedules are gone
};

}  // namespace

ScheduleDatabase ScheduleDatabase::parse(std::string_view text, const std::string& file) {
  return databases_in(text, file).front();
}

std::vector<ScheduleDatabase> databases_in(std::string_view text, const std::string& file) {
  return read_databases(text, file).databases;
}

ReadDatabases read_databases(std::string_view text, const std::string& file) {
  Reading reading;
  std::istringstream lines{std::string(text)};
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (line.ends_with('\r')) {
      line.pop_back();
    }
    if (const auto first = line.find_first_not_of(" \t"); first != std::string::npos && line[first] != '#') {
      const std::string place = fmt::format("{}:{}", file, number);
      std::ranges::replace(line, '\t', ' ');
      if (!is_plain_text(line)) {
        throw UserError(place, "has bytes that are not UTF-8, or characters that do not show",
                        "save the file as UTF-8 without them");
      }
      reading.add(line, place, number);
    }
  }
  return std::move(reading).databases(file);
}

namespace {

/// The lines on the times of libraries that are known of the classes.
std::string print_library_times(const std::vector<ClassEntry>& classes, const std::string& layout) {
  std::string text;
  for (const ClassEntry& entry : classes) {
    if (entry.exact_microseconds) {
      text += fmt::format("library{} {} {}\n", layout, print(entry.layers), print(entry.exact_microseconds));
    }
  }
  return text;
}

/// The name of a device as it is read back from the end of a line.
std::string name_in_line(const std::string& device) {
  const std::string name = plain_text(device);
  const std::size_t begin = name.find_first_not_of(' ');
  return begin == std::string::npos ? "unnamed device" : name.substr(begin);
}

}  // namespace

std::string print(const std::vector<ScheduleDatabase>& databases) {
  ESC_CHECK(!databases.empty(), "a file is of a device");
  std::map<std::pair<bool, std::string>, const ScheduleDatabase*> by_layout;  // that of kn first
  for (const ScheduleDatabase& database : databases) {
    by_layout[{database.head().layout != "kn", database.head().layout}] = &database;
  }
  const DatabaseHead& head = databases.front().head();
  std::string text = introduction;
  text += by_layout.rbegin()->first.first ? words_on_layouts : "";
  text += fmt::format("device {} {}\ndtype {}\nevidence {}\n", print(head.key), name_in_line(head.device), head.dtype,
                      head.origin == DatabaseOrigin::measured ? "measured" : "published");
  for (const auto& [order, database] : by_layout) {
    const auto add = [&, layout = print_layout(order.second)](const auto& entries) {
      for (const auto& entry : entries) {
        text += print(entry, layout) + "\n";
      }
    };
    add(database->candidates());
    add(database->classes());
    text += print_library_times(database->classes(), print_layout(order.second));
    add(database->defaults());
    add(database->layers());
  }
  return text;
}

std::string print(const ScheduleDatabase& database) { return print(std::vector{database}); }

std::string file_name(const DatabaseHead& head) { return fmt::format("{}_{}.txt", print(head.key), head.dtype); }

}  // namespace esc

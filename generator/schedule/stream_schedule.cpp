// SPDX-License-Identifier: Apache-2.0
#include "generator/schedule/stream_schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <numeric>

#include "generator/schedule/element_types.h"
#include "generator/schedule/settings.h"

namespace esc {
namespace {

StreamSchedule::Copies copies_of(std::string_view word) {
  return word == "bulk" ? StreamSchedule::Copies::bulk : word == "units" ? StreamSchedule::Copies::units : StreamSchedule::Copies::lanes;
}

StreamSchedule::Dense dense_of(std::string_view word) {
  return word == "listed" ? StreamSchedule::Dense::listed : word == "on" ? StreamSchedule::Dense::on : StreamSchedule::Dense::off;
}

Directive transformed(StreamSchedule::Dense dense) {
  switch (dense) {
    case StreamSchedule::Dense::on:
      return PackDense{"A"};
    case StreamSchedule::Dense::listed:
      return PackListed{"A"};
    default:
      return PackFragments{"A"};
  }
}

}  // namespace

StreamSchedule parse_stream(std::string_view text, std::string_view settings) {
  const StreamSchedule preset;
  const Settings given(text, "stream", settings, {"columns", "panels", "warps", "stages", "pdl", "share", "rows", "copies", "cluster", "quarters", "dense"});
  return {.columns = given.number("columns", preset.columns),
          .panels = given.number("panels", preset.panels),
          .warps = given.number("warps", preset.warps),
          .stages = given.number("stages", preset.stages),
          .pdl = given.word("pdl", preset.pdl ? "on" : "off", {"on", "off"}) == "on",
          .share = given.number("share", preset.share),
          .rows = given.number("rows", preset.rows),
          .copies = copies_of(given.word("copies", "lanes", {"lanes", "units", "bulk"})),
          .cluster = given.number("cluster", preset.cluster),
          .quarters = given.word("quarters", preset.quarters ? "on" : "off", {"on", "off"}) == "on",
          .dense = dense_of(given.word("dense", "off", {"off", "on", "listed"}))};
}

std::string print(const StreamSchedule& schedule) {
  return fmt::format("stream:columns={},panels={},warps={},stages={},pdl={}{}{}{}{}{}{}", schedule.columns, schedule.panels, schedule.warps,
                     schedule.stages, schedule.pdl ? "on" : "off",
                     schedule.share == 1 ? "" : fmt::format(",share={}", schedule.share),
                     schedule.rows == StreamSchedule::strip_rows ? "" : fmt::format(",rows={}", schedule.rows),
                     schedule.copies == StreamSchedule::Copies::bulk    ? ",copies=bulk"
                     : schedule.copies == StreamSchedule::Copies::units ? ",copies=units"
                                                                        : "",
                     schedule.cluster == 1 ? "" : fmt::format(",cluster={}", schedule.cluster),
                     schedule.quarters ? ",quarters=on" : "", schedule.dense == StreamSchedule::Dense::listed ? ",dense=listed"
                     : schedule.dense == StreamSchedule::Dense::on   ? ",dense=on"
                                                                     : "");
}

void check_ranges(const StreamSchedule& schedule) {
  const std::string text = print(schedule);
  check_power_of_two(text, "columns", schedule.columns, 8, StreamSchedule::max_columns);
  check_range(text, "panels", schedule.panels, 1, StreamSchedule::max_panels, 1);
  check_range(text, "warps", schedule.warps, 1, StreamSchedule::max_panels / schedule.panels, 1);
  check_range(text, "stages", schedule.stages, 2, StreamSchedule::max_stages, 1);
  check_power_of_two(text, "share", schedule.share, 1, StreamSchedule::max_share);
  if (schedule.warps % schedule.share != 0) {
    throw ScheduleError(text, fmt::format("warps={} cannot be dealt to windows with share={} each", schedule.warps, schedule.share),
                        fmt::format("the nearest legal value is share={}", std::gcd(schedule.warps, schedule.share)));
  }
  check_power_of_two(text, "cluster", schedule.cluster, 1, StreamSchedule::max_cluster);
  check_range(text, "rows", schedule.rows, StreamSchedule::strip_rows, StreamSchedule::max_rows, StreamSchedule::strip_rows);
}

void check_legal(const StreamSchedule& schedule, const ProductColumns& columns) {
  check_ranges(schedule);
  const int most = widest_stream(columns.count);
  if (schedule.columns > most) {
    throw ScheduleError(print(schedule), fmt::format("columns={} is more than bCol={} asks for", schedule.columns, columns.count),
                        fmt::format("the nearest legal value is columns={}", most));
  }
}

bool can_stream(std::string_view dtype, std::string_view layout) {
  return dtype == "f32" || dtype == "tf32" || (is_half_type(dtype) && (layout == "kn" || layout == "nk"));
}

bool has_taps(std::string_view layout) { return layout != "nk" && layout.find("nk") != layout.npos; }

int widest_stream(long long columns) {
  return static_cast<int>(std::bit_ceil(static_cast<std::uint64_t>(std::clamp<long long>(columns, 8, StreamSchedule::max_columns))));
}

bool copies_boxes(const StreamSchedule& schedule, std::string_view layout) {
  return schedule.copies == StreamSchedule::Copies::bulk && schedule.columns >= StreamSchedule::least_columns_of_boxes && layout == "kn";
}

std::int64_t staged_window_bytes(const StreamSchedule& schedule, std::string_view dtype, std::string_view layout) {
  const int padding = copies_boxes(schedule, layout) && !is_half_type(dtype) ? StreamSchedule::padding_of_boxes : 0;
  const std::int64_t whole = std::int64_t{StreamSchedule::window_bytes} * (schedule.columns + padding);
  constexpr std::int64_t channels = 16;
  const std::int64_t positions = schedule.columns * 3 / 2 + 64;
  return is_half_type(dtype) || !has_taps(layout) ? whole : std::min(whole, channels * positions * bytes_of_type(dtype));
}

std::int64_t shared_bytes(const StreamSchedule& schedule, std::int64_t unit_bytes, std::int64_t window_bytes) {
  constexpr std::int64_t sum = 4;
  const std::int64_t stage = schedule.turn_windows() * (schedule.panels * unit_bytes + window_bytes);
  const int others = schedule.warps - 1 + schedule.cluster - 1;
  return schedule.stages * stage + sum * others * schedule.panels * schedule.rows * schedule.columns;
}

std::vector<Directive> expand(const StreamSchedule& schedule) {
  std::vector<Directive> directives{StreamWindows{"i", schedule.panels, schedule.warps, schedule.rows, schedule.share}, FragmentColumns{"j", schedule.columns}};
  directives.push_back(transformed(schedule.dense));
  if (schedule.quarters) {
    directives.emplace_back(QuarterSteps{"A"});
  }
  directives.emplace_back(PipelineWindows{"k", schedule.stages});
  if (schedule.copies == StreamSchedule::Copies::bulk) {
    directives.emplace_back(CopyInBulk{});
  } else if (schedule.copies == StreamSchedule::Copies::units) {
    directives.emplace_back(CopyUnits{});
  }
  if (schedule.cluster > 1) {
    directives.emplace_back(ClusterTurns{"k", schedule.cluster});
  }
  if (schedule.pdl) {
    directives.emplace_back(Overlap{});
  }
  return directives;
}

}  // namespace esc

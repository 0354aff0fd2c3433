// SPDX-License-Identifier: Apache-2.0
#include "generator/schedule/stream_schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

#include "generator/schedule/element_types.h"
#include "generator/schedule/settings.h"

namespace esc {
namespace {

StreamSchedule::Copies copies_of(std::string_view word) {
  return word == "bulk"    ? StreamSchedule::Copies::bulk
         : word == "units" ? StreamSchedule::Copies::units
                           : StreamSchedule::Copies::lanes;
}

constexpr std::pair<StreamSchedule::Dense, std::string_view> dense_words[] = {
    {StreamSchedule::Dense::off, "off"},
    {StreamSchedule::Dense::on, "on"},
    {StreamSchedule::Dense::listed, "listed"},
    {StreamSchedule::Dense::placed, "placed"}};

StreamSchedule::Dense dense_of(std::string_view word) {
  for (const auto& [value, name] : dense_words) {
    if (word == name) {
      return value;
    }
  }
  return StreamSchedule::Dense::off;
}

std::string_view word_of(StreamSchedule::Dense dense) {
  return std::ranges::find(dense_words, dense, &std::pair<StreamSchedule::Dense, std::string_view>::first)->second;
}

Directive transformed(StreamSchedule::Dense dense) {
  switch (dense) {
    case StreamSchedule::Dense::on:
      return PackDense{"A"};
    case StreamSchedule::Dense::listed:
      return PackListed{"A"};
    case StreamSchedule::Dense::placed:
      return PackPlaced{"A"};
    default:
      return PackFragments{"A"};
  }
}

}  // namespace

StreamSchedule parse_stream(std::string_view text, std::string_view settings) {
  const StreamSchedule preset;
  const Settings given(text, "stream", settings,
                       {"columns", "panels", "warps", "stages", "pdl", "share", "rows", "copies", "cluster", "ahead",
                        "quarters", "dense"});
  return {.columns = given.number("columns", preset.columns),
          .panels = given.number("panels", preset.panels),
          .warps = given.number("warps", preset.warps),
          .stages = given.number("stages", preset.stages),
          .pdl = given.word("pdl", preset.pdl ? "on" : "off", {"on", "off"}) == "on",
          .share = given.number("share", preset.share),
          .rows = given.number("rows", preset.rows),
          .copies = copies_of(given.word("copies", "lanes", {"lanes", "units", "bulk"})),
          .cluster = given.number("cluster", preset.cluster),
          .ahead = given.word("ahead", preset.ahead ? "on" : "off", {"on", "off"}) == "on",
          .quarters = given.word("quarters", preset.quarters ? "on" : "off", {"on", "off"}) == "on",
          .dense = dense_of(given.word("dense", "off", {"off", "on", "listed", "placed"}))};
}

std::string print(const StreamSchedule& schedule) {
  return fmt::format(
      "stream:columns={},panels={},warps={},stages={},pdl={}{}{}{}{}{}{}{}", schedule.columns, schedule.panels,
      schedule.warps, schedule.stages, schedule.pdl ? "on" : "off",
      schedule.share == 1 ? "" : fmt::format(",share={}", schedule.share),
      schedule.rows == StreamSchedule::strip_rows ? "" : fmt::format(",rows={}", schedule.rows),
      schedule.copies == StreamSchedule::Copies::bulk    ? ",copies=bulk"
      : schedule.copies == StreamSchedule::Copies::units ? ",copies=units"
                                                         : "",
      schedule.cluster == 1 ? "" : fmt::format(",cluster={}", schedule.cluster), schedule.ahead ? ",ahead=on" : "",
      schedule.quarters ? ",quarters=on" : "",
      schedule.dense == StreamSchedule::Dense::off ? "" : fmt::format(",dense={}", word_of(schedule.dense)));
}

namespace {

/// What values that are placed ask for.
void check_placed(const StreamSchedule& schedule, const std::string& text) {
  const int warps = schedule.team_warps();
  if (warps % StreamSchedule::product_warps != 0 ||
      warps * StreamSchedule::warp_columns > StreamSchedule::max_placed_columns) {
    throw ScheduleError(text,
                        fmt::format("panels={} with share={} are {} warps that multiply the same windows, and placed "
                                    "values are multiplied for 4 or 8",
                                    schedule.panels, schedule.share, warps),
                        "choose panels and share so that their product is 4 or 8");
  }
  if (const int most = schedule.most_block_rows(); schedule.block_rows() > most) {
    throw ScheduleError(
        text,
        fmt::format("panels={} with rows={} are {} rows of a block, and the lanes of {} warps have registers for the "
                    "sums of {}",
                    schedule.panels, schedule.rows, schedule.block_rows(), schedule.threads() / 32, most),
        fmt::format("choose panels and rows so that their product is {} at most", most));
  }
  if (schedule.columns != warps * StreamSchedule::warp_columns) {
    throw ScheduleError(text, fmt::format("{} warps have {} columns each", warps, StreamSchedule::warp_columns),
                        fmt::format("the nearest legal value is columns={}", warps * StreamSchedule::warp_columns));
  }
}

/// What values that are placed ahead ask for.
void check_ahead(const StreamSchedule& schedule, const std::string& text) {
  if (!schedule.is_placed()) {
    throw ScheduleError(text, "ahead=on is for values that are placed", "write dense=placed, or leave it out");
  }
  if (schedule.copies == StreamSchedule::Copies::lanes) {
    throw ScheduleError(text, "warps that place values meet those that multiply them where bulk copies end",
                        "write copies=bulk");
  }
  if (schedule.stages < StreamSchedule::least_stages_ahead) {
    throw ScheduleError(text,
                        fmt::format("values that are placed a turn ahead are copied in {} stages at least",
                                    StreamSchedule::least_stages_ahead),
                        fmt::format("the nearest legal value is stages={}", StreamSchedule::least_stages_ahead));
  }
  if (schedule.panels * schedule.warps > StreamSchedule::max_warps_ahead) {
    throw ScheduleError(
        text,
        fmt::format(
            "{} warps that multiply and as many that place leave too few registers for a product of the tensor core",
            schedule.panels * schedule.warps),
        fmt::format("choose panels and warps so that their product is {} at most", StreamSchedule::max_warps_ahead));
  }
}

/// What one column by itself asks for.
void check_one_column(const StreamSchedule& schedule, const std::string& text) {
  if (schedule.dense != StreamSchedule::Dense::off) {
    throw ScheduleError(text, "dense steps multiply 8 columns of C at once", "leave dense out, or write columns=8");
  }
  if (schedule.share > 1 || schedule.cluster > 1) {
    throw ScheduleError(text,
                        "of one column of C the lanes of a row deal the products to each other, and neither warps nor "
                        "blocks share windows",
                        "leave share and cluster out, or write columns=8");
  }
}

}  // namespace

void check_ranges(const StreamSchedule& schedule) {
  const std::string text = print(schedule);
  if (schedule.has_one_column()) {
    check_one_column(schedule, text);
  } else {
    check_power_of_two(text, "columns", schedule.columns, 8,
                       schedule.is_placed() ? StreamSchedule::max_placed_columns : StreamSchedule::max_columns);
  }
  check_range(text, "panels", schedule.panels, 1, StreamSchedule::max_panels, 1);
  check_range(text, "warps", schedule.warps, 1, StreamSchedule::max_panels / schedule.panels, 1);
  check_range(text, "stages", schedule.stages, 2, StreamSchedule::max_stages, 1);
  check_power_of_two(text, "share", schedule.share, 1, StreamSchedule::max_share);
  if (schedule.warps % schedule.share != 0) {
    throw ScheduleError(
        text, fmt::format("warps={} cannot be dealt to windows with share={} each", schedule.warps, schedule.share),
        fmt::format("the nearest legal value is share={}", std::gcd(schedule.warps, schedule.share)));
  }
  check_range(text, "cluster", schedule.cluster, 1, StreamSchedule::max_cluster, 1);
  check_range(text, "rows", schedule.rows, StreamSchedule::strip_rows,
              schedule.is_placed() ? StreamSchedule::max_placed_rows : StreamSchedule::max_rows,
              StreamSchedule::strip_rows);
  if (schedule.is_placed()) {
    check_placed(schedule, text);
  }
  if (schedule.ahead) {
    check_ahead(schedule, text);
  }
}

void check_legal(const StreamSchedule& schedule, const ProductColumns& columns) {
  check_ranges(schedule);
  const int most = schedule.is_placed() ? widest_placed_stream(columns.count) : widest_stream(columns.count);
  if (schedule.columns > most) {
    throw ScheduleError(
        print(schedule), fmt::format("columns={} is more than bCol={} asks for", schedule.columns, columns.count),
        schedule.is_placed() ? fmt::format("choose panels and share so that their product is {}, and columns={}",
                                           most / StreamSchedule::warp_columns, most)
                             : fmt::format("the nearest legal value is columns={}", most));
  }
}

bool can_stream(std::string_view dtype, std::string_view layout) {
  return dtype == "f32" || dtype == "tf32" || (is_half_type(dtype) && (layout == "kn" || layout == "nk"));
}

bool has_taps(std::string_view layout) { return layout != "nk" && layout.find("nk") != layout.npos; }

int widest_stream(long long columns) {
  return static_cast<int>(
      std::bit_ceil(static_cast<std::uint64_t>(std::clamp<long long>(columns, 8, StreamSchedule::max_columns))));
}

int widest_placed_stream(long long columns) {
  constexpr long long least = StreamSchedule::product_warps * StreamSchedule::warp_columns;
  return columns > least ? StreamSchedule::max_placed_columns : least;
}

bool copies_boxes(const StreamSchedule& schedule, std::string_view layout) {
  return schedule.copies == StreamSchedule::Copies::bulk &&
         schedule.columns >= StreamSchedule::least_columns_of_boxes && layout == "kn";
}

std::int64_t staged_window_bytes(const StreamSchedule& schedule, std::string_view dtype, std::string_view layout) {
  const int padding = copies_boxes(schedule, layout) && !is_half_type(dtype) ? StreamSchedule::padding_of_boxes : 0;
  const int bytes = bytes_of_type(dtype);
  const std::int64_t whole = std::int64_t{schedule.columns_of_window(bytes)} * bytes * (schedule.columns + padding);
  constexpr std::int64_t channels = 16;
  const std::int64_t positions = schedule.columns * 3 / 2 + 64;
  return is_half_type(dtype) || !has_taps(layout) ? whole
                                                  : std::min(whole, channels * positions * bytes_of_type(dtype));
}

std::int64_t line_rows_of_boxes(std::int64_t columns, std::int64_t rows_of_b, std::int64_t columns_of_b) {
  constexpr std::int64_t line_elements = 64;
  const std::int64_t rows = std::max<std::int64_t>(1, line_elements / columns);
  return columns == columns_of_b && rows_of_b % rows == 0 ? rows : 1;
}

std::int64_t shared_bytes(const StreamSchedule& schedule, std::int64_t unit_bytes, std::int64_t window_bytes) {
  constexpr std::int64_t value = 4;
  const std::int64_t staged = schedule.stages * schedule.turn_windows() * (schedule.panels * unit_bytes + window_bytes);
  const std::int64_t placed = schedule.is_placed() ? schedule.placed_buffers() * schedule.turn_windows() * value *
                                                         StreamSchedule::placed_columns * schedule.block_rows()
                                                   : 0;
  const int adding_warps = schedule.is_placed() ? schedule.turn_windows() : schedule.warps;
  const std::int64_t sums =
      (adding_warps - 1 + schedule.cluster - 1) * value * schedule.block_rows() * schedule.product_columns();
  const bool sums_stand_behind = schedule.cluster > 1 && !schedule.is_placed();
  return sums_stand_behind ? staged + sums : std::max(staged + placed, sums);
}

std::vector<Directive> expand(const StreamSchedule& schedule) {
  std::vector<Directive> directives{
      StreamWindows{"i", schedule.panels, schedule.warps, schedule.rows, schedule.share,
                    schedule.is_placed() ? StreamSchedule::placed_columns : 0},
      FragmentColumns{"j", schedule.columns, schedule.is_placed() ? StreamSchedule::warp_columns : 0}};
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
  if (schedule.ahead) {
    directives.emplace_back(PlaceAhead{"A"});
  }
  if (schedule.pdl) {
    directives.emplace_back(Overlap{});
  }
  return directives;
}

}  // namespace esc

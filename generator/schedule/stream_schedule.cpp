// SPDX-License-Identifier: Apache-2.0
#include "generator/schedule/stream_schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

#include "generator/schedule/settings.h"

namespace esc {
namespace {

using Copies = StreamSchedule::Copies;
using Dense = StreamSchedule::Dense;

/// A value, what it is called, and what it was called before.
template <typename Value>
struct ValueName {
  Value value;
  std::string_view name;
  std::string_view old;
};

constexpr ValueName<Copies> copy_names[] = {
    {Copies::cp_async, "cp_async", "lanes"}, {Copies::bulk_a, "bulk_a", "units"}, {Copies::tma, "tma", "bulk"}};

constexpr ValueName<Dense> format_names[] = {{Dense::off, "sparse24", "off"},
                                             {Dense::on, "dense", "on"},
                                             {Dense::listed, "bitmap", "listed"},
                                             {Dense::placed, "decompress", "placed"}};

/// The value that the key has, by its name or, in old settings, by its old one.
template <typename Value, std::size_t count>
Value value_at(const Settings& given, const char* key, const char* old_key, const ValueName<Value> (&names)[count]) {
  std::vector<std::string> words;
  for (const ValueName<Value>& one : names) {
    words.emplace_back(given.is_old() ? one.old : one.name);
  }
  const std::string word = given.word(given.is_old() ? old_key : key, words.front(), words);
  return names[std::ranges::find(words, word) - words.begin()].value;
}

template <typename Value, std::size_t count>
std::string name_of(Value value, const ValueName<Value> (&names)[count]) {
  return std::string(std::ranges::find(names, value, &ValueName<Value>::value)->name);
}

/// The K of a tile in a text.
int tile_k(const StreamSchedule& schedule) {
  return schedule.is_placed() ? StreamSchedule::placed_columns : StreamSchedule::k_tile_in_texts;
}

/// "tile=64x256x8", with other rows or columns than the schedule's.
std::string tile_text(const StreamSchedule& schedule, long long rows, long long columns) {
  return fmt::format("tile={}x{}x{}", rows, tile_k(schedule), columns);
}

/// Rows of a warp where a tile has so many and nothing else is said.
long long usual_warp_rows(long long tile_rows) {
  return tile_rows <= StreamSchedule::max_rows ? tile_rows : StreamSchedule::m16_tile_rows;
}

void read_old_settings(StreamSchedule& schedule, const Settings& given) {
  schedule.columns = given.number("columns", schedule.columns);
  schedule.row_tiles = given.number("panels", schedule.row_tiles);
  schedule.warps = given.number("warps", schedule.warps);
  schedule.share = given.number("share", schedule.share);
  schedule.rows = given.number("rows", schedule.rows);
  schedule.ahead = given.flag("ahead", schedule.ahead);
}

void read_settings(StreamSchedule& schedule, const Settings& given) {
  const int k = tile_k(schedule);
  const std::vector<int> tile = given.tile("tile", {schedule.block_rows(), k, schedule.columns});
  check_range(given.text(), "tile K", tile[1], k, k, 1,
              [&](long long) { return tile_text(schedule, tile[0], tile[2]); });
  schedule.columns = tile[2];
  schedule.rows = given.number("warp_m", static_cast<int>(usual_warp_rows(tile[0])));
  schedule.row_tiles = whole_parts(given.text(), "tile M", tile[0], "warp_m", schedule.rows,
                                   [&](long long rows) { return tile_text(schedule, rows, tile[2]); });
  schedule.warps = whole_parts(given.text(), "warps", given.number("warps", schedule.warps * schedule.row_tiles),
                               "tile M / warp_m", schedule.row_tiles);
  schedule.share = given.number("split_k", schedule.share);
  schedule.ahead = given.flag("warp_specialized", schedule.ahead);
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

/// Refuses what kernels of 16 bits had.
void refuse_gone_keys(std::string_view text, std::string_view settings) {
  for (const std::string_view key : StreamSchedule::gone_keys) {
    if (settings.find(key) != std::string_view::npos) {
      throw ScheduleError(std::string(text),
                          fmt::format("family stream has no key '{}' any more, nor kernels of 16 bits", key),
                          "write bitmap, whose packed matrix serves every number of columns in 16 bits");
    }
  }
}

}  // namespace

StreamSchedule parse_stream(std::string_view text, std::string_view settings) {
  refuse_gone_keys(text, settings);
  const Settings given(text, schedule_family("stream"), settings);
  StreamSchedule schedule;
  schedule.stages = given.number("stages", schedule.stages);
  schedule.pdl = given.flag("pdl", schedule.pdl);
  schedule.cluster = given.number("cluster", schedule.cluster);
  schedule.copies = value_at(given, "copy", "copies", copy_names);
  schedule.dense = value_at(given, "format", "dense", format_names);
  given.is_old() ? read_old_settings(schedule, given) : read_settings(schedule, given);
  return schedule;
}

std::string print(const StreamSchedule& schedule) {
  const long long rows = 1LL * schedule.row_tiles * schedule.rows;
  const auto unless = [](auto value, auto usual) { return value == usual ? std::string() : fmt::format("{}", value); };
  return print_settings(schedule_family("stream"), [&](std::string_view key) {
    return key == "tile"               ? fmt::format("{}x{}x{}", rows, tile_k(schedule), schedule.columns)
           : key == "warp_m"           ? unless(1LL * schedule.rows, usual_warp_rows(rows))
           : key == "warps"            ? std::to_string(1LL * schedule.row_tiles * schedule.warps)
           : key == "stages"           ? std::to_string(schedule.stages)
           : key == "copy"             ? name_of(schedule.copies, copy_names)
           : key == "split_k"          ? unless(schedule.share, 1)
           : key == "cluster"          ? unless(schedule.cluster, 1)
           : key == "warp_specialized" ? schedule.ahead ? "on" : ""
           : key == "format"           ? schedule.dense == Dense::off ? "" : name_of(schedule.dense, format_names)
                                       : on_or_off(schedule.pdl);
  });
}

namespace {

/// What values that are placed ask for.
void check_placed(const StreamSchedule& schedule, const ScheduleText& text) {
  const int warps = schedule.consumer_group_warps();
  if (warps % StreamSchedule::product_warps != 0 ||
      warps * StreamSchedule::warp_columns > StreamSchedule::max_placed_columns) {
    throw ScheduleError(
        text.str(),
        fmt::format("tile M / warp_m={} with split_k={} are {} warps that multiply the same K tile, and "
                    "decompressed values are multiplied for 4 or 8",
                    schedule.row_tiles, schedule.share, warps),
        "choose tile, warp_m and split_k so that their product is 4 or 8");
  }
  if (const int most = schedule.most_block_rows(); schedule.block_rows() > most) {
    throw ScheduleError(
        text.str(),
        fmt::format("tile M={} is more than the lanes of {} warps have registers for: the sums of {} rows",
                    schedule.block_rows(), schedule.threads() / 32, most),
        fmt::format("choose a tile M of {} at most", most));
  }
  if (schedule.columns != warps * StreamSchedule::warp_columns) {
    throw ScheduleError(text.str(), fmt::format("{} warps have {} columns each", warps, StreamSchedule::warp_columns),
                        "the nearest legal value is " +
                            tile_text(schedule, schedule.block_rows(), warps * StreamSchedule::warp_columns));
  }
}

/// What values that are placed ahead ask for.
void check_ahead(const StreamSchedule& schedule, const ScheduleText& text) {
  if (!schedule.is_placed()) {
    throw ScheduleError(text.str(), "warp_specialized=on is for values that warps decompress",
                        "write format=decompress, or leave it out");
  }
  if (schedule.copies == StreamSchedule::Copies::cp_async) {
    throw ScheduleError(text.str(), "warps that decompress values meet those that multiply them where bulk copies end",
                        "write copy=tma");
  }
  if (schedule.stages < StreamSchedule::least_stages_ahead) {
    throw ScheduleError(text.str(),
                        fmt::format("values that are decompressed an iteration ahead are copied in {} stages at least",
                                    StreamSchedule::least_stages_ahead),
                        fmt::format("the nearest legal value is stages={}", StreamSchedule::least_stages_ahead));
  }
  if (schedule.row_tiles * schedule.warps > StreamSchedule::max_consumer_warps) {
    throw ScheduleError(text.str(),
                        fmt::format("{} warps that multiply and as many that decompress leave too few registers for a "
                                    "product of the tensor core",
                                    schedule.row_tiles * schedule.warps),
                        fmt::format("the nearest legal value is warps={}", StreamSchedule::max_consumer_warps));
  }
}

}  // namespace

void check_ranges(const StreamSchedule& schedule) {
  const ScheduleText text(schedule);
  check_power_of_two(
      text, "tile N", schedule.columns, 8,
      schedule.is_placed() ? StreamSchedule::max_placed_columns : StreamSchedule::max_columns,
      [&](long long columns) { return tile_text(schedule, 1LL * schedule.row_tiles * schedule.rows, columns); });
  check_range(text, "tile M / warp_m", schedule.row_tiles, 1, StreamSchedule::max_row_tiles, 1,
              [&](long long row_tiles) { return tile_text(schedule, row_tiles * schedule.rows, schedule.columns); });
  check_range(text, "warps", bounded_product(schedule.row_tiles, schedule.warps), schedule.row_tiles,
              StreamSchedule::max_row_tiles / schedule.row_tiles * schedule.row_tiles, schedule.row_tiles);
  check_range(text, "stages", schedule.stages, 2, StreamSchedule::max_stages, 1);
  check_power_of_two(text, "split_k", schedule.share, 1, StreamSchedule::max_share);
  if (schedule.warps % schedule.share != 0) {
    throw ScheduleError(text.str(),
                        fmt::format("the {} warps of the same rows cannot be divided into groups of split_k={}",
                                    schedule.warps, schedule.share),
                        fmt::format("the nearest legal value is split_k={}", std::gcd(schedule.warps, schedule.share)));
  }
  check_range(text, "cluster", schedule.cluster, 1, StreamSchedule::max_cluster, 1);
  check_range(text, "warp_m", schedule.rows, StreamSchedule::m16_tile_rows,
              schedule.is_placed() ? StreamSchedule::max_placed_rows : StreamSchedule::max_rows,
              StreamSchedule::m16_tile_rows);
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
        print(schedule), fmt::format("tile N={} is more than N={} asks for", schedule.columns, columns.count),
        schedule.is_placed() ? fmt::format("choose tile, warp_m and split_k for {} warps that multiply, and tile N={}",
                                           most / StreamSchedule::warp_columns, most)
                             : "the nearest legal value is " + tile_text(schedule, schedule.block_rows(), most));
  }
}

bool can_stream(std::string_view dtype) { return dtype == "f32" || dtype == "tf32"; }

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
  return schedule.copies == StreamSchedule::Copies::tma && schedule.columns >= StreamSchedule::least_columns_of_boxes &&
         layout == "kn";
}

std::int64_t staged_k_tile_bytes(const StreamSchedule& schedule, std::string_view layout) {
  constexpr std::int64_t bytes = StreamSchedule::element_bytes;
  const int padding = copies_boxes(schedule, layout) ? StreamSchedule::padding_of_boxes : 0;
  const std::int64_t whole = schedule.columns_of_k_tile() * bytes * (schedule.columns + padding);
  constexpr std::int64_t channels = 16;
  const std::int64_t positions = schedule.columns * 3 / 2 + 64;
  return has_taps(layout) ? std::min(whole, channels * positions * bytes) : whole;
}

std::int64_t shared_bytes(const StreamSchedule& schedule, std::int64_t packed_tile_bytes, std::int64_t k_tile_bytes) {
  constexpr std::int64_t value = 4;
  const std::int64_t staged =
      schedule.stages * schedule.iteration_k_tiles() * (schedule.row_tiles * packed_tile_bytes + k_tile_bytes);
  const std::int64_t placed = schedule.is_placed() ? schedule.placed_buffers() * schedule.iteration_k_tiles() * value *
                                                         StreamSchedule::placed_columns * schedule.block_rows()
                                                   : 0;
  const int adding_warps = schedule.is_placed() ? schedule.iteration_k_tiles() : schedule.warps;
  const std::int64_t sums =
      (adding_warps - 1 + schedule.cluster - 1) * value * schedule.block_rows() * schedule.columns;
  const bool sums_stand_behind = schedule.cluster > 1 && !schedule.is_placed();
  return sums_stand_behind ? staged + sums : std::max(staged + placed, sums);
}

std::vector<Directive> expand(const StreamSchedule& schedule) {
  std::vector<Directive> directives{
      Mainloop{"i", schedule.row_tiles, schedule.warps, schedule.rows, schedule.share,
               schedule.is_placed() ? StreamSchedule::placed_columns : 0},
      FragmentColumns{"j", schedule.columns, schedule.is_placed() ? StreamSchedule::warp_columns : 0}};
  directives.push_back(transformed(schedule.dense));
  directives.emplace_back(PipelineKTiles{"k", schedule.stages});
  if (schedule.copies == StreamSchedule::Copies::tma) {
    directives.emplace_back(CopyInBulk{});
  } else if (schedule.copies == StreamSchedule::Copies::bulk_a) {
    directives.emplace_back(CopyPackedTiles{});
  }
  if (schedule.cluster > 1) {
    directives.emplace_back(ClusterIterations{"k", schedule.cluster});
  }
  if (schedule.ahead) {
    directives.emplace_back(WarpSpecialize{"A"});
  }
  if (schedule.pdl) {
    directives.emplace_back(Overlap{});
  }
  return directives;
}

}  // namespace esc

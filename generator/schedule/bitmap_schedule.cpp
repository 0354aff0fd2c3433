// SPDX-License-Identifier: Apache-2.0
#include "generator/schedule/bitmap_schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "generator/schedule/element_types.h"
#include "generator/schedule/settings.h"
#include "generator/schedule/stream_schedule.h"

namespace esc {
namespace {

constexpr int tile_k = BitmapSchedule::tile_columns_of_a;

std::string tile_text(long long rows, long long columns) { return fmt::format("tile={}x{}x{}", rows, tile_k, columns); }

/// A lane of a warpgroup has half as many sums, beside the fragments of two K blocks and what it decodes with.
int most_warpgroup_columns(int threads) {
  constexpr int registers = 65536;
  constexpr int of_thread = 255;
  constexpr int beside_sums = 96;
  const int sums = std::min(registers / threads, of_thread) - beside_sums;
  return sums < BitmapSchedule::least_warpgroup_columns / 2
             ? 0
             : static_cast<int>(std::bit_floor(static_cast<unsigned>(2 * sums)));
}

/// What wgmma asks for: four warps with row tiles beside each other, and registers for all sums.
void check_warpgroups(const BitmapSchedule& schedule) {
  constexpr int warps = BitmapSchedule::warpgroup_warps;
  if (schedule.row_tiles % warps != 0) {
    throw ScheduleError(
        print(schedule),
        fmt::format("tile M={} is no multiple of the {} rows of the warps that multiply at once",
                    schedule.row_tiles * BitmapSchedule::row_tile_rows, warps * BitmapSchedule::row_tile_rows),
        "the nearest legal value is " +
            tile_text(std::max(warps, schedule.row_tiles / warps * warps) * BitmapSchedule::row_tile_rows,
                      schedule.columns));
  }
  const int threads = schedule.consumer_threads();
  if (const int most = most_warpgroup_columns(threads); schedule.columns > most) {
    throw ScheduleError(
        print(schedule),
        fmt::format("tile N={} takes more registers than {} threads can have", schedule.columns, threads),
        "the nearest legal value is " + tile_text(schedule.row_tiles * BitmapSchedule::row_tile_rows, most));
  }
}

}  // namespace

int BitmapSchedule::threads() const {
  return consumer_threads() + (has_warpgroups() ? 32 * ProducerWarps(consumer_threads(), columns).warps() : 0);
}

int ProducerWarps::most_registers() const {
  // ptxas counts whole warpgroups.
  return std::min(StreamSchedule::most_registers,
                  StreamSchedule::thread_registers(consumer_threads_ + 32 * BitmapSchedule::warpgroup_warps));
}

bool ProducerWarps::exchange_registers() const {
  constexpr int beside_sums = 104;  // fragments of two K blocks, what they are decoded with, and addresses
  return most_registers() < std::min(sums_ + beside_sums, consumer_registers());
}

int ProducerWarps::consumer_registers() const {
  constexpr int most = 240, at_once = 8;  // of what setmaxnreg takes
  const int producer_threads = 32 * BitmapSchedule::warpgroup_warps;
  const int threads = consumer_threads_ + producer_threads;
  const int all = std::min(most, most_registers()) * threads;
  return std::min(most, (all - producer_threads * own_registers) / consumer_threads_ / at_once * at_once);
}

BitmapSchedule parse_bitmap(std::string_view text, std::string_view settings) {
  const BitmapSchedule preset;
  const Settings given(text, schedule_family("bitmap"), settings);
  BitmapSchedule schedule{.stages = given.number("stages", preset.stages),
                          .step = given.number("step", preset.step),
                          .cluster = given.number("cluster", preset.cluster),
                          .pdl = given.flag("pdl", preset.pdl)};
  if (given.is_old()) {
    schedule.columns = given.number("columns", preset.columns);
    schedule.row_tiles = given.number("panels", preset.row_tiles);
    schedule.warps = given.number("warps", preset.warps);
    schedule.packed_tiles = given.number("units", preset.packed_tiles);
  } else {
    const std::vector<int> tile =
        given.tile("tile", {preset.row_tiles * BitmapSchedule::row_tile_rows, tile_k, preset.columns});
    check_range(given.text(), "tile K", tile[1], tile_k, tile_k, 1,
                [&](long long) { return tile_text(tile[0], tile[2]); });
    schedule.columns = tile[2];
    schedule.row_tiles = whole_parts(given.text(), "tile M", tile[0], "m16", BitmapSchedule::row_tile_rows,
                                     [&](long long rows) { return tile_text(rows, tile[2]); });
    schedule.warps = whole_parts(given.text(), "warps", given.number("warps", preset.warps * schedule.row_tiles),
                                 "tile M / 16", schedule.row_tiles);
    schedule.packed_tiles = given.number("stages_a", preset.packed_tiles);
  }
  schedule.mma = given.word("mma", "mma", {"mma", "wgmma"}, {"warp", "warpgroup"}) == "wgmma"
                     ? BitmapSchedule::Mma::warpgroup
                     : BitmapSchedule::Mma::warp;
  schedule.format = given.word("format", "bitmap", {"bitmap", "sparse24"}) == "sparse24"
                        ? BitmapSchedule::Format::sparse24
                        : BitmapSchedule::Format::bitmap;
  return schedule;
}

std::string print(const BitmapSchedule& schedule) {
  return print_settings(schedule_family("bitmap"), [&](std::string_view key) {
    return key == "tile"     ? fmt::format("{}x{}x{}", 1LL * schedule.row_tiles * BitmapSchedule::row_tile_rows, tile_k,
                                           schedule.columns)
           : key == "warps"  ? std::to_string(1LL * schedule.row_tiles * schedule.warps)
           : key == "stages" ? std::to_string(schedule.stages)
           : key == "stages_a" ? std::to_string(schedule.packed_tiles)
           : key == "step"     ? schedule.step == BitmapSchedule::half_tile ? "" : std::to_string(schedule.step)
           : key == "mma"      ? schedule.has_warpgroups() ? "wgmma" : ""
           : key == "cluster"  ? schedule.cluster == 1 ? "" : std::to_string(schedule.cluster)
           : key == "format"   ? schedule.is_sparse24() ? "sparse24" : ""
                               : on_or_off(schedule.pdl);
  });
}

void check_ranges(const BitmapSchedule& schedule) {
  const ScheduleText text(schedule);
  const bool has_warpgroups = schedule.has_warpgroups();
  const long long rows = 1LL * schedule.row_tiles * BitmapSchedule::row_tile_rows;
  check_power_of_two(text, "tile N", schedule.columns,
                     has_warpgroups ? BitmapSchedule::least_warpgroup_columns : BitmapSchedule::least_columns,
                     has_warpgroups ? BitmapSchedule::max_columns : BitmapSchedule::max_warp_columns,
                     [&](long long columns) { return tile_text(rows, columns); });
  check_range(text, "tile M / 16", schedule.row_tiles, 1, BitmapSchedule::max_warps, 1, [&](long long row_tiles) {
    return tile_text(row_tiles * BitmapSchedule::row_tile_rows, schedule.columns);
  });
  check_range(text, "warps", bounded_product(schedule.row_tiles, schedule.warps), schedule.row_tiles,
              BitmapSchedule::max_warps / schedule.row_tiles * schedule.row_tiles, schedule.row_tiles);
  check_range(text, "stages", schedule.stages, has_warpgroups ? 3 : 2, BitmapSchedule::max_stages, 1);
  check_range(text, "stages_a", schedule.packed_tiles, 2, BitmapSchedule::max_stages, 1);
  check_range(text, "cluster", schedule.cluster, 1, BitmapSchedule::max_cluster, 1);
  if (has_warpgroups) {
    check_warpgroups(schedule);
    if (schedule.is_sparse24()) {
      throw ScheduleError(text.str(), "format=sparse24 is multiplied by each warp by itself",
                          "leave out mma=wgmma, or format=sparse24");
    }
  }
  if (schedule.step != BitmapSchedule::half_tile &&
      (has_warpgroups || schedule.step != BitmapSchedule::tile_columns_of_a)) {
    throw ScheduleError(
        text.str(), fmt::format("step={} is no K step of these warps", schedule.step),
        has_warpgroups ? "leave it out: warpgroups multiply 64 columns of A at a time" : "write step=128 or step=256");
  }
}

void check_legal(const BitmapSchedule& schedule, const ProductColumns& columns) {
  check_ranges(schedule);
  if (const int most = widest_bitmap_tile(columns.count); schedule.columns > most) {
    throw ScheduleError(
        print(schedule), fmt::format("tile N={} is more than N={} asks for", schedule.columns, columns.count),
        "the nearest legal value is " + tile_text(schedule.row_tiles * BitmapSchedule::row_tile_rows, most));
  }
}

bool can_use_bitmap(std::string_view dtype) { return is_half_type(dtype); }

std::int64_t shared_bytes(const BitmapSchedule& schedule, std::int64_t packed_tile_bytes) {
  constexpr std::int64_t element = 2;
  constexpr std::int64_t value = 4;
  const std::int64_t tiles =
      std::int64_t{schedule.warps} * schedule.stages * schedule.step_columns() * schedule.columns * element;
  // What the blocks of a cluster store to each other: all sums to one of them, or a part to each.
  const bool is_dealt = schedule.cluster > 1 && BitmapSchedule::deals_sums(schedule.columns, schedule.cluster);
  const int others = schedule.warps - 1 + (is_dealt ? 1 : schedule.cluster - 1);
  const std::int64_t sums =
      std::int64_t{others} * schedule.row_tiles * BitmapSchedule::row_tile_rows * schedule.columns * value;
  return std::max(tiles, sums) +
         std::int64_t{schedule.row_tiles} * schedule.warps * schedule.packed_tiles * packed_tile_bytes;
}

int widest_bitmap_tile(long long columns) {
  return static_cast<int>(std::bit_ceil(static_cast<std::uint64_t>(
      std::clamp<long long>(columns, BitmapSchedule::least_columns, BitmapSchedule::max_columns))));
}

std::vector<BitmapSchedule> legal_bitmap_schedules(const ProductColumns& given) {
  std::vector<BitmapSchedule> schedules;
  const auto add = [&](const BitmapSchedule& schedule) {
    if (is_accepted([&] { check_legal(schedule, given); })) {
      schedules.push_back(schedule);
    }
  };
  for (const BitmapSchedule::Mma mma : {BitmapSchedule::Mma::warp, BitmapSchedule::Mma::warpgroup}) {
    for (int columns = BitmapSchedule::least_columns; columns <= widest_bitmap_tile(given.count); columns *= 2) {
      for (int row_tiles = 1; row_tiles <= BitmapSchedule::max_warps; ++row_tiles) {
        for (int warps = 1; warps <= BitmapSchedule::max_warps / row_tiles; ++warps) {
          for (int stages = 2; stages <= BitmapSchedule::max_stages; ++stages) {
            for (int packed_tiles = 2; packed_tiles <= BitmapSchedule::max_stages; ++packed_tiles) {
              for (const int step : {BitmapSchedule::half_tile, BitmapSchedule::tile_columns_of_a}) {
                add({.columns = columns,
                     .row_tiles = row_tiles,
                     .warps = warps,
                     .stages = stages,
                     .packed_tiles = packed_tiles,
                     .step = step,
                     .mma = mma});
              }
            }
          }
        }
      }
    }
  }
  return schedules;
}

std::vector<Directive> expand(const BitmapSchedule& schedule) {
  std::vector<Directive> directives{Mainloop{"i", schedule.row_tiles, schedule.warps},
                                    FragmentColumns{"j", schedule.columns}};
  if (schedule.is_sparse24()) {
    directives.emplace_back(PackSparse24{"A"});
  } else {
    directives.emplace_back(PackBitmap{"A", schedule.has_warpgroups() ? BitmapSchedule::warpgroup_warps : 1});
  }
  directives.emplace_back(PipelineTiles{"k", schedule.stages, schedule.packed_tiles, schedule.step});
  if (schedule.cluster > 1) {
    directives.emplace_back(ClusterIterations{"k", schedule.cluster});
  }
  directives.emplace_back(StoreTiles{"C"});
  if (schedule.has_warpgroups()) {
    directives.emplace_back(WarpSpecialize{"B"});
  }
  if (schedule.pdl) {
    directives.emplace_back(Overlap{});
  }
  return directives;
}

}  // namespace esc

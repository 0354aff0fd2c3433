// SPDX-License-Identifier: Apache-2.0
#include "generator/schedule/search_space.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "generator/schedule/bitmap_space.h"
#include "generator/schedule/element_types.h"
#include "generator/schedule/settings.h"
#include "generator/support/error.h"

namespace esc {
namespace {

constexpr int warp_lanes = 32;

/// Of family panel. Columns and vectors follow from bCol, groups from both, row tiles from the warps of a block.
struct PanelSpace {
  static constexpr int ufi[] = {1, 2, 4, 8};
  static constexpr int warps[] = {1, 2, 4, 8, 16};
  static constexpr int block_warps[] = {4, 8, 16};
  static constexpr int ufk[] = {4, 8};
  static constexpr bool stage[] = {false, true};
  static constexpr int wide = 32;              ///< columns: 32 floats are a line of the cache, and cost what fewer cost
  static constexpr int sharing_of_wide = 2;    ///< row tiles of a warp at most
  static constexpr int sharing_of_narrow = 4;  ///< the same for tiles that have more lane groups in a warp
};

/// Of columns that are apart: how many a lane moves, each by itself, and how many lanes of a warp take columns of C at
/// most; the others take columns of A, whose elements of B are near each other.
struct SpreadSpace {
  static constexpr int vectors[] = {8, 16};
  static constexpr int lanes = 4;
};

struct RowsSpace {
  static constexpr int unroll[] = {2, 4, 8};
  static constexpr int task[] = {128, 256, 512};
  static constexpr int light[] = {4, 16, 64};
  static constexpr int warps[] = {4, 8};
};

/// The paper's parameters, around its published schedules: beyond 5 rows a row tile has more patterns than columns.
struct AtomicSpace {
  static constexpr int most_ufi = 5;
  static constexpr int most_ufk = 8;
  static constexpr int warptile[] = {1, 2, 4};
  static constexpr int threads[] = {32, 64, 128};
};

/// Of family stream: a block of a few row tiles with a few warps each, in as many stages as shared memory may hold.
struct StreamSpace {
  static constexpr int row_tiles[] = {1, 2, 3, 4, 5, 6, 7, 8, 12, 16};
  static constexpr int warps[] = {1, 2, 3, 4, 8};
  static constexpr int least_warps = 2;  ///< of a block
  static constexpr int most_warps = 16;
  static constexpr int stages[] = {2, 3, 4, 5};
  static constexpr int shares[] = {1, 2, 4};
  static constexpr int rows[] = {16, 32};
  static constexpr int placed_rows[] = {32, 48, 64, 80, 96, 112, 128, 144, 160, 176, 192};
  static constexpr StreamSchedule::Copies copies[] = {StreamSchedule::Copies::cp_async, StreamSchedule::Copies::tma};
  static constexpr int clusters[] = {1, 2, 4};
};

struct GatherSpace {
  static constexpr int least_warps = 5;
};

/// Takes up what is legal for a product's columns.
class LegalSchedules {
 public:
  explicit LegalSchedules(const ProductColumns& columns) : columns_(columns) {}

  void add(const Schedule& schedule) {
    if (is_accepted([&] { check_legal(schedule, columns_); })) {
      schedules_.push_back(schedule);
    }
  }
  std::vector<Schedule> take() { return std::move(schedules_); }

 private:
  ProductColumns columns_;
  std::vector<Schedule> schedules_;
};

/// Columns of C that a block computes, and how many of them a lane holds.
struct Tile {
  int columns = 1;
  int vector = 1;
};

/// Tiles of a cache line's width or wider; where B is narrower than that, its whole width.
std::vector<Tile> tiles_of_lines(const ProductColumns& product) {
  const int widest = widest_tile(product);
  std::vector<Tile> tiles;
  for (int columns = std::min(PanelSpace::wide, widest); columns <= widest; columns *= 2) {
    tiles.push_back({columns, std::min(columns, widest_vector(product))});
  }
  return tiles;
}

/// Tiles of few lanes.
std::vector<Tile> spread_tiles(const ProductColumns& product) {
  const int widest = widest_tile(product);
  std::vector<Tile> tiles;
  for (const int vector : SpreadSpace::vectors) {
    for (int lanes = 1; lanes <= SpreadSpace::lanes && lanes * vector <= widest; lanes *= 2) {
      tiles.push_back({lanes * vector, vector});
    }
  }
  return tiles.empty() ? std::vector<Tile>{{widest, widest}} : tiles;
}

std::vector<Tile> tiles(const ProductColumns& product) {
  return product.are_contiguous ? tiles_of_lines(product) : spread_tiles(product);
}

/// The tile's shape is given; the others go through their values.
void add_row_tiles(PanelSchedule schedule, LegalSchedules& found) {
  for (const int warps : PanelSpace::warps) {
    for (const int block_warps : PanelSpace::block_warps) {
      schedule.warps = warps;
      schedule.row_tiles = block_warps / warps * schedule.warp_row_tiles();
      if (schedule.row_tiles == 0) {
        continue;
      }
      for (const int ufk : PanelSpace::ufk) {
        for (const bool stage : PanelSpace::stage) {
          schedule.ufk = ufk;
          schedule.stage = stage;
          found.add(schedule);
        }
      }
    }
  }
}

void add_panel_family(const ProductColumns& product, LegalSchedules& found) {
  for (const int ufi : PanelSpace::ufi) {
    for (const Tile& tile : tiles(product)) {
      PanelSchedule schedule{.ufi = ufi, .columns = tile.columns, .vector = tile.vector};
      if (schedule.group_lanes() > warp_lanes) {
        continue;
      }
      const int sharing = product.are_contiguous && tile.columns < PanelSpace::wide ? PanelSpace::sharing_of_narrow
                                                                                    : PanelSpace::sharing_of_wide;
      const int most_groups = schedule.warp_groups();
      for (int groups = most_groups; groups >= 1 && groups * sharing >= most_groups; groups /= 2) {
        schedule.groups = groups;
        add_row_tiles(schedule, found);
      }
    }
  }
}

void add_rows_family(const ProductColumns& product, LegalSchedules& found) {
  for (const Tile& tile : tiles(product)) {
    for (const int unroll : RowsSpace::unroll) {
      for (const int task : RowsSpace::task) {
        for (const int light : RowsSpace::light) {
          for (const int warps : RowsSpace::warps) {
            found.add(RowsSchedule{.columns = tile.columns,
                                   .vector = tile.vector,
                                   .unroll = unroll,
                                   .task = task,
                                   .light = light,
                                   .warps = warps});
          }
        }
      }
    }
  }
}

void add_atomic_family(LegalSchedules& found) {
  for (int ufi = 1; ufi <= AtomicSpace::most_ufi; ++ufi) {
    for (int ufk = 1; ufk <= AtomicSpace::most_ufk; ++ufk) {
      for (const int warptile : AtomicSpace::warptile) {
        for (const int threads : AtomicSpace::threads) {
          found.add(AtomicSchedule{.ufi = ufi, .ufk = ufk, .warptile = warptile, .threads = threads});
        }
      }
    }
  }
}

/// The stream with each kind of steps, but of values that are placed.
void add_steps(StreamSchedule schedule, LegalSchedules& found) {
  for (const auto dense : {StreamSchedule::Dense::off, StreamSchedule::Dense::listed, StreamSchedule::Dense::on}) {
    schedule.dense = dense;
    found.add(schedule);
  }
}

/// The stream with all stages, rows, copies and clusters.
void add_pipelines(StreamSchedule schedule, LegalSchedules& found) {
  for (const int stages : StreamSpace::stages) {
    for (const int rows : StreamSpace::rows) {
      for (const auto copies : StreamSpace::copies) {
        for (const int cluster : StreamSpace::clusters) {
          schedule.stages = stages;
          schedule.rows = rows;
          schedule.copies = copies;
          schedule.cluster = cluster;
          add_steps(schedule, found);
        }
      }
    }
  }
}

void add_stream_family(long long bcol, LegalSchedules& found) {
  for (int columns = 8; columns <= widest_stream(bcol); columns *= 2) {
    for (const int row_tiles : StreamSpace::row_tiles) {
      for (const int warps : StreamSpace::warps) {
        if (row_tiles * warps < StreamSpace::least_warps || row_tiles * warps > StreamSpace::most_warps) {
          continue;
        }
        for (const int share : StreamSpace::shares) {
          if (warps % share == 0) {
            add_pipelines({.columns = columns, .row_tiles = row_tiles, .warps = warps, .share = share}, found);
          }
        }
      }
    }
  }
}

/// With placed values: blocks of one row tile, in consumer groups of four or eight warps, which multiply the
/// same K tiles; two consumer groups or more, or placed ahead.
void add_placed_streams(long long bcol, LegalSchedules& found) {
  for (int columns = StreamSchedule::max_placed_columns / 2; columns <= widest_placed_stream(bcol); columns *= 2) {
    const int consumer_group_warps = columns / StreamSchedule::warp_columns;
    for (int warps = consumer_group_warps; warps <= StreamSpace::most_warps; warps += consumer_group_warps) {
      for (const int rows : StreamSpace::placed_rows) {
        for (const int stages : StreamSpace::stages) {
          for (const int cluster : StreamSpace::clusters) {
            StreamSchedule schedule{.columns = columns,
                                    .row_tiles = 1,
                                    .warps = warps,
                                    .stages = stages,
                                    .share = consumer_group_warps,
                                    .rows = rows,
                                    .copies = StreamSchedule::Copies::tma,
                                    .cluster = cluster,
                                    .dense = StreamSchedule::Dense::placed};
            if (warps > consumer_group_warps) {
              found.add(schedule);
            }
            schedule.ahead = true;
            found.add(schedule);
          }
        }
      }
    }
  }
}

/// Blocks of some warps, whose latencies hide each other.
void add_gather_family(LegalSchedules& found) {
  for (int warps = GatherSpace::least_warps; warps <= GatherSchedule::max_warps; ++warps) {
    for (int sets = 1; sets <= GatherSchedule::max_sets; ++sets) {
      found.add(GatherSchedule{.sets = sets, .warps = warps});
    }
  }
}

}  // namespace

const std::set<std::string>& all_families() {
  static const std::set<std::string> families{"atomic", "bitmap", "gather", "panel", "rows", "stream"};
  return families;
}

const std::set<std::string>& usual_families() {
  static const std::set<std::string> families{"bitmap", "gather", "panel", "rows", "stream"};
  return families;
}

std::set<std::string> families_for(const std::set<std::string>& families, const std::string& dtype,
                                   const std::string& layout) {
  std::set<std::string> usable = families;
  if (is_half_type(dtype)) {
    usable.erase("atomic");  // which adds parts of sums in C
  }
  if (!can_stream(dtype)) {
    usable.erase("stream");
  }
  if (!can_use_bitmap(dtype)) {
    usable.erase("bitmap");
  }
  if (!can_gather(dtype, layout)) {
    usable.erase("gather");
  }
  return usable;
}

std::vector<Schedule> search_space(const ProductColumns& columns, const std::set<std::string>& families,
                                   bool sparse24) {
  if (columns.count < 1) {
    throw UserError(fmt::format("--bcol {}", columns.count), "is less than 1", "B has at least one column");
  }
  for (const std::string& family : families) {
    if (!all_families().contains(family)) {
      throw UserError(family, "is not a family of schedules",
                      fmt::format("the families are: {}", fmt::join(all_families(), ", ")));
    }
  }
  LegalSchedules found(columns);
  if (families.contains("panel")) {
    add_panel_family(columns, found);
  }
  if (families.contains("rows")) {
    add_rows_family(columns, found);
  }
  if (families.contains("atomic")) {
    add_atomic_family(found);
  }
  if (families.contains("stream")) {
    add_stream_family(columns.count, found);
    constexpr long long few_columns = 32;
    if (columns.count > few_columns) {
      add_placed_streams(columns.count, found);
    }
  }
  if (families.contains("bitmap")) {
    std::ranges::for_each(bitmap_space(columns, sparse24), [&](const BitmapSchedule& one) { found.add(one); });
  }
  if (families.contains("gather")) {
    add_gather_family(found);
  }
  return found.take();
}

const std::vector<Schedule>& usual_space(const LayerShape& shape) {
  thread_local std::map<std::tuple<std::string, std::string, long long, bool, bool>, std::vector<Schedule>> spaces;
  const auto [place, is_new] = spaces.try_emplace(
      {shape.dtype, shape.layout, shape.bcol, shape.contiguous, shape.sparse24}, std::vector<Schedule>());
  if (is_new) {
    place->second =
        search_space(shape.product(), families_for(usual_families(), shape.dtype, shape.layout), shape.sparse24);
  }
  return place->second;
}

}  // namespace esc

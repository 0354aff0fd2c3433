// SPDX-License-Identifier: Apache-2.0
#include "generator/verify/row_tile_sample.h"

#include <algorithm>
#include <numeric>

#include "generator/emit/region_text.h"
#include "transformer/unpack.h"

namespace esc {

using transformer::Task;

RowTileSample::RowTileSample(std::span<const std::byte> packed, std::int64_t products, std::int64_t most_products,
                             std::uint64_t first, std::int64_t block_rows)
    : stride_(std::max<std::int64_t>(1, (products + most_products - 1) / most_products)),
      first_(first),
      block_rows_(block_rows) {
  std::visit([&](const auto& format) { take(transformer::reader_of(packed, format)); },
             transformer::read_format(packed));
  if (std::ranges::find(blocks_, false) == blocks_.end()) {
    stride_ = 1;  // one block may have all rows
  }
}

void RowTileSample::take_rows(std::int64_t rows, std::int64_t unit_rows) {
  rows_.resize(static_cast<std::size_t>(rows));
  for (std::int64_t row = 0; row < rows; ++row) {
    rows_[static_cast<std::size_t>(row)] = takes(static_cast<std::uint64_t>(row / unit_rows));
  }
}

void RowTileSample::take(const transformer::ListReader& lists) {
  const transformer::ListFormat& format = lists.format();
  begin_in(static_cast<std::uint64_t>(format.shape.row_tiles()));
  take_rows(format.shape.rows, format.shape.height);
  for (std::uint64_t list = 0; list < format.counts.lists; ++list) {
    blocks_.push_back(takes(static_cast<std::uint64_t>(lists.row_tile(list))));
  }
}

void RowTileSample::take(const transformer::RegionReader& regions) {
  const transformer::RegionFormat& format = regions.format();
  const transformer::RegionShape& shape = format.shape;
  const std::uint64_t stride = block_stride(format.blocks());
  begin_in(format.blocks());
  for (std::uint64_t turn = 0; turn < format.blocks(); ++turn) {
    blocks_.push_back(takes(turn * stride % format.blocks()));
  }
  rows_.assign(static_cast<std::size_t>(shape.rows), false);
  for (std::uint64_t place = 0; place < format.block_places(); ++place) {
    const std::int64_t row_tile = regions.row_tile(place);
    const std::int64_t rows = row_tile < shape.row_tiles() ? shape.rows_in(row_tile) : 0;
    const auto first = rows_.begin() + (rows == 0 ? 0 : shape.first_row(row_tile));
    std::fill(first, first + rows, takes(format.block_of(place)));
  }
}

void RowTileSample::take(const transformer::FragmentReader& fragments) {
  const transformer::FragmentFormat& format = fragments.format();
  begin_in(format.blocks());
  for (std::uint64_t block = 0; block < format.blocks(); ++block) {
    blocks_.push_back(takes(block));
  }
  take_rows(format.shape.rows, std::int64_t{format.shape.height} * format.shape.block_row_tiles);
}

void RowTileSample::take(const transformer::GatherReader& gathered) {
  const transformer::GatherFormat& format = gathered.format();
  begin_in(format.blocks());
  for (std::uint64_t block = 0; block < format.blocks(); ++block) {
    blocks_.push_back(takes(block));
  }
  rows_.assign(static_cast<std::size_t>(format.shape.rows), false);
  const std::uint64_t tile_slots_of_block = std::uint64_t{format.shape.block_row_tiles} * format.shape.height;
  for (std::uint64_t tile_slot = 0; tile_slot < format.tile_slots(); ++tile_slot) {
    if (const std::uint32_t row = gathered.row(tile_slot); row < format.shape.rows) {
      rows_[row] = takes(tile_slot / tile_slots_of_block);
    }
  }
}

void RowTileSample::take_packed_tiles(std::int64_t rows, std::int64_t row_tile_rows) {
  const std::int64_t block_rows = std::max(block_rows_, row_tile_rows);
  const auto blocks = static_cast<std::uint64_t>((rows + block_rows - 1) / block_rows);
  begin_in(blocks);
  for (std::uint64_t block = 0; block < blocks; ++block) {
    blocks_.push_back(takes(block));
  }
  take_rows(rows, block_rows);
}

void RowTileSample::take(const transformer::BitmapReader& bitmap) {
  take_packed_tiles(bitmap.format().shape.rows, bitmap.format().shape.height);
}

void RowTileSample::take(const transformer::Sparse24Reader& packed) {
  take_packed_tiles(packed.format().shape.rows, packed.format().shape.height);
}

void RowTileSample::take(const transformer::TaskReader& tasks) {
  const transformer::TaskFormat& format = tasks.format();
  begin_in(format.blocks());
  for (std::uint64_t block = 0; block < format.blocks(); ++block) {
    blocks_.push_back(takes(block));
  }
  const auto rows = static_cast<std::size_t>(format.shape.rows);
  std::vector<std::uint64_t> lengths(rows);
  for (std::uint64_t number = 0; number < format.counts.tasks; ++number) {
    const Task task = tasks.task(number);
    lengths[task.row] += task.length;
  }
  std::vector<bool> wanted(rows);
  split_rows_.resize(rows);
  const std::uint64_t longest = format.counts.nonzeros / static_cast<std::uint64_t>(stride_);
  for (std::uint64_t number = 0; number < format.counts.split_rows; ++number) {
    const std::uint32_t row = tasks.split_row(number);
    wanted[row] = takes(number) && lengths[row] <= longest;
    split_rows_[row] = true;
  }
  take_blocks_of(tasks, wanted);
  rows_ = rows_taken_whole(tasks);
  if (std::ranges::find(rows_, true) == rows_.end()) {
    // What is taken may be parts of long rows alone: a call that compares no row says nothing.
    std::size_t shortest = 0;
    for (std::size_t row = 1; row < rows; ++row) {
      shortest = lengths[row] < lengths[shortest] ? row : shortest;
    }
    wanted.assign(rows, false);
    wanted[shortest] = true;
    take_blocks_of(tasks, wanted);
    rows_ = rows_taken_whole(tasks);
  }
}

void RowTileSample::take_blocks_of(const transformer::TaskReader& tasks, const std::vector<bool>& wanted) {
  for (std::uint64_t number = 0; number < tasks.format().counts.tasks; ++number) {
    if (wanted[tasks.task(number).row]) {
      blocks_[tasks.format().block_of(number)] = true;
    }
  }
}

std::vector<bool> RowTileSample::rows_taken_whole(const transformer::TaskReader& tasks) const {
  std::vector<bool> whole(static_cast<std::size_t>(tasks.format().shape.rows), true);
  for (std::uint64_t number = 0; number < tasks.format().counts.tasks; ++number) {
    if (!blocks_[tasks.format().block_of(number)]) {
      whole[tasks.task(number).row] = false;
    }
  }
  return whole;
}

std::vector<std::uint64_t> RowTileSample::blocks(std::uint64_t grid_x, std::uint64_t grid_y) const {
  std::vector<std::uint64_t> tiles(grid_y);
  std::iota(tiles.begin(), tiles.end(), std::uint64_t{0});
  return blocks_of_tiles(grid_x, tiles);
}

std::vector<std::uint64_t> RowTileSample::blocks_of_tiles(std::uint64_t grid_x,
                                                          const std::vector<std::uint64_t>& tiles) const {
  // The blocks of a cluster, which are beside each other, work on the same units.
  const std::uint64_t cluster_blocks = grid_x / blocks_.size();
  std::vector<std::uint64_t> chosen;
  for (const std::uint64_t y : tiles) {
    for (std::uint64_t x = 0; x < grid_x; ++x) {
      if (blocks_.at(x / cluster_blocks)) {
        chosen.push_back(y * grid_x + x);
      }
    }
  }
  return chosen;
}

}  // namespace esc

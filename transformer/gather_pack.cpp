// SPDX-License-Identifier: Apache-2.0
#include <tbb/parallel_for.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <vector>

#include "transformer/checked_shape.h"
#include "transformer/gather_packing.h"
#include "transformer/pack.h"
#include "transformer/view_sources.h"

namespace esc::transformer {
namespace {

/// Blocks beside each other: what one counts or fills is its own.
template <typename Work>
void for_each_block(const GatherFormat& format, const Work& work) {
  tbb::parallel_for(std::uint64_t{0}, format.blocks(), work);
}

/// The format, and the bytes before its lists: where rows and lists are.
struct Placed {
  GatherFormat format;
  std::vector<unsigned char> front;
};

Placed place(const CsrView& matrix, const GatherCut& cut) {
  GatherShape shape = checked_shape(matrix, GatherCut{.height = cut.height, .block_row_tiles = cut.block_row_tiles});
  Placed placed{describe(shape, {}), {}};
  placed.front.resize(static_cast<std::size_t>(placed.format.lists_at));
  unsigned char* const front = placed.front.data();
  tile_slot_rows(rows_of(matrix), placed.format, front);
  std::vector<GatherTally> blocks(static_cast<std::size_t>(placed.format.blocks()));
  for_each_block(placed.format, [&](std::uint64_t block) {
    blocks[static_cast<std::size_t>(block)] = count_block(rows_of(matrix), placed.format, block, front);
  });
  GatherTally tally;
  for (const GatherTally& block : blocks) {
    tally.add(block);
  }
  if (tally.pieces > UINT32_MAX) {
    throw std::length_error("lists of gathered rows have more bytes than their numbers count");
  }
  place_lists(placed.format, front);
  shape.steps = tally.steps;
  shape.list_pieces = static_cast<std::uint32_t>(tally.list_pieces);
  placed.format = describe(shape, {.nonzeros = tally.nonzeros, .pieces = tally.pieces});
  return placed;
}

}  // namespace

GatherFormat plan(const CsrView& matrix, const GatherCut& cut) { return place(matrix, cut).format; }

Packed<GatherFormat> pack(const CsrView& matrix, const GatherCut& cut) {
  const Placed placed = place(matrix, cut);
  Packed<GatherFormat> packed(placed.format);
  auto* const bytes = reinterpret_cast<unsigned char*>(packed.bytes.data());
  std::memcpy(bytes, placed.front.data(), placed.front.size());
  const StoredRows<float, CsrRows<std::int64_t, double>> source{rows_of(matrix)};
  for_each_block(placed.format, [&](std::uint64_t block) { fill_block(source, placed.format, block, bytes); });
  write_header(placed.format, bytes);
  return packed;
}

}  // namespace esc::transformer

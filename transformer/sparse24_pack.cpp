// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <tbb/blocked_range.h>
#include <tbb/parallel_reduce.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <vector>

#include "transformer/checked_shape.h"
#include "transformer/half_floats.h"
#include "transformer/pack.h"
#include "transformer/row_tile_elements.h"
#include "transformer/sparse24_packing.h"

namespace esc::transformer {
namespace {

/// What each packed tile adds, as far as it is known.
class TileCounts {
 public:
  explicit TileCounts(const Sparse24Format& frame) : counts_(static_cast<std::size_t>(frame.packed_tiles())) {}

  void set(std::uint64_t number, const Sparse24TileCounts& counts) {
    counts_[static_cast<std::size_t>(number)] = counts;
  }
  /// The format of the matrix. Throws where it does not have the pattern.
  Sparse24Format checked_format(const Sparse24Format& frame) const {
    Sparse24Tally tally;
    for (const Sparse24TileCounts& packed_tile : counts_) {
      tally.add(frame, packed_tile);
    }
    const Sparse24Need need = tally.need_of(frame.shape);
    if (!need.is_met()) {
      const FullestPart part = fullest_part(need, frame.shape);
      throw std::invalid_argument(fmt::format(
          "a matrix cannot be packed so: row {} has {} non-zeros in columns {} to {}; the 2:4 pattern allows {}",
          part.first_row, part.needed, part.first_column, part.behind_column - 1, part.room));
    }
    return need.format;
  }

 private:
  std::vector<Sparse24TileCounts> counts_;
};

template <typename Half>
void write_packed_tiles(const CsrView& matrix, const Sparse24Format& frame, std::uint64_t row_tile, TileCounts& counts,
                        unsigned char* bytes) {
  const RowTileElements<Half> row_tile_elements(matrix, frame, row_tile);
  for (std::uint64_t tile = 0; tile < frame.tiles(); ++tile) {
    const std::uint64_t number = row_tile * frame.tiles() + tile;
    PackedTileElements<Half> elements;
    row_tile_elements.read_packed_tile(tile, elements);
    const PackedTileNonzeros nonzeros = nonzeros_of(elements);
    counts.set(number, counts_of(nonzeros));
    write_packed_tile(frame, elements, nonzeros, bytes + frame.packed_tile_at(number));
  }
}

/// The first group of a row with more than two non-zeros.
std::optional<Sparse24Group> first_full_group(const CsrView& matrix, std::int64_t row) {
  const auto end = static_cast<std::size_t>(matrix.offsets[static_cast<std::size_t>(row) + 1]);
  for (auto at = static_cast<std::size_t>(matrix.offsets[static_cast<std::size_t>(row)]); at < end;) {
    const std::int64_t first_column = matrix.column_of[at] / sparse24_group * std::int64_t{sparse24_group};
    std::uint32_t nonzeros = 0;
    for (; at < end && matrix.column_of[at] - first_column < sparse24_group; ++at) {
      nonzeros += matrix.values[at] != 0 ? 1 : 0;
    }
    if (nonzeros > sparse24_stored) {
      return Sparse24Group{row, first_column, nonzeros};
    }
  }
  return std::nullopt;
}

}  // namespace

Sparse24Format plan(const CsrView& matrix, const Sparse24Cut& cut) {
  const Sparse24Format frame = describe(checked_shape(matrix, cut), {});
  TileCounts counts(frame);
  for_each_row_tile(frame, [&](std::uint64_t row_tile) {
    const RowTileNonzeros nonzeros(matrix, frame, row_tile);
    for (std::uint64_t tile = 0; tile < frame.tiles(); ++tile) {
      counts.set(row_tile * frame.tiles() + tile, counts_of(nonzeros.packed_tile(tile)));
    }
  });
  return counts.checked_format(frame);
}

Packed<Sparse24Format> pack(const CsrView& matrix, const Sparse24Cut& cut) {
  const Sparse24Format frame = describe(checked_shape(matrix, cut), {});
  TileCounts counts(frame);
  Packed<Sparse24Format> packed(frame);
  auto* const bytes = reinterpret_cast<unsigned char*>(packed.bytes.data());
  const auto write = matrix.element == ScalarType::f16 ? write_packed_tiles<Float16> : write_packed_tiles<BFloat16>;
  for_each_row_tile(frame, [&](std::uint64_t row_tile) { write(matrix, frame, row_tile, counts, bytes); });
  packed.format = counts.checked_format(frame);
  write_header(packed.format, bytes);
  return packed;
}

std::optional<Sparse24Group> first_group_of_more_than_two(const CsrView& matrix) {
  check(matrix);
  const std::int64_t first_row = tbb::parallel_deterministic_reduce(
      tbb::blocked_range<std::int64_t>(0, matrix.rows, 64), matrix.rows,
      [&](const tbb::blocked_range<std::int64_t>& range, std::int64_t first) {
        for (std::int64_t row = range.begin(); row < std::min(range.end(), first); ++row) {
          if (first_full_group(matrix, row)) {
            return row;
          }
        }
        return first;
      },
      [](std::int64_t a, std::int64_t b) { return std::min(a, b); });
  return first_row < matrix.rows ? first_full_group(matrix, first_row) : std::nullopt;
}

}  // namespace esc::transformer

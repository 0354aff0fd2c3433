// SPDX-License-Identifier: Apache-2.0
#include "transformer/unpack.h"

#include <tbb/parallel_sort.h>

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <utility>

#include "transformer/pack.h"
#include "transformer/packed_reader.h"
#include "transformer/row_tile_sources.h"
#include "transformer/rule_text.h"

namespace esc::transformer {
namespace {

Header header_of(std::span<const std::byte> packed) {
  if (packed.size() < header_bytes) {
    refuse("{} bytes are too few for the header of a packed matrix, which has {}", packed.size(), header_bytes);
  }
  Header header;
  std::memcpy(&header, packed.data(), sizeof header);
  return header;
}

/// Of fragments, which files of before have of such elements.
void refuse_halves(std::uint64_t element) {
  if (half_elements.allows(element)) {
    refuse(
        "the header field element is {}, of 16 bits: fragments of such elements are no longer read, pack the matrix "
        "into bitmaps",
        element);
  }
}

/// The format that the header of so many bytes describes. Each number is held against its rule before a later one
/// depends on it.
template <typename Format>
Format checked_format(const Header& header, std::size_t bytes) {
  if (header.version != Format::version) {
    refuse("the packed matrix has format version {}; this program reads version {}", header.version, Format::version);
  }
  constexpr std::uint64_t checksum_at = offsetof(Header, header_checksum);
  if (checksum(&header, checksum_at) != header.header_checksum) {
    refuse("the header is damaged: bytes 0 to {} do not have the checksum stored at byte {}", checksum_at - 1,
           checksum_at);
  }
  if (header.total_bytes != bytes) {
    refuse("the packed matrix has {} bytes; its header says {}", bytes, header.total_bytes);
  }
  Format format;
  std::uint32_t next = 0;
  format.visit([&](const char* name, auto& number, const Rule& rule) {
    const std::uint64_t found = header.numbers.values[next++];
    if constexpr (std::is_same_v<Format, FragmentFormat> && std::is_same_v<decltype(number), ScalarType&>) {
      refuse_halves(found);
    }
    if (!rule.allows(found)) {
      refuse("the header field {}", broken_rule(name, found, rule));
    }
    assign(number, found);
  });
  format = describe(format.shape, format.counts);
  if (const char* field = first_difference(header, format)) {
    refuse("the header field {} does not agree with the other fields", field);
  }
  return format;
}

void check_payload(std::span<const std::byte> packed) {
  if (checksum(packed.data() + header_bytes, packed.size() - header_bytes) != header_of(packed).payload_checksum) {
    refuse("the packed matrix is damaged: bytes {} to {} do not have the checksum stored at byte {}", header_bytes,
           packed.size() - 1, offsetof(Header, payload_checksum));
  }
}

struct NonZero {
  std::int32_t row;
  std::int32_t column;
  double value;
};

/// The non-zeros that packed bytes claim: no more than the header says, and inside the matrix.
class NonZeros {
 public:
  template <typename Cut, typename Counts>
  explicit NonZeros(const Description<Cut, Counts>& description)
      : rows_(description.shape.rows),
        columns_(description.shape.columns),
        element_(description.shape.element),
        most_(description.counts.nonzeros) {}

  void add(std::int64_t row, std::int64_t column, double value) {
    if (row >= rows_ || column >= columns_) {
      refuse("a non-zero is in row {} and column {} of a matrix of {} x {}", row, column, rows_, columns_);
    }
    if (found_.size() == most_) {
      refuse("there are more than the {} non-zeros that the header says", most_);
    }
    found_.push_back({static_cast<std::int32_t>(row), static_cast<std::int32_t>(column), value});
  }

  CsrMatrix matrix() && {
    const auto place = [](const NonZero& nonzero) { return std::pair(nonzero.row, nonzero.column); };
    tbb::parallel_sort(found_, [&](const NonZero& a, const NonZero& b) { return place(a) < place(b); });
    if (const auto twice = std::ranges::adjacent_find(found_, {}, place); twice != found_.end()) {
      refuse("row {} has column {} twice", twice->row, twice->column);
    }
    CsrMatrix matrix{rows_, columns_, std::vector<std::int64_t>(static_cast<std::size_t>(rows_) + 1), {}, {}, element_};
    for (const NonZero& nonzero : found_) {
      matrix.column_of.push_back(nonzero.column);
      matrix.values.push_back(nonzero.value);
      matrix.offsets[static_cast<std::size_t>(nonzero.row) + 1] = std::ssize(matrix.values);
    }
    for (std::size_t row = 1; row < matrix.offsets.size(); ++row) {
      matrix.offsets[row] = std::max(matrix.offsets[row], matrix.offsets[row - 1]);
    }
    return matrix;
  }

 private:
  std::int64_t rows_;
  std::int64_t columns_;
  ScalarType element_;
  std::uint64_t most_;
  std::vector<NonZero> found_;
};

// What the sections hold. Columns, values and pairs are taken one after the other: that pointers to them say the same
// is found when the matrix is packed again.

void take(const ListReader& lists, NonZeros& nonzeros) {
  const ListFormat& format = lists.format();
  std::uint64_t index = 0;
  std::uint64_t value = 0;
  for (std::uint64_t list = 0; list < format.counts.lists; ++list) {
    const std::int64_t first_row = format.shape.first_row(lists.row_tile(list));
    for (const std::uint64_t end = lists.rpp(list + 1); index < end; ++index) {
      const std::int64_t column = lists.column(index);
      for (std::uint64_t rows = lists.pattern(list); rows != 0; rows &= rows - 1) {
        nonzeros.add(first_row + lowest_set(rows), column, lists.value(value++));
      }
    }
  }
}

void take(const RegionReader& regions, NonZeros& nonzeros) {
  const RegionFormat& format = regions.format();
  const RegionShape& shape = format.shape;
  for (std::uint64_t place = 0; place < format.first_place(format.counts.class_count); ++place) {
    const std::int64_t row_tile = regions.row_tile(place);
    const std::uint64_t steps = row_tile < shape.row_tiles() ? regions.steps(place) : 0;
    for (std::uint64_t step = 0; step < steps; ++step) {
      for (std::uint32_t row = 0; row < shape.rows_in(row_tile); ++row) {
        if (const double value = regions.value(place, step, row); value != 0) {
          nonzeros.add(shape.first_row(row_tile) + row, regions.column(place, step), value);
        }
      }
    }
  }
}

void take(const TaskReader& tasks, NonZeros& nonzeros) {
  std::uint64_t next = 0;
  for (std::uint64_t number = 0; number < tasks.format().counts.tasks; ++number) {
    const Task task = tasks.task(number);
    for (std::uint32_t index = 0; index < task.length; ++index) {
      const TaskPair pair = tasks.pair(next++);
      nonzeros.add(task.row, pair.column, pair.value);
    }
  }
}

/// Takes what a packed tile has of a K tile.
void take_packed_tile(const FragmentReader& fragments, std::uint64_t packed_tile, std::int64_t first_row,
                      std::uint64_t k_tile, NonZeros& nonzeros) {
  const FragmentShape& shape = fragments.format().shape;
  const auto add = [&](std::uint32_t row, std::uint32_t column, double value) {
    if (value != 0) {
      nonzeros.add(first_row + row, static_cast<std::int64_t>(k_tile * k_tile_columns_of(shape) + column), value);
    }
  };
  for (std::uint32_t step = 0; step < shape.steps; ++step) {
    for (std::uint32_t value = 0; value < step_groups * shape.height; ++value) {
      const std::uint32_t row = value % shape.height;
      const SlotValue found = fragments.value(packed_tile, step, value / shape.height, row);
      add(row, fragments.column(packed_tile, step, found.slot), found.value);
    }
  }
  std::uint32_t number = 0;
  for (std::uint32_t row_set = 0; row_set < row_sets; ++row_set) {
    for (const std::uint32_t end = fragments.residuals_end(packed_tile, row_set); number < end; ++number) {
      const ResidualValue residual = fragments.residual(packed_tile, row_set, number);
      add(residual.row, residual.column, residual.value);
    }
  }
}

/// The same of a packed tile with placed values.
void take_placed(const FragmentReader& fragments, std::uint64_t packed_tile, std::int64_t first_row,
                 std::uint64_t k_tile, NonZeros& nonzeros) {
  for (std::uint32_t number = 0; number < fragments.placed_values(packed_tile); ++number) {
    const ResidualValue found = fragments.placed_value(packed_tile, number);
    if (found.value != 0) {
      nonzeros.add(first_row + found.row, static_cast<std::int64_t>(k_tile * placed_columns + found.column),
                   found.value);
    }
  }
}

void take(const FragmentReader& fragments, NonZeros& nonzeros) {
  const FragmentFormat& format = fragments.format();
  const FragmentShape& shape = format.shape;
  std::uint64_t round = 0;
  for (std::uint64_t block = 0; block < format.blocks(); ++block) {
    for (const std::uint64_t end = fragments.first_round(block + 1); round < end; ++round) {
      for (std::uint32_t number = 0; number < format.round_packed_tiles(); ++number) {
        const auto row_tile =
            static_cast<std::int64_t>(block * shape.block_row_tiles + std::uint64_t{number} * shape.joined);
        if (row_tile < shape.row_tiles()) {
          (format.is_placed() ? take_placed : take_packed_tile)(fragments, format.packed_tile_at(round, number),
                                                                shape.first_row(row_tile), fragments.k_tile(round),
                                                                nonzeros);
        }
      }
    }
  }
}

void take(const GatherReader& gathered, NonZeros& nonzeros) {
  const GatherFormat& format = gathered.format();
  const std::uint64_t k_tiles = format.k_tiles(), row_tiles = format.shape.block_row_tiles;
  for (std::uint64_t number = 0; number < format.blocks() * k_tiles * row_tiles; ++number) {
    const std::uint64_t block = number / (k_tiles * row_tiles), k_tile = number / row_tiles % k_tiles;
    const auto row_tile = static_cast<std::uint32_t>(number % row_tiles);
    const GatheredPackedTile packed_tile = gathered.packed_tile(block, k_tile, row_tile);
    for (std::uint32_t r = 0; r < format.shape.height; ++r) {
      for (std::uint32_t entry = 0; entry < packed_tile.steps * step_entries; ++entry) {
        const GatheredEntry found = gathered.entry(packed_tile, k_tile, entry / step_entries, r, entry % step_entries);
        if (found.value != 0) {
          // A place that no K tile beside has would be before the first column.
          nonzeros.add(
              gathered.row(format.first_tile_slot(block, row_tile) + r),
              static_cast<std::int64_t>(std::min(found.column, static_cast<std::uint64_t>(format.shape.columns))),
              found.value);
        }
      }
    }
  }
}

void take(const BitmapReader& bitmaps, NonZeros& nonzeros) {
  const BitmapFormat& format = bitmaps.format();
  const BitmapElement element = format.element();
  for (std::uint64_t number = 0; number < format.packed_tiles(); ++number) {
    const std::uint64_t row_tile = number / format.tiles(), tile = number % format.tiles();
    const BitmapPackedTile packed_tile = bitmaps.packed_tile(row_tile, tile);
    for (std::uint32_t lane = 0; lane < packed_tile_lanes; ++lane) {
      for (std::uint32_t value = 0; value < packed_tile_blocks * packed_tile_lanes; ++value) {
        const std::uint32_t block = value / packed_tile_lanes, which = value % element.word_values();
        const std::uint32_t p = value % packed_tile_lanes / element.word_values();
        if (const double found = bitmaps.value(packed_tile, block, lane, p, which); found != 0) {
          const RegisterPlace place = element.place_of(lane, p);
          const std::uint64_t column = tile * packed_tile_columns + block * packed_block_columns + place.column + which;
          nonzeros.add(format.shape.first_row(static_cast<std::int64_t>(row_tile)) + place.row,
                       static_cast<std::int64_t>(column), found);
        }
      }
    }
  }
}

void take(const Sparse24Reader& packed, NonZeros& nonzeros) {
  const Sparse24Format& format = packed.format();
  constexpr std::uint32_t half_registers = packed_tile_lanes * sparse24_registers;
  for (std::uint64_t packed_tile = 0; packed_tile < format.packed_tiles(); ++packed_tile) {
    const auto row_tile = static_cast<std::int64_t>(packed_tile / format.tiles());
    const std::uint64_t first_column = packed_tile % format.tiles() * packed_tile_columns;
    for (std::uint32_t at = 0; at < packed_tile_blocks * sparse24_halves * half_registers; ++at) {
      const std::uint32_t block = at / (sparse24_halves * half_registers), half = at / half_registers % sparse24_halves;
      const std::uint32_t lane = at / sparse24_registers % packed_tile_lanes, number = at % sparse24_registers;
      const RegisterPlace group = format.group_of(half, lane, number);
      const StoredPair pair = packed.pair(packed_tile, block, group);
      for (const std::uint32_t which : {0U, 1U}) {
        if (const double found = packed.value(packed_tile, block, half, lane, number, which); found != 0) {
          const std::uint64_t column = first_column + block * packed_block_columns + group.column;
          nonzeros.add(format.shape.first_row(row_tile) + group.row,
                       static_cast<std::int64_t>(column + (which == 0 ? pair.first : pair.second)), found);
        }
      }
    }
  }
}

template <typename Format>
CsrMatrix unpack_format(std::span<const std::byte> packed, const Format& format) {
  NonZeros nonzeros(format);
  take(reader_of(packed, format), nonzeros);
  CsrMatrix matrix = std::move(nonzeros).matrix();
  const Packed<Format> again = pack(matrix.view(), format.shape);
  if (const char* field = first_difference(header_of(packed), again.format)) {
    refuse("the header field {} is not what packing the matrix again gives", field);
  }
  const auto payload = packed.subspan(header_bytes);
  if (const auto at = std::ranges::mismatch(again.bytes.span().subspan(header_bytes), payload).in2;
      at != payload.end()) {
    refuse("byte {} is not what packing the matrix again gives", header_bytes + (at - payload.begin()));
  }
  return matrix;
}

/// The format that a header of so many bytes describes: the first of these whose magic it has.
template <typename Format, typename... Others>
PackedFormat format_with_magic(const Header& header, std::size_t bytes) {
  if (std::memcmp(header.magic, Format::magic, sizeof header.magic) == 0) {
    return checked_format<Format>(header, bytes);
  }
  if constexpr (sizeof...(Others) != 0) {
    return format_with_magic<Others...>(header, bytes);
  }
  refuse(
      "the bytes are not a packed matrix: they do not begin with ESCPACK, ESCREGN, ESCTASK, ESCFRAG, ESCGATH, "
      "ESCBITM or ESCSP24");
}

}  // namespace

PackedFormat read_format(std::span<const std::byte> packed) {
  return format_with_magic<ListFormat, RegionFormat, TaskFormat, FragmentFormat, GatherFormat, BitmapFormat,
                           Sparse24Format>(header_of(packed), packed.size());
}

CsrMatrix unpack(std::span<const std::byte> packed) {
  const PackedFormat format = read_format(packed);
  check_payload(packed);
  return std::visit([&](const auto& known) { return unpack_format(packed, known); }, format);
}

}  // namespace esc::transformer

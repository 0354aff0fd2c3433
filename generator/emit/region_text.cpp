// SPDX-License-Identifier: Apache-2.0
#include "generator/emit/region_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "generator/emit/c_constant.h"
#include "generator/emit/packed_matrix_holes.h"
#include "generator/ir/performed_instructions.h"

namespace esc {
namespace {

using transformer::RegionFormat;

/// The function that says of a set what its class is.
std::string class_of_text(const LoopNest& nest, const RegionFormat& format) {
  if (nest.packed.is_shape_generic) {
    return R"(__device__ __forceinline__ RowTileClass class_of(const PackedMatrix& packed, unsigned int set) {
  constexpr int classes = sizeof packed.packets / sizeof packed.packets[0];
  RowTileClass own = {packed.packets[0], packed.origins[0]};
#pragma unroll
  for (int number = 1; number < classes; ++number) {
    if (set >= packed.first_sets[number]) {
      own = {packed.packets[number], packed.origins[number]};
    }
  }
  return own;
})";
  }
  std::string text;
  for (const RegionText::Class& one : RegionText::classes_of(format)) {
    const std::string own = fmt::format("{{{}, {}}}", one.packets, one.origin);
    text += one.first_set == 0 ? fmt::format("  RowTileClass own = {};\n", own)
                               : fmt::format("  if (set >= {}) {{\n    own = {};\n  }}\n", one.first_set, own);
  }
  const bool asks = text.find("set") != text.npos;
  return fmt::format("__device__ __forceinline__ RowTileClass class_of(unsigned int{}) {{\n{}  return own;\n}}",
                     asks ? " set" : "", text);
}

std::string row_tile_at_text(const LoopNest& nest, const RegionFormat& format) {
  const std::string type = packed_matrix_holes(nest).at("PACKED");
  if (!format.has_numbers()) {
    return fmt::format(
        "__device__ __forceinline__ unsigned int row_tile_at({}, unsigned int tile_slot) {{ return tile_slot; }}",
        type);
  }
  return fmt::format(R"(__device__ __forceinline__ unsigned int row_tile_at({} packed, unsigned int tile_slot) {{
  return reinterpret_cast<const {}*>(packed + {})[tile_slot];
}})",
                     type, transformer::c_name(format.number),
                     nest.packed.is_shape_generic ? "packed.numbers_at" : fmt::format("{}", format.numbers_at));
}

std::string load_columns_text(const RegionFormat& format) {
  if (!format.counts.every_column) {
    return R"(  static_cast<void>(number);
  result.columns = *place.columns;)";
  }
  return fmt::format(R"(  // A row tile has every column of the matrix; its last packet repeats the last one.
  constexpr unsigned int last_column = {};
  const auto column = [number](unsigned int step) {{ return min(4 * number + step, last_column); }};
  result.columns = {{column(0), column(1), column(2), column(3)}};)",
                     format.shape.columns - 1);
}

/// The same where lane groups beside each other take columns beside each other of a copy.
std::string load_cyclic_columns_text(const RegionFormat& format) {
  if (!format.counts.every_column) {
    return R"(  static_cast<void>(number);
  using Number = decltype(ColumnPacket::x);
  const Number* const numbers = reinterpret_cast<const Number*>(place.columns - group) + group;
  result.columns = {numbers[0], numbers[sharing_groups], numbers[2 * sharing_groups], numbers[3 * sharing_groups]};)";
  }
  return fmt::format(R"(  // A row tile has every column of the matrix; its last packet repeats the last one.
  constexpr unsigned int last_column = {};
  const unsigned int first = 4 * (number - group) + group;
  const auto column = [first](unsigned int step) {{ return min(first + step * sharing_groups, last_column); }};
  result.columns = {{column(0), column(1), column(2), column(3)}};)",
                     format.shape.columns - 1);
}

std::string copy_columns_text(const RegionFormat& format) {
  return format.counts.every_column ? "" : R"(#pragma unroll 4
  for (int iteration = 0; iteration < (staged_packets + copying_lanes - 1) / copying_lanes; ++iteration) {
    const int i = iteration * copying_lanes + lane % copying_lanes;
    if (i < copied) {
      const int packet = i / sharing_groups * cyclic_packets + i % sharing_groups;
      __pipeline_memcpy_async(column_copy + i, mine.columns + (packet < left ? packet : left - 1), sizeof(ColumnPacket));
    }
  })";
}

/// Whether a lane has columns in 32 bits.
bool has_wide_columns(const RegionFormat& format) {
  return format.counts.every_column || format.column == transformer::ScalarType::u32;
}

/// How many blocks are to fit on a multiprocessor at once. Where blocks are large, a few registers more cost a whole
/// block:
/// 1024 threads have 64 registers each, which is enough where packets, rows of B and sums take few.
std::int64_t blocks_at_once(const LoopNest& nest, const RegionFormat& format) {
  const Environment constants = constants_of(nest);
  const std::int64_t packets = constants.at("packets_at_once") * (nest.find_array("next") == nullptr ? 1 : 2);
  const std::int64_t elements =
      constants.at("lane_sums") +
      transformer::packet_columns *
          (packets * constants.at("row_tile_height") + constants.at("packets_at_once") * constants.at("vector_width"));
  const std::int64_t held = elements * bytes_of(nest.element()) / 4 + packets * (has_wide_columns(format) ? 4 : 2);
  const std::int64_t threads = constants.at("threads_per_block");
  return threads >= 256 && threads < 1024 && held <= 52 ? 1024 / threads : 1;
}

/// Most packets of a row tile that a warp copies: whole rounds, an even number, which keeps what is after them aligned.
std::int64_t staged_packets(const Environment& constants, std::int64_t longest_row_tile) {
  const std::int64_t round = constants.at("round_packets");
  const std::int64_t rounds = (longest_row_tile + round - 1) / round;
  return (rounds * constants.at("staged_round") + 1) / 2 * 2;
}

}  // namespace

std::uint64_t block_stride(std::uint64_t blocks) {
  std::uint64_t stride = std::min(blocks * 618 / 1000, std::numeric_limits<std::uint32_t>::max() / blocks);
  while (stride > 1 && std::gcd(stride, blocks) != 1) {
    --stride;
  }
  return std::max<std::uint64_t>(stride, 1);
}

std::vector<RegionText::Class> RegionText::classes_of(const RegionFormat& format) {
  std::vector<Class> classes;
  const auto add = [&](std::uint64_t set, std::uint64_t packets, std::uint64_t origin) {
    classes.push_back(
        {static_cast<std::uint32_t>(set), static_cast<std::uint32_t>(packets), static_cast<std::uint32_t>(origin)});
  };
  for (std::uint32_t index = 0; index < format.counts.class_count; ++index) {
    const std::uint64_t packets = format.counts.classes[index].packets;
    add(format.first_set[index], packets, format.first_packet[index] - format.first_place(index) * packets);
  }
  if (format.sets() != format.blocks() * format.shape.block_sets()) {
    add(format.sets(), 0, 0);
  }
  return classes;
}

Environment region_sizes(const RegionFormat& format) {
  return {{"blocks", static_cast<std::int64_t>(format.blocks())},
          {"longest_row_tile", format.counts.classes[0].packets},
          {"column_bytes", format.counts.every_column ? 0 : static_cast<std::int64_t>(size_of(format.column))}};
}

std::map<std::string, std::string> region_holes(const LoopNest& nest, const RegionFormat& format) {
  const std::vector<std::string> performed = performed_instructions(nest);
  const bool dealt = std::ranges::find(performed, "load_cyclic_packet") != performed.end();
  return {{"CLASS_OF", class_of_text(nest, format)},    {"ROW_TILE_AT", row_tile_at_text(nest, format)},
          {"LOAD_COLUMNS", load_columns_text(format)},  {"LOAD_CYCLIC_COLUMNS", load_cyclic_columns_text(format)},
          {"PIECE", dealt ? "place_of_piece(i)" : "i"}, {"COPY_COLUMNS", copy_columns_text(format)}};
}

std::vector<std::string> region_constants(const LoopNest& nest, const RegionFormat& format) {
  std::vector<std::string> lines{
      c_constant("unsigned int", "M", format.shape.rows, "rows of C"),
      c_constant("unsigned int", "blocks", format.blocks()),
      c_constant("unsigned int", "block_stride", block_stride(format.blocks()),
                 "adjacent blocks have row tiles of all lengths"),
      c_constant("int", "blocks_at_once", blocks_at_once(nest, format),
                 "on a multiprocessor; with 1 a thread has all registers that it needs"),
      c_constant("size_t", "packed_header_bytes", transformer::header_bytes,
                 "the columns of all packets begin after it"),
      fmt::format("using ColumnPacket = {};\n", has_wide_columns(format) ? "uint4" : "ushort4")};
  if (!nest.packed.is_shape_generic) {
    lines.insert(lines.end() - 1, c_constant("size_t", "values_at", format.values_at, "of all packets"));
  }
  if (stages_packets(nest)) {
    const Environment sizes = region_sizes(format);
    lines.push_back(c_constant("int", "staged_packets",
                               staged_packets(constants_of(nest), sizes.at("longest_row_tile")),
                               "packets of a row tile that a warp copies, at most"));
    if (nest.find_array("shared_sums") != nullptr) {  // they are after the copies
      lines.push_back(c_constant("size_t", "staged_bytes", staged_bytes(nest, sizes)));
    }
  }
  return lines;
}

bool stages_packets(const LoopNest& nest) { return nest.find_array("StagedColumns") != nullptr; }

std::uint64_t staged_bytes(const LoopNest& nest, const Environment& sizes) {
  const Environment constants = constants_of(nest);
  const std::int64_t packet_bytes =
      transformer::packet_columns *
      (sizes.at("column_bytes") + constants.at("row_tile_height") * bytes_of(nest.element()));
  return static_cast<std::uint64_t>(constants.at("block_copies") *
                                    staged_packets(constants, sizes.at("longest_row_tile")) * packet_bytes);
}

}  // namespace esc

// SPDX-License-Identifier: Apache-2.0
// Packed regions: row tiles, their packets, and the copies of those in shared memory.

#include <fmt/format.h>

#include <utility>

#include "generator/ir/build.h"
#include "tests/property/instruction_example.h"
#include "transformer/region_format.h"

namespace esc::tests {
namespace {

using transformer::packet_columns;

struct RegionCase {
  std::string name;
  SparseMatrix matrix;
  std::int64_t height = 1;
  std::int64_t warp_row_tiles = 1;
  std::int64_t sharing_groups = 1;  ///< lane groups of a warp that share a row tile
  std::int64_t row_tile_warps = 1;  ///< warps that share a row tile
  std::int64_t block_sets = 1;
  std::int64_t vector_width = 1;
  std::int64_t packets_at_once = 1;
  bool vectors = false;

  std::int64_t group_lanes() const { return warp_lanes / (warp_row_tiles * sharing_groups); }
};

Affine name(const std::string& variable) { return Affine::of(variable); }

std::vector<NamedConstant> constants_for(const RegionCase& one) {
  return {{"row_tile_height", one.height, ""},
          {"warp_row_tiles", one.warp_row_tiles, ""},
          {"block_sets", one.block_sets, ""},
          {"vector_width", one.vector_width, ""},
          {"group_lanes", one.group_lanes(), ""},
          {"row_tile_warps", one.row_tile_warps, ""},
          {"sharing_groups", one.sharing_groups, ""},
          {"lane_sums", one.height * one.vector_width, ""},
          {"packets_at_once", one.packets_at_once, ""},
          {"cyclic_packets", index("sharing_groups") * index("row_tile_warps"), ""},
          {"round_packets", index("packets_at_once") * index("cyclic_packets"), ""},
          {"block_copies", index("row_tile_warps") * index("block_sets") * index("warp_row_tiles"), ""},
          {"staged_round", index("packets_at_once") * index("sharing_groups"), ""},
          {"threads_per_block", warp_lanes * one.row_tile_warps * one.block_sets, ""}};
}

std::vector<ArrayDeclaration> arrays_for(const RegionCase& one) {
  const ScalarType type = one.matrix.element;
  const Affine steps = name("most_steps");
  const Affine packet = name("row_tile_height") * packet_columns + packet_columns;
  // The rows of C are apart for all lane groups of all row tiles of the grid.
  const Affine rows =
      Affine::of("blocks", one.block_sets * one.warp_row_tiles * one.row_tile_warps * one.sharing_groups * one.height);
  return {{"Numbers", {name("tile_slots")}, ArrayRole::packed_index, ScalarType::u32},
          {"Packets", {name("tile_slots")}, ArrayRole::packed_index, ScalarType::i32},
          {"Columns", {name("tile_slots"), steps}, ArrayRole::packed_index, ScalarType::u32},
          {"Values", {name("tile_slots"), steps, name("row_tile_height")}, ArrayRole::packed_value, type},
          {"B", {name("K"), name("N")}, ArrayRole::dense, type},
          {"C", {rows, name("N")}, ArrayRole::output, type},
          registers("columns", name("vector_width"), ScalarType::u32),
          registers("sums", name("lane_sums"), type),
          {"current", {name("packets_at_once"), packet}, ArrayRole::registers, type, "Packet"}};
}

/// C[row of the row tile and lane group][j + v] = value, as far as there are columns.
Node store_row(const RegionCase& one, const Affine& row, const Expression& value) {
  const std::int64_t groups = one.sharing_groups;
  const Affine of_group = (name("tile_slot") * one.row_tile_warps + name("part")) * groups + name("group");
  const Affine column = name("j") + name("v");
  return for_each_v(name("vector_width"),
                    {store(element("C", {of_group * one.height + row, column}), value, {less(column, index("N"))})});
}

/// A grid in which each warp has the row tiles of a set beside each other, as kernels of regions have.
InstructionExample example(const std::string& what, const RegionCase& one, Block body,
                           const std::vector<ArrayDeclaration>& more = {}) {
  LoopNest nest;
  nest.packed = {.kind = PackedForm::Kind::regions,
                 .height = one.height,
                 .warps = one.row_tile_warps,
                 .groups = one.sharing_groups,
                 .warp_row_tiles = one.warp_row_tiles,
                 .block_row_tiles = one.warp_row_tiles * one.block_sets};
  nest.vectors = true;
  nest.constants = constants_for(one);
  nest.arrays = arrays_for(one);
  nest.arrays.insert(nest.arrays.begin(), more.begin(), more.end());
  insert(body, 0,
         {define("set_of_grid", index("set") * index("blocks") + index("block"), ScalarType::u32),
          define("tile_slot", name("set_of_grid") * one.warp_row_tiles + name("place"), ScalarType::u32),
          define("j", Affine::of("lane", one.vector_width), ScalarType::u32)});
  using enum Mapping;
  const std::vector<std::pair<Mapping, const char*>> inner_first{{lane_digit, "lane"},  {lane_digit, "group"},
                                                                 {lane_digit, "place"}, {warp_digit, "set"},
                                                                 {warp_digit, "part"},  {grid, "block"}};
  const std::vector<Affine> extents{one.group_lanes(), one.sharing_groups, one.warp_row_tiles,
                                    one.block_sets,    one.row_tile_warps, name("blocks")};
  for (std::size_t at = 0; at < extents.size(); ++at) {
    body = {Node{mapped_loop(inner_first[at].first, inner_first[at].second, extents[at], Role::none, std::move(body))}};
  }
  nest.body = std::move(body);
  return {fmt::format("{}_{}", what, one.name), std::move(nest), one.matrix, one.vectors};
}

Node find_row_tile() {
  return perform("find_row_tile", {element("Packets"), index("set_of_grid"), index("tile_slot")},
                 {"packets", "first_of_row_tile"});
}

InstructionExample looks_up_row_tile(const RegionCase& one) {
  return example("row_tile_at_and_find_row_tile", one,
                 {perform("row_tile_at", {element("Numbers"), index("tile_slot")}, {"row_tile"}), find_row_tile(),
                  store_row(one, 0, index("row_tile") * 1000 + index("packets"))});
}

/// What a lane group needs to multiply packets, the first of which is its own.
Block begin_sums() {
  return {Node{Declare{"columns"}}, perform("clamp_columns", {element("columns"), name("j"), index("N")}),
          Node{Declare{"sums", true}}, find_row_tile(),
          define("own_first", index("part") * index("sharing_groups") + index("group"))};
}

Node store_sums(const RegionCase& one) {
  const Expression sum = element("sums", {Affine::of("u", one.vector_width) + name("v")});
  return unrolled_loop("u", "row_tile_height", Role::none, {store_row(one, name("u"), sum)});
}

Node load(const char* columns, const char* values, const Expression& row_tile, const Expression& ahead,
          const Expression& number) {
  return perform("load_packet", {element("current", {name("q")}), element(columns), element(values), row_tile,
                                 index("here"), ahead, number});
}

Node multiply_all() {
  return unrolled_loop("q", "packets_at_once", Role::none,
                       {perform("multiply_packet",
                                {element("current", {name("q")}), element("B"), element("columns"), element("sums")})});
}

/// Rounds over a row tile's packets of which the place moves on. In the last one some are after the row tile's end and
/// stay zero.
InstructionExample multiplies_packets(const RegionCase& one) {
  const Expression ahead = index("q") * index("cyclic_packets");
  const Affine number = name("packet") + Affine::of("q", one.sharing_groups * one.row_tile_warps);
  Block body = begin_sums();
  append(body, {perform("find_packet", {index("first_of_row_tile"), index("own_first")}, {"here"}),
                sequential_loop(
                    "packet", name("own_first"), name("packets"), name("round_packets"), Role::reduction,
                    {Node{Declare{"current", true}},
                     unrolled_loop("q", "packets_at_once", Role::none,
                                   {perform("clear_packet", {element("current", {name("q")})}),
                                    Node{Branch{less(number, index("packets")),
                                                {load("Columns", "Values", index("first_of_row_tile"), ahead, number)},
                                                {}}}}),
                     statement(Update{Name{"here"}, index("round_packets")}), multiply_all()}),
                store_sums(one)});
  return example("load_and_multiply_packets", one, std::move(body));
}

/// Packets of every second row tile are cleared after their loading.
InstructionExample clears_packets(const RegionCase& one) {
  Block body = begin_sums();
  append(body,
         {perform("find_packet", {index("first_of_row_tile"), 0}, {"here"}),
          sequential_loop("packet", 0, name("packets"), 1, Role::reduction,
                          {Node{Declare{"current", true}},
                           unrolled_loop("q", "packets_at_once", Role::none,
                                         {load("Columns", "Values", index("first_of_row_tile"), 0, index("packet")),
                                          Node{Branch{less(remainder(index("tile_slot"), 2), 1),
                                                      {perform("clear_packet", {element("current", {name("q")})})},
                                                      {}}}}),
                           statement(Update{Name{"here"}, 1}), multiply_all()}),
          store_sums(one)});
  return example("clear_packet", one, std::move(body));
}

/// With columns of a round that are `dealt` to the lane groups, or whole packets.
InstructionExample stages(const RegionCase& one, bool dealt) {
  const ScalarType type = one.matrix.element;
  const Affine copies = name("block_copies");
  const Affine steps = name("staged_steps");
  const Expression number = name("packet") + name("group") + Affine::of("q", one.sharing_groups * one.row_tile_warps);
  const Expression ahead = index("q") * index("sharing_groups");
  const Node load_whole = load("StagedColumns", "StagedValues", index("copy"), ahead, number);
  const Node load_dealt =
      perform("load_cyclic_packet", {element("current", {name("q")}), element("StagedColumns"), element("StagedValues"),
                                     index("copy"), index("here"), ahead, number, index("group")});
  Block body = begin_sums();
  append(body, {define("warp_first", Affine::of("part", one.sharing_groups)),
                define("copy", Affine::of("warp", one.warp_row_tiles) + name("place")),
                perform("stage_packets",
                        {element("Columns"), element("Values"), element("StagedColumns"), element("StagedValues"),
                         index("first_of_row_tile"), index("packets"), index("part"), index("copy"), index("group")},
                        {"here"}),
                perform("wait_for_copies", {}), Node{Barrier{Scope::warp}},
                sequential_loop("packet", name("warp_first"), name("packets"), name("round_packets"), Role::reduction,
                                {Node{Declare{"current"}},
                                 unrolled_loop("q", "packets_at_once", Role::none, {dealt ? load_dealt : load_whole}),
                                 statement(Update{Name{"here"}, index("staged_round")}), multiply_all()}),
                store_sums(one)});
  return example(dealt ? "load_cyclic_packet" : "stage_packets", one, std::move(body),
                 {{"StagedColumns", {copies, steps}, ArrayRole::shared, ScalarType::u32, "packets"},
                  {"StagedValues", {copies, steps, name("row_tile_height")}, ArrayRole::shared, type, "packets"}});
}

InstructionExample stages_packets(const RegionCase& one) { return stages(one, false); }
InstructionExample deals_packets(const RegionCase& one) { return stages(one, true); }

}  // namespace

std::vector<InstructionExample> region_examples() {
  const auto sparse = [](ScalarType type, std::int64_t columns, std::uint32_t seed) {
    return small_matrix(23, columns, 0.15, type, seed);
  };
  const std::vector<RegionCase> cases{
      {.name = "f32", .matrix = sparse(ScalarType::f32, 37, 1), .sharing_groups = 4, .vector_width = 2},
      {.name = "f32_sets",
       .matrix = sparse(ScalarType::f32, 50, 2),
       .height = 2,
       .warp_row_tiles = 4,
       .sharing_groups = 2,
       .row_tile_warps = 2,
       .block_sets = 2,
       .vector_width = 4,
       .vectors = true},
      {.name = "f64_batched",
       .matrix = sparse(ScalarType::f64, 50, 3),
       .height = 3,
       .warp_row_tiles = 2,
       .sharing_groups = 4,
       .vector_width = 2,
       .packets_at_once = 2,
       .vectors = true},
      {.name = "f64_every_column",
       .matrix = small_matrix(10, 19, 0.95, ScalarType::f64, 4),
       .height = 4,
       .sharing_groups = 8,
       .vector_width = 1},
      {.name = "f32_every_column",
       .matrix = small_matrix(10, 22, 0.95, ScalarType::f32, 5),
       .height = 1,
       .warp_row_tiles = 8,
       .row_tile_warps = 2,
       .vector_width = 4,
       .packets_at_once = 2,
       .vectors = true},
      {.name = "f32_many_columns",
       .matrix = sparse(ScalarType::f32, 65600, 6),
       .height = 2,
       .warp_row_tiles = 2,
       .sharing_groups = 4,
       .vector_width = 4,
       .vectors = true},
      {.name = "f32_high",
       .matrix = sparse(ScalarType::f32, 70, 7),
       .height = 8,
       .sharing_groups = 16,
       .vector_width = 2},
      {.name = "f64_high",
       .matrix = sparse(ScalarType::f64, 70, 8),
       .height = 8,
       .sharing_groups = 4,
       .row_tile_warps = 2,
       .vector_width = 1,
       .packets_at_once = 2}};
  std::vector<InstructionExample> examples;
  for (const RegionCase& one : cases) {
    for (const auto& make : {looks_up_row_tile, multiplies_packets, clears_packets, stages_packets, deals_packets}) {
      examples.push_back(make(one));
    }
  }
  return examples;
}

}  // namespace esc::tests

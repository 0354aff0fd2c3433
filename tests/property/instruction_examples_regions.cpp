// SPDX-License-Identifier: Apache-2.0
// Packed regions: panels, their quads, and the copies of those in shared memory.

#include <fmt/format.h>

#include <utility>

#include "generator/ir/build.h"
#include "tests/property/instruction_example.h"
#include "transformer/region_format.h"

namespace esc::tests {
namespace {

using transformer::quad_columns;

struct RegionCase {
  std::string name;
  SparseMatrix matrix;
  std::int64_t height = 1;
  std::int64_t warp_panels = 1;
  std::int64_t sharing_groups = 1;  ///< lane groups of a warp that share a panel
  std::int64_t panel_warps = 1;     ///< warps that share a panel
  std::int64_t block_sets = 1;
  std::int64_t vector_width = 1;
  std::int64_t quads_at_once = 1;
  bool vectors = false;

  std::int64_t group_lanes() const { return warp_lanes / (warp_panels * sharing_groups); }
};

Affine name(const std::string& variable) { return Affine::of(variable); }

std::vector<NamedConstant> constants_for(const RegionCase& one) {
  return {{"panel_height", one.height, ""},
          {"warp_panels", one.warp_panels, ""},
          {"block_sets", one.block_sets, ""},
          {"vector_width", one.vector_width, ""},
          {"group_lanes", one.group_lanes(), ""},
          {"panel_warps", one.panel_warps, ""},
          {"sharing_groups", one.sharing_groups, ""},
          {"lane_sums", one.height * one.vector_width, ""},
          {"quads_at_once", one.quads_at_once, ""},
          {"dealt_quads", index("sharing_groups") * index("panel_warps"), ""},
          {"round_quads", index("quads_at_once") * index("dealt_quads"), ""},
          {"block_copies", index("panel_warps") * index("block_sets") * index("warp_panels"), ""},
          {"staged_round", index("quads_at_once") * index("sharing_groups"), ""},
          {"threads_per_block", warp_lanes * one.panel_warps * one.block_sets, ""}};
}

std::vector<ArrayDeclaration> arrays_for(const RegionCase& one) {
  const ScalarType type = one.matrix.element;
  const Affine steps = name("most_steps");
  const Affine quad = name("panel_height") * quad_columns + quad_columns;
  // The rows of C stand apart for all lane groups of all panels of the grid.
  const Affine rows =
      Affine::of("blocks", one.block_sets * one.warp_panels * one.panel_warps * one.sharing_groups * one.height);
  return {{"Numbers", {name("seats")}, ArrayRole::packed_index, ScalarType::u32},
          {"Quads", {name("seats")}, ArrayRole::packed_index, ScalarType::i32},
          {"Columns", {name("seats"), steps}, ArrayRole::packed_index, ScalarType::u32},
          {"Values", {name("seats"), steps, name("panel_height")}, ArrayRole::packed_value, type},
          {"B", {name("K"), name("N")}, ArrayRole::dense, type},
          {"C", {rows, name("N")}, ArrayRole::output, type},
          registers("columns", name("vector_width"), ScalarType::u32),
          registers("sums", name("lane_sums"), type),
          {"current", {name("quads_at_once"), quad}, ArrayRole::registers, type, "Quad"}};
}

/// C[row of the panel and lane group][j + v] = value, as far as there are columns.
Node store_row(const RegionCase& one, const Affine& row, const Expression& value) {
  const std::int64_t groups = one.sharing_groups;
  const Affine of_group = (name("seat") * one.panel_warps + name("part")) * groups + name("group");
  const Affine column = name("j") + name("v");
  return for_each_v(name("vector_width"),
                    {store(element("C", {of_group * one.height + row, column}), value, {less(column, index("N"))})});
}

/// A grid in which each warp has the panels of a set beside each other, as kernels of regions have.
InstructionExample example(const std::string& what, const RegionCase& one, Block body,
                           const std::vector<ArrayDeclaration>& more = {}) {
  LoopNest nest;
  nest.packed = {.kind = PackedForm::Kind::regions,
                 .height = one.height,
                 .warps = one.panel_warps,
                 .groups = one.sharing_groups,
                 .warp_panels = one.warp_panels,
                 .block_panels = one.warp_panels * one.block_sets};
  nest.vectors = true;
  nest.constants = constants_for(one);
  nest.arrays = arrays_for(one);
  nest.arrays.insert(nest.arrays.begin(), more.begin(), more.end());
  insert(body, 0,
         {define("set_of_grid", index("set") * index("blocks") + index("block"), ScalarType::u32),
          define("seat", name("set_of_grid") * one.warp_panels + name("place"), ScalarType::u32),
          define("j", Affine::of("lane", one.vector_width), ScalarType::u32)});
  using enum Mapping;
  const std::vector<std::pair<Mapping, const char*>> inner_first{{lane_digit, "lane"},  {lane_digit, "group"},
                                                                 {lane_digit, "place"}, {warp_digit, "set"},
                                                                 {warp_digit, "part"},  {grid, "block"}};
  const std::vector<Affine> extents{one.group_lanes(), one.sharing_groups, one.warp_panels,
                                    one.block_sets,    one.panel_warps,    name("blocks")};
  for (std::size_t at = 0; at < extents.size(); ++at) {
    body = {Node{mapped_loop(inner_first[at].first, inner_first[at].second, extents[at], Role::none, std::move(body))}};
  }
  nest.body = std::move(body);
  return {fmt::format("{}_{}", what, one.name), std::move(nest), one.matrix, one.vectors};
}

Node find_panel() {
  return perform("find_panel", {element("Quads"), index("set_of_grid"), index("seat")}, {"quads", "first_of_panel"});
}

InstructionExample looks_up_panel(const RegionCase& one) {
  return example("panel_at_and_find_panel", one,
                 {perform("panel_at", {element("Numbers"), index("seat")}, {"panel"}), find_panel(),
                  store_row(one, 0, index("panel") * 1000 + index("quads"))});
}

/// What a lane group needs to multiply quads, the first of which is its own.
Block begin_sums() {
  return {Node{Declare{"columns"}}, perform("clamp_columns", {element("columns"), name("j"), index("N")}),
          Node{Declare{"sums", true}}, find_panel(),
          define("own_first", index("part") * index("sharing_groups") + index("group"))};
}

Node store_sums(const RegionCase& one) {
  const Expression sum = element("sums", {Affine::of("u", one.vector_width) + name("v")});
  return unrolled_loop("u", "panel_height", Role::none, {store_row(one, name("u"), sum)});
}

Node load(const char* columns, const char* values, const Expression& panel, const Expression& ahead,
          const Expression& number) {
  return perform("load_quad", {element("current", {name("q")}), element(columns), element(values), panel, index("here"),
                               ahead, number});
}

Node multiply_all() {
  return unrolled_loop(
      "q", "quads_at_once", Role::none,
      {perform("multiply_quad", {element("current", {name("q")}), element("B"), element("columns"), element("sums")})});
}

/// Rounds over a panel's quads of which the place moves on. In the last one some are behind the panel's end and stay
/// zero.
InstructionExample multiplies_quads(const RegionCase& one) {
  const Expression ahead = index("q") * index("dealt_quads");
  const Affine number = name("quad") + Affine::of("q", one.sharing_groups * one.panel_warps);
  Block body = begin_sums();
  append(body, {perform("find_quad", {index("first_of_panel"), index("own_first")}, {"here"}),
                sequential_loop(
                    "quad", name("own_first"), name("quads"), name("round_quads"), Role::reduction,
                    {Node{Declare{"current", true}},
                     unrolled_loop("q", "quads_at_once", Role::none,
                                   {perform("clear_quad", {element("current", {name("q")})}),
                                    Node{Branch{less(number, index("quads")),
                                                {load("Columns", "Values", index("first_of_panel"), ahead, number)},
                                                {}}}}),
                     statement(Update{Name{"here"}, index("round_quads")}), multiply_all()}),
                store_sums(one)});
  return example("load_and_multiply_quads", one, std::move(body));
}

/// Quads of every second panel are cleared behind their loading.
InstructionExample clears_quads(const RegionCase& one) {
  Block body = begin_sums();
  append(body, {perform("find_quad", {index("first_of_panel"), 0}, {"here"}),
                sequential_loop("quad", 0, name("quads"), 1, Role::reduction,
                                {Node{Declare{"current", true}},
                                 unrolled_loop("q", "quads_at_once", Role::none,
                                               {load("Columns", "Values", index("first_of_panel"), 0, index("quad")),
                                                Node{Branch{less(remainder(index("seat"), 2), 1),
                                                            {perform("clear_quad", {element("current", {name("q")})})},
                                                            {}}}}),
                                 statement(Update{Name{"here"}, 1}), multiply_all()}),
                store_sums(one)});
  return example("clear_quad", one, std::move(body));
}

/// With columns of a round that are `dealt` to the lane groups, or whole quads.
InstructionExample stages(const RegionCase& one, bool dealt) {
  const ScalarType type = one.matrix.element;
  const Affine copies = name("block_copies");
  const Affine steps = name("staged_steps");
  const Expression number = name("quad") + name("group") + Affine::of("q", one.sharing_groups * one.panel_warps);
  const Expression ahead = index("q") * index("sharing_groups");
  const Node load_whole = load("StagedColumns", "StagedValues", index("copy"), ahead, number);
  const Node load_dealt =
      perform("load_dealt_quad", {element("current", {name("q")}), element("StagedColumns"), element("StagedValues"),
                                  index("copy"), index("here"), ahead, number, index("group")});
  Block body = begin_sums();
  append(body, {define("warp_first", Affine::of("part", one.sharing_groups)),
                define("copy", Affine::of("warp", one.warp_panels) + name("place")),
                perform("stage_quads",
                        {element("Columns"), element("Values"), element("StagedColumns"), element("StagedValues"),
                         index("first_of_panel"), index("quads"), index("part"), index("copy"), index("group")},
                        {"here"}),
                perform("wait_for_copies", {}), Node{Barrier{Scope::warp}},
                sequential_loop("quad", name("warp_first"), name("quads"), name("round_quads"), Role::reduction,
                                {Node{Declare{"current"}},
                                 unrolled_loop("q", "quads_at_once", Role::none, {dealt ? load_dealt : load_whole}),
                                 statement(Update{Name{"here"}, index("staged_round")}), multiply_all()}),
                store_sums(one)});
  return example(dealt ? "load_dealt_quad" : "stage_quads", one, std::move(body),
                 {{"StagedColumns", {copies, steps}, ArrayRole::shared, ScalarType::u32, "quads"},
                  {"StagedValues", {copies, steps, name("panel_height")}, ArrayRole::shared, type, "quads"}});
}

InstructionExample stages_quads(const RegionCase& one) { return stages(one, false); }
InstructionExample deals_quads(const RegionCase& one) { return stages(one, true); }

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
       .warp_panels = 4,
       .sharing_groups = 2,
       .panel_warps = 2,
       .block_sets = 2,
       .vector_width = 4,
       .vectors = true},
      {.name = "f64_batched",
       .matrix = sparse(ScalarType::f64, 50, 3),
       .height = 3,
       .warp_panels = 2,
       .sharing_groups = 4,
       .vector_width = 2,
       .quads_at_once = 2,
       .vectors = true},
      {.name = "f64_every_column",
       .matrix = small_matrix(10, 19, 0.95, ScalarType::f64, 4),
       .height = 4,
       .sharing_groups = 8,
       .vector_width = 1},
      {.name = "f32_every_column",
       .matrix = small_matrix(10, 22, 0.95, ScalarType::f32, 5),
       .height = 1,
       .warp_panels = 8,
       .panel_warps = 2,
       .vector_width = 4,
       .quads_at_once = 2,
       .vectors = true},
      {.name = "f32_many_columns",
       .matrix = sparse(ScalarType::f32, 65600, 6),
       .height = 2,
       .warp_panels = 2,
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
       .panel_warps = 2,
       .vector_width = 1,
       .quads_at_once = 2}};
  std::vector<InstructionExample> examples;
  for (const RegionCase& one : cases) {
    for (const auto& make : {looks_up_panel, multiplies_quads, clears_quads, stages_quads, deals_quads}) {
      examples.push_back(make(one));
    }
  }
  return examples;
}

}  // namespace esc::tests

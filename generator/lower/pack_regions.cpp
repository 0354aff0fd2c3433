#include "generator/lower/pack_regions.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "generator/lower/mapped_nest.h"
#include "generator/lower/thread_nest.h"

namespace esc {
namespace {

constexpr std::int64_t quad_columns = 4;

Affine step_of_quad() { return Affine::of("quad", quad_columns) + Affine::of("s"); }

Access of_panel(const std::string& array) {
  return {array, {{"", Affine::of("first_of_panel")}, {"", step_of_quad()}}};
}

Node look_up(const std::string& seat, const std::string& panel) {
  return Node{Statement{{}, Perform{"panel_at", {Access{"Numbers", {}}, index(seat)}, {panel}}}};
}

/// The quads of a lane group: columns and values of A taken from the packed matrix.
Loop read_quads(const Loop& dealt) {
  const auto& column = std::get<Define>(std::get<Statement>(dealt.body.front().content).action);
  Loop steps{"s", 0, quad_columns, 1, Role::none, Mapping::unrolled, dealt.body};
  steps.body.front() = define(column.name, of_panel("Columns"), column.type);
  Statement statement = innermost(steps);
  std::erase_if(statement.guard, [](const Expression& condition) {
    const Operation* bound = condition.operation(Operator::less);
    return bound != nullptr && bound->operands.back() == index("M");
  });
  auto& update = std::get<Update>(statement.action);
  std::vector<Expression> both = factors(update.value);
  Access value = of_panel("Values");
  value.subscripts.push_back({"", Affine::of("u")});
  both.front() = value;
  update.value = product(both);
  Loop quads = dealt;
  quads.iterator = "quad";
  quads.lower = Affine::of("warp_first") + Affine::of("group");
  quads.upper = Affine::of("quads");
  quads.step = Affine::of("dealt_quads");
  quads.body = {Node{with_innermost(steps, {Node{std::move(statement)}})}};
  return quads;
}

/// Panels are looked up by their seats, wherever a panel is named.
Block look_up_panels(const Block& block) {
  Block result;
  for (const Node& node : block) {
    if (const auto* loop = std::get_if<Loop>(&node.content)) {
      Loop around = *loop;
      around.body = look_up_panels(loop->body);
      result.push_back(Node{std::move(around)});
      continue;
    }
    const auto* statement = std::get_if<Statement>(&node.content);
    const auto* defined = statement == nullptr ? nullptr : std::get_if<Define>(&statement->action);
    const auto* stored = statement == nullptr ? nullptr : std::get_if<Store>(&statement->action);
    if (defined != nullptr && defined->value == index("seat")) {
      result.push_back(look_up("seat", defined->name));
    } else if (stored != nullptr && stored->value == index("seat_of_store")) {
      result.push_back(look_up("seat_of_store", "stored_panel"));
      result.push_back(Node{Statement{{}, Store{stored->target, index("stored_panel")}}});
    } else {
      result.push_back(node);
    }
  }
  return result;
}

bool counts_columns(const Node& node) {
  const auto* statement = std::get_if<Statement>(&node.content);
  const auto* defined = statement == nullptr ? nullptr : std::get_if<Define>(&statement->action);
  return defined != nullptr && std::holds_alternative<ColumnCount>(defined->value.content);
}

}  // namespace

LoopNest pack_regions(const LoopNest& nest, const PackRegions& directive) {
  check_sparse(nest, directive, directive.array);
  ThreadNest parts = take_apart(nest, directive);
  const std::size_t at = find_place(parts.body, Role::reduction);
  if (parts.thread("part") == nullptr || at == parts.body.size() || nest.find_array("sums") == nullptr) {
    throw ScheduleError(directive, "the sums are not in registers",
                        "split the reduction loop and accumulate its sums first");
  }
  check_full_warps(count_threads(nest, parts, Mapping::lane_digit), nest.constant("sharing_groups"), directive);
  parts.body[at] = Node{read_quads(std::get<Loop>(parts.body[at].content))};
  parts.body = look_up_panels(parts.body);
  const auto count = std::ranges::find_if(parts.body, counts_columns);
  *count = Node{Statement{{},
                          Perform{"find_panel", {Access{"Quads", {}}, index("set_of_grid"), index("seat")},
                                  {"quads", "first_of_panel"}}}};
  parts.body.insert(count + 1, define("warp_first", index("part") * index("sharing_groups")));

  LoopNest result = put_together(nest, parts);
  std::erase_if(result.arrays, [](const ArrayDeclaration& array) { return array.role == ArrayRole::sparse; });
  // How many blocks there are follows from the seats of the packed matrix.
  std::erase_if(result.derived_sizes, [](const DerivedSize& size) { return size.name == "blocks"; });
  const Affine seats = Affine::of("seats");
  const Affine steps = Affine::of("most_steps");
  result.arrays.push_back({"Numbers", {seats}, ArrayRole::packed_index, ScalarType::u32});
  result.arrays.push_back({"Quads", {seats}, ArrayRole::packed_index, ScalarType::i32});
  result.arrays.push_back({"Columns", {seats, steps}, ArrayRole::packed_index, ScalarType::u32});
  result.arrays.push_back(
      {"Values", {seats, steps, Affine::of("panel_height")}, ArrayRole::packed_value, nest.element()});
  result.constants.push_back(
      {"dealt_quads", index("sharing_groups") * index("panel_warps"), "one for each lane group that shares a panel"});
  result.packed = {.kind = PackedForm::Kind::regions,
                   .height = nest.constant("panel_height"),
                   .warps = nest.constant("panel_warps"),
                   .groups = nest.constant("sharing_groups"),
                   .warp_panels = nest.constant("warp_panels"),
                   .block_panels = nest.constant("block_panels")};
  result.story.push_back(
      "A is stored as quads: four columns of a panel with the values of its rows, dealt in turn to the lane groups. Panels of "
      "about the same length are stored with equally many quads, longest first: where a panel begins follows from its place "
      "and constants, so that the kernel waits for memory twice, for A and for B.");
  return result;
}

}  // namespace esc

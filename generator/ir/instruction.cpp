// SPDX-License-Identifier: Apache-2.0
#include "generator/ir/instruction.h"

#include <algorithm>
#include <iterator>

#include "generator/ir/bitmap_instructions.h"
#include "generator/ir/fragment_instructions.h"
#include "generator/ir/gather_instructions.h"
#include "generator/ir/instruction_parts.h"
#include "generator/ir/placed_instructions.h"
#include "generator/ir/tile_instructions.h"
#include "generator/support/error.h"

namespace esc {

// Embedded by CMakeLists.txt from templates/instructions.
extern const std::string_view vector_text;
extern const std::string_view lane_columns_text;
extern const std::string_view placed_lane_columns_text;
extern const std::string_view load_part_text;
extern const std::string_view store_text;
extern const std::string_view add_columns_text;
extern const std::string_view deliver_text;
extern const std::string_view place_columns_text;
extern const std::string_view add_placed_columns_text;
extern const std::string_view deliver_placed_text;
extern const std::string_view shared_vector_text;
extern const std::string_view meet_cluster_text;
extern const std::string_view leave_vector_text;
extern const std::string_view add_groups_text;
extern const std::string_view quad_text;
extern const std::string_view load_quad_text;
extern const std::string_view load_dealt_quad_text;
extern const std::string_view clear_quad_text;
extern const std::string_view multiply_quad_text;
extern const std::string_view panel_at_text;
extern const std::string_view find_panel_text;
extern const std::string_view stage_quads_text;
extern const std::string_view load_task_text;
extern const std::string_view load_pairs_text;
extern const std::string_view multiply_pairs_text;
extern const std::string_view dependency_text;

namespace {

using namespace instruction_parts;

constexpr std::int64_t quad_columns = 4;

Guard before_left() { return {less(name("v"), name("left"))}; }

Instruction clamp_columns() {
  return {.name = "clamp_columns",
          .parameters = {array("columns"), value("first"), value("count")},
          .meaning = {loop("v", name("vector_width"),
                           {store(at("columns", {name("v")}), minimum(name("first") + name("v"), name("count") - 1))})},
          .call = "clamp_columns<vectors>({columns}, {first}, {count});",
          .texts = {lane_columns_text},
          .placed_call = "place_columns<vectors>({columns}, {first}, {count}, B, ldb);",
          .placed_texts = {placed_lane_columns_text}};
}

Instruction load_part() {
  return {.name = "load_part",
          .parameters = {array("part"), pointer("row"), array("columns")},
          .meaning = {loop("v", name("vector_width"),
                           {define("column", at("columns", {name("v")})),
                            store(at("part", {name("v")}), at("row", {name("column")}))})},
          .call = "{part} = load_part<vectors>({row}, {columns});",
          .texts = {vector_text, load_part_text}};
}

/// Moves `width` elements, of which the first `left` are there.
Instruction moves_columns(const std::string& name_of, Block body, const std::string& call,
                          std::vector<std::string_view> texts, std::vector<Instruction::Parameter> more = {}) {
  Instruction result{.name = name_of,
                     .parameters = {pointer("to"), pointer("from"), value("width"), value("left")},
                     .meaning = {loop("v", name("width"), std::move(body))},
                     .call = call,
                     .texts = std::move(texts)};
  result.parameters.insert(result.parameters.end(), more.begin(), more.end());
  return result;
}

Access to_v() { return at("to", {name("v")}); }
Access from_v() { return at("from", {name("v")}); }

/// The same where columns have places of their own.
Instruction placed(Instruction moves, const std::string& call, std::vector<std::string_view> texts) {
  moves.placed_call = call;
  moves.placed_texts = std::move(texts);
  return moves;
}

Instruction store_columns() {
  return placed(moves_columns("store_columns", {store(to_v(), from_v(), before_left())},
                              "store<{width}, vectors>({to}, {from}, {left});", {vector_text, store_text}),
                "store_columns<{width}, vectors>({to}, {from}, {left});",
                {vector_text, store_text, place_columns_text});
}

Instruction add_columns() {
  return placed(moves_columns("add_columns", {add(to_v(), from_v(), before_left(), true)},
                              "add_columns<{width}>({to}, {from}, {left});", {add_columns_text}),
                "add_columns<{width}>({to}, {from}, {left});", {add_placed_columns_text});
}

Instruction deliver() {
  const std::string call = "deliver<{width}, vectors>({to}, {from}, {left}, {shared});";
  return placed(moves_columns("deliver",
                              {Node{Branch{name("shared"),
                                           {add(to_v(), from_v(), before_left(), true)},
                                           {store(to_v(), from_v(), before_left())}}}},
                              call, {vector_text, store_text, add_columns_text, deliver_text}, {value("shared")}),
                call, {vector_text, store_text, place_columns_text, add_placed_columns_text, deliver_placed_text});
}

/// Moves `width` elements between registers and shared memory.
Instruction moves_vector(const std::string& name_of, Node each, const std::string& call,
                         std::vector<std::string_view> texts) {
  return {.name = name_of,
          .parameters = {pointer("to"), pointer("from"), value("width")},
          .meaning = {loop("v", name("width"), {std::move(each)})},
          .call = call,
          .texts = std::move(texts)};
}

/// The same, where `to` is in the shared memory of the block of that rank in the cluster.
Instruction leave_vector() {
  Instruction result =
      moves_vector("leave_vector", store(to_v(), from_v()), "leave_vector<{width}>({to}, {from}, {rank});",
                   {meet_cluster_text, leave_vector_text});
  result.parameters.push_back(value("rank"));
  return result;
}

/// The group that a lane belongs to, among those that share sums, gets the sums from first_sum on; see
/// add_groups.cu.in.
Instruction add_groups() {
  const Affine lane = name("lane");
  const Block per_lane{define("group", at("group", {lane})),
                       define("first", quotient(name("group"), name("copies")) * index("kept_sums")),
                       define("lowest", name("lane") - times("group", "group_lanes")),
                       loop("e", name("kept_sums"),
                            {define("place", name("first") + name("e")), store(at("total", {lane, name("e")}), 0.0),
                             loop("g", name("sharing_groups"),
                                  {define("other", name("lowest") + times("g", "group_lanes")),
                                   add(at("total", {lane, name("e")}), at("sums", {name("other"), name("place")}))})}),
                       store(at("first_sum", {lane}), name("first"))};
  return {.name = "add_groups",
          .scope = Scope::warp,
          .parameters = {array("sums"), value("group")},
          .results = {"first_sum"},
          .temporaries = {{"total", {32, name("kept_sums")}, ArrayRole::registers}},
          .meaning = {loop("lane", 32, per_lane),
                      loop("lane", 32,
                           {loop("e", name("kept_sums"),
                                 {store(at("sums", {lane, name("e")}), at("total", {lane, name("e")}))})})},
          .call = "add_groups({sums}, {group})",
          .texts = {add_groups_text}};
}

Instruction panel_at() {
  return {.name = "panel_at",
          .parameters = {array("numbers"), value("seat")},
          .results = {"panel"},
          .meaning = {define("panel", at("numbers", {name("seat")}))},
          .call = "panel_at(packed, {seat})",
          .texts = {panel_at_text}};
}

/// How many quads the panel at a seat has, and where they are.
Instruction find_panel() {
  return {.name = "find_panel",
          .parameters = {array("quads_at"), value("set"), value("seat")},
          .results = {"quads", "first"},
          .meaning = {define("quads", at("quads_at", {name("seat")})), define("first", name("seat"))},
          .call = "find_panel({places}{set}, {seat})",
          .record = "PanelQuads",
          .texts = {find_panel_text}};
}

/// The place of a quad, from which the nest goes on.
Instruction find_quad() {
  return {.name = "find_quad",
          .parameters = {value("first"), value("number")},
          .results = {"place"},
          .meaning = {define("place", name("number"))},
          .call = "find_quad(packed, {first} + {number})",
          .moves = true,
          .texts = {vector_text, quad_text, load_quad_text}};
}

/// A quad that adds nothing, whatever its columns.
Instruction clear_quad() {
  return {
      .name = "clear_quad",
      .parameters = {array("quad")},
      .meaning = {loop("e", name("panel_height") * quad_columns, {store(at("quad", {name("e") + quad_columns}), 0.0)})},
      .call = "clear_values({quad});",
      .texts = {vector_text, quad_text, load_quad_text, clear_quad_text}};
}

/// Quad `number` of the panel; where it is is said by `here` and how far ahead of it.
Instruction load_quad() {
  const Affine step = name("number") * quad_columns + name("s");
  const Block each{define("column", at("columns", {name("panel"), step})),
                   store(at("quad", {name("s")}), name("column")),
                   loop("u", name("panel_height"),
                        {define("place", name("u") + times("s", "panel_height") + quad_columns),
                         store(at("quad", {name("place")}), at("values", {name("panel"), step, name("u")}))})};
  return {.name = "load_quad",
          .parameters = {array("quad"), array("columns"), array("values"), value("panel"), value("here"),
                         value("ahead"), value("number")},
          .meaning = {loop("s", quad_columns, each)},
          .call = "{quad} = load_quad({here} + {ahead}, {number});",
          .texts = {vector_text, quad_text, load_quad_text}};
}

/// What a lane group has of the columns of the round in which quad `number` of a copied panel is its own: every one
/// that is as many columns behind the other as there are groups.
Instruction load_dealt_quad() {
  Instruction result = load_quad();
  const Expression step =
      name("number") * quad_columns + name("group") * -(quad_columns - 1) + times("s", "sharing_groups");
  const Block each{define("step", step), define("column", at("columns", {name("panel"), name("step")})),
                   store(at("quad", {name("s")}), name("column")),
                   loop("u", name("panel_height"),
                        {define("place", name("u") + times("s", "panel_height") + quad_columns),
                         store(at("quad", {name("place")}), at("values", {name("panel"), name("step"), name("u")}))})};
  result.name = "load_dealt_quad";
  result.parameters.push_back(value("group"));
  result.meaning = {loop("s", quad_columns, each)};
  result.call = "{quad} = load_quad({here} + {ahead}, {number}, {group});";
  result.texts = {vector_text, quad_text, load_dealt_quad_text};
  return result;
}

/// The lanes of a warp copy what it reads of its panels: the quads that are dealt to it, in whole rounds, zeros behind
/// the panel's own.
Instruction stage_quads() {
  const Affine step = name("number") * quad_columns + name("s");
  const Expression inside = less(name("number"), name("own"));
  const Expression dealt_to = quotient(remainder(name("number"), name("dealt_quads")), name("sharing_groups"));
  const auto staged = [&](const char* array, std::vector<Affine> places) {
    places.insert(places.begin(), {name("to"), step});
    return at(array, places);
  };
  const Block values{loop("u", name("panel_height"),
                          {store(staged("staged_values", {name("u")}),
                                 choose(inside, at("values", {name("from"), step, name("u")}), 0.0))})};
  const Block each{store(staged("staged_columns", {}), choose(inside, at("columns", {name("from"), step}), 0)),
                   values.front()};
  const Block of_panel{
      define("from", at("first", {name("lane")})),
      define("to", at("copy", {name("lane")})),
      define("own", at("quads", {name("lane")})),
      define("mine", at("part", {name("lane")})),
      define("rounds", quotient(name("own") + index("round_quads") - 1, name("round_quads"))),
      define("all", times("rounds", "round_quads")),
      loop("number", name("all"),
           {define("its", dealt_to),
            Node{Branch{less(name("its"), name("mine") + 1),
                        {Node{Branch{less(name("mine"), name("its") + 1), {loop("s", quad_columns, each)}, {}}}},
                        {}}}})};
  const Expression first_of_panel = remainder(name("lane"), quotient(32, name("warp_panels")));
  return {.name = "stage_quads",
          .scope = Scope::warp,
          .parameters = {array("columns"), array("values"), array("staged_columns"), array("staged_values"),
                         value("first"), value("quads"), value("part"), value("copy"), value("group")},
          .results = {"here"},
          .meaning = {loop(
              "lane", 32, {store(at("here", {name("lane")}), 0), Node{Branch{less(first_of_panel, 1), of_panel, {}}}})},
          .call = "stage_quads(shared_memory, packed, {first}, {quads}, {part}, {copy}, thread % 32) + {group}",
          .moves = true,
          .texts = {vector_text, quad_text, stage_quads_text}};
}

Instruction multiply_quad() {
  const Block each{
      define("place", times("s", "panel_height") + name("u") + quad_columns),
      define("sum", times("u", "vector_width") + name("v")), define("column", at("columns", {name("v")})),
      add(at("sums", {name("sum")}), product({at("quad", {name("place")}), at("b", {name("k"), name("column")})}))};
  return {.name = "multiply_quad",
          .parameters = {array("quad"), array("b"), array("columns"), array("sums")},
          .meaning = {loop("s", quad_columns,
                           {define("k", at("quad", {name("s")})),
                            loop("u", name("panel_height"), {loop("v", name("vector_width"), each)})})},
          .call = "multiply<vectors>({quad}, {b}, ldb, {columns}, {sums});",
          .texts = {vector_text, load_part_text, quad_text, multiply_quad_text}};
}

Instruction load_task() {
  return {.name = "load_task",
          .parameters = {array("firsts"), array("rows"), array("lengths"), array("splits"), value("task")},
          .results = {"first", "row", "length", "split"},
          .meaning = {define("first", at("firsts", {name("task")})), define("row", at("rows", {name("task")})),
                      define("length", at("lengths", {name("task")})), define("split", at("splits", {name("task")}))},
          .call = "load_task(packed, {task})",
          .record = "Task",
          .texts = {load_task_text}};
}

Instruction load_pairs() {
  const Block each{define("place", name("at") + times("p", "stride")),
                   define("pair", name("first") + minimum(name("place"), name("length") - 1)),
                   define("second", name("p") + name("pairs_at_once")),
                   store(at("pairs", {name("p")}), at("columns", {name("pair")})),
                   store(at("pairs", {name("second")}),
                         choose(less(name("place"), name("length")), at("values", {name("pair")}), 0.0))};
  return {.name = "load_pairs",
          .parameters = {array("pairs"), array("columns"), array("values"), value("first"), value("at"),
                         value("stride"), value("length")},
          .meaning = {loop("p", name("pairs_at_once"), each)},
          .call =
              "{pairs} = load_pairs(reinterpret_cast<const Pair*>(packed + {of_layer}pairs_at) + {first}, {at}, "
              "{stride}, {length});",
          .texts = {load_pairs_text}};
}

Instruction multiply_pairs() {
  const Block each{
      define("second", name("p") + name("pairs_at_once")), define("column", at("columns", {name("v")})),
      add(at("sums", {name("v")}), product({at("pairs", {name("second")}), at("b", {name("k"), name("column")})}))};
  return {.name = "multiply_pairs",
          .parameters = {array("pairs"), array("b"), array("columns"), array("sums")},
          .meaning = {loop("p", name("pairs_at_once"),
                           {define("k", at("pairs", {name("p")})), loop("v", name("vector_width"), each)})},
          .call = "multiply<vectors>({pairs}, {b}, ldb, {columns}, {sums});",
          .texts = {vector_text, load_part_text, load_pairs_text, multiply_pairs_text}};
}

std::vector<Instruction> make_all() {
  const std::vector<std::string_view> shared{vector_text, shared_vector_text};
  std::vector<Instruction> all{
      clamp_columns(),
      load_part(),
      store_columns(),
      add_columns(),
      deliver(),
      moves_vector("store_vector", store(to_v(), from_v()), "store_vector<{width}>({to}, {from});", shared),
      moves_vector("load_vector", store(to_v(), from_v()), "load_vector<{width}>({to}, {from});", shared),
      leave_vector(),
      moves_vector("add_vector", add(to_v(), from_v()), "add_vector<{width}>({to}, {from});", shared),
      add_groups(),
      panel_at(),
      find_panel(),
      find_quad(),
      clear_quad(),
      load_quad(),
      load_dealt_quad(),
      multiply_quad(),
      load_task(),
      load_pairs(),
      multiply_pairs(),
      stage_quads(),
      ordering("wait_for_copies", "__pipeline_wait_prior(0);", {}),
      ordering("allow_successor", "allow_successor();", {dependency_text}),
      ordering("wait_for_predecessor", "wait_for_predecessor();", {dependency_text})};
  std::ranges::move(fragment_instructions(), std::back_inserter(all));
  std::ranges::move(placed_instructions(), std::back_inserter(all));
  std::ranges::move(gather_instructions(), std::back_inserter(all));
  std::ranges::move(tile_instructions(), std::back_inserter(all));
  std::ranges::move(bitmap_instructions(), std::back_inserter(all));
  return all;
}

}  // namespace

const std::vector<Instruction>& all_instructions() {
  static const std::vector<Instruction> all = make_all();
  return all;
}

const Instruction& instruction(const std::string& name) {
  const auto found = std::ranges::find(all_instructions(), name, &Instruction::name);
  ESC_CHECK(found != all_instructions().end(), "there is an instruction " + name);
  return *found;
}

}  // namespace esc

// SPDX-License-Identifier: Apache-2.0
#include "generator/ir/fragment_instructions.h"

#include <string_view>
#include <utility>

#include "generator/ir/instruction_parts.h"

namespace esc {

// Embedded by CMakeLists.txt from templates/instructions.
extern const std::string_view vector_text;
extern const std::string_view unit_text;
extern const std::string_view stage_unit_text;
extern const std::string_view window_rows_text;
extern const std::string_view stage_windows_text;
extern const std::string_view store_held_text;
extern const std::string_view load_window_text;
extern const std::string_view transpose_window_text;
extern const std::string_view eighths_text;
extern const std::string_view multiply_step_text;
extern const std::string_view multiply_steps_text;
extern const std::string_view float_step_text;
extern const std::string_view load_values_text;
extern const std::string_view multiply_dense_steps_text;
extern const std::string_view dense_float_step_text;
extern const std::string_view terms_text;
extern const std::string_view multiply_split_steps_text;
extern const std::string_view rounded_text;
extern const std::string_view multiply_rounded_step_text;
extern const std::string_view stage_columns_text;
extern const std::string_view stage_elements_text;
extern const std::string_view stage_patches_text;
extern const std::string_view find_extras_text;
extern const std::string_view add_extras_text;
extern const std::string_view add_column_extras_text;
extern const std::string_view add_lanes_text;
extern const std::string_view async_barriers_text;
extern const std::string_view bulk_text;
extern const std::string_view make_barriers_text;
extern const std::string_view copy_unit_text;
extern const std::string_view copy_windows_text;
extern const std::string_view wait_for_operands_text;

namespace {

using namespace instruction_parts;

constexpr const char* unit_of_warp = "unit_copy(shared_memory, {stage}, {part} * block_panels + {place})";
constexpr const char* window_of_warp = "window_copy(shared_memory, {window_stage}, {part})";

Instruction find_rounds() {
  return {.name = "find_rounds",
          .parameters = {array("firsts"), value("block")},
          .results = {"first", "count"},
          .meaning = {define("first", at("firsts", {name("block")})),
                      define("count", Expression(at("firsts", {name("block") + 1})) - index("first"))},
          .call = "find_rounds(packed, {block})",
          .record = "Rounds",
          .texts = {unit_text}};
}

Instruction window_at() {
  return {.name = "window_at",
          .parameters = {array("windows"), value("round"), value("first")},
          .results = {"window"},
          .meaning = {define("window", at("windows", {name("round")}))},
          .call = "window_at(packed, {round}, {first})",
          .texts = {unit_text}};
}

/// What the products of a unit have in common: where B stands, whose sums they are, and where the unit and the window
/// are copied to.
std::vector<Instruction::Parameter> with_place(std::vector<Instruction::Parameter> packed) {
  packed.insert(packed.end(),
                {array("b"), value("origin"), value("first_column"), value("columns"), value("row_set"), value("pair"),
                 array("sums"), value("stage"), value("window_stage"), value("part"), value("place")});
  return packed;
}

/// For pair `e` of a lane's sums, both of its columns as far as they are there; `of_row` is the value in its row.
Node add_product(const Expression& of_row) {
  return loop("v", 2,
              {define("j", name("first_column") + quotient(index("e"), index("lane_rows")) * 8 + index("pair") * 2 +
                               index("v")),
               define("sum", index("e") * 2 + index("v")),
               Node{Branch{less(name("j"), name("columns")),
                           {add(at("sums", {name("sum")}), product({of_row, at("b", {name("k"), name("j")})}))},
                           {}}}});
}

/// The products of some steps in a chain, or of those that are left, with some of the columns of C; which instructions
/// of the tensor core make them is a matter of the text.
Instruction multiply_steps(const char* name_of, const char* function, std::vector<std::string_view> texts) {
  const Node eighth = Node{Loop{"t",
                                name("first_eighth"),
                                name("behind_eighths"),
                                1,
                                Role::none,
                                Mapping::sequential,
                                {loop("r", name("lane_rows"),
                                      {define("e", index("t") * index("lane_rows") + index("r")),
                                       define("row", index("r") * index("row_sets") + index("row_set")),
                                       add_product(at("values", {name("slot"), name("row")}))})}}};
  const Block each{define("slot", index("step") * index("step_slots") + index("s")),
                   define("k", Expression(at("slots", {name("slot")})) + index("origin")), eighth};
  return {.name = name_of,
          .parameters = with_place({array("slots"), array("values"), value("first_step"), value("behind_steps"),
                                    value("first_eighth"), value("behind_eighths")}),
          .meaning = {loop(
              "link", name("chained_steps"),
              {define("step", index("first_step") + index("link")),
               Node{Branch{less(name("step"), name("behind_steps")), {loop("s", name("step_slots"), each)}, {}}}})},
          .call = std::string(function) + "(" + unit_of_warp + ", " + window_of_warp +
                  ", {first_step}, {behind_steps}, Eighths{{first_eighth}, {behind_eighths}}, thread % 32, {sums});",
          .reads_unit = true,
          .texts = std::move(texts)};
}

/// The same of one column of C: lane 4 g + c adds what slots 8 c to 8 c + 7 of a step have for its rows, in two sums of
/// each.
Instruction multiply_column_steps(std::vector<std::string_view> texts) {
  constexpr std::int64_t lane_slots = 8;
  Instruction result = multiply_steps("multiply_column_steps", "multiply_steps", std::move(texts));
  const Block each{define("slot", index("step") * index("step_slots") + index("pair") * lane_slots + index("s")),
                   define("k", Expression(at("slots", {name("slot")})) + index("origin")),
                   loop("e", name("lane_rows"),
                        {define("row", index("e") * index("row_sets") + index("row_set")),
                         define("sum", index("e") * 2 + remainder(index("s"), 2)),
                         add(at("sums", {name("sum")}), product({at("values", {name("slot"), name("row")}),
                                                                 at("b", {name("k"), name("first_column")})}))})};
  result.meaning = {loop("link", name("chained_steps"),
                         {define("step", index("first_step") + index("link")),
                          Node{Branch{less(name("step"), name("behind_steps")), {loop("s", lane_slots, each)}, {}}}})};
  return result;
}

/// Which extras a set of rows has.
Instruction find_extras() {
  return {.name = "find_extras",
          .parameters = {array("ends"), value("row_set"), value("stage"), value("part"), value("place")},
          .results = {"first", "behind"},
          .meaning = {define("first", choose(less(0, index("row_set")), at("ends", {name("row_set") - 1}), 0)),
                      define("behind", at("ends", {name("row_set")}))},
          .call = std::string("find_extras(") + unit_of_warp + ", {row_set})",
          .record = "Extras",
          .reads_unit = true,
          .texts = {unit_text, find_extras_text}};
}

Instruction add_extras() {
  const Block each{
      define("k", Expression(at("slots", {name("x")})) + index("origin")), define("upper", at("rows", {name("x")})),
      loop("t", name("column_eighths"),
           {define("e", index("t") * index("lane_rows") + index("upper")), add_product(at("values", {name("x")}))})};
  return {.name = "add_extras",
          .parameters = with_place(
              {value("first_extra"), value("behind_extras"), array("slots"), array("rows"), array("values")}),
          .meaning = {Node{
              Loop{"x", name("first_extra"), name("behind_extras"), 1, Role::none, Mapping::sequential, each}}},
          .call = std::string("add_extras({first_extra}, {behind_extras}, ") + unit_of_warp + ", " + window_of_warp +
                  ", thread % 32, {sums});",
          .reads_unit = true,
          .texts = {vector_text, unit_text, add_extras_text}};
}

/// The same of one column of C: each of the four lanes adds some of them.
Instruction add_column_extras() {
  Instruction result = add_extras();
  const Block each{
      define("k", Expression(at("slots", {name("x")})) + index("origin")), define("upper", at("rows", {name("x")})),
      define("sum", index("upper") * 2),
      add(at("sums", {name("sum")}), product({at("values", {name("x")}), at("b", {name("k"), name("first_column")})}))};
  result.name = "add_column_extras";
  result.meaning = {Node{Loop{"x", name("first_extra") + name("pair"), name("behind_extras"), name("column_pairs"),
                              Role::none, Mapping::sequential, each}}};
  result.texts = {unit_text, add_column_extras_text};
  return result;
}

/// The four lanes of a row add up what they have of one column of C: each gets the sum of every row that it has, in the
/// first of its two sums.
Instruction add_lanes() {
  const Affine lane = name("lane");
  const Block per_row{store(at("total", {lane, name("e")}), 0.0),
                      loop("g", name("column_pairs"),
                           {define("other", name("lane") - name("pair_of_lane") + name("g")),
                            loop("v", 2,
                                 {define("place", name("e") * 2 + name("v")),
                                  add(at("total", {lane, name("e")}), at("sums", {name("other"), name("place")}))})})};
  const Block per_lane{define("pair_of_lane", at("pair", {lane})), loop("e", name("lane_rows"), per_row)};
  return {.name = "add_lanes",
          .scope = Scope::warp,
          .parameters = {array("sums"), value("pair")},
          .temporaries = {{"total", {32, name("lane_rows")}, ArrayRole::registers}},
          .meaning = {loop("lane", 32, per_lane),
                      loop("lane", 32,
                           {loop("e", name("lane_rows"),
                                 {define("place", name("e") * 2),
                                  store(at("sums", {lane, name("place")}), at("total", {lane, name("e")}))})})},
          .call = "add_lanes({sums});",
          .texts = {add_lanes_text}};
}

/// Which of its rounds a block takes as number `its`.
Node define_round() {
  return define("round", index("first") + choose(less(index("its") + index("rotation"), index("rounds")),
                                                 index("its") + index("rotation"),
                                                 index("its") + index("rotation") - index("rounds")));
}

/// The lanes of a warp copy what their panel has in the round of a turn, where there is one.
Instruction stage_unit() {
  const auto unit = [](const char* array_name, const Affine& element) {
    return at(array_name, {name("round"), name("place"), element});
  };
  const auto copy = [](const char* array_name, const Affine& element) {
    return at(array_name, {name("stage"), name("copy"), element});
  };
  Access value_of = unit("values", name("s"));
  Access copied_value = copy("staged_values", name("s"));
  value_of.subscripts.push_back({"", name("u")});
  copied_value.subscripts.push_back({"", name("u")});
  const Block slots{store(copy("staged_slots", name("s")), unit("slots", name("s"))),
                    loop("u", name("panel_height"), {store(copied_value, value_of)})};
  const Block ends{store(copy("staged_extra_ends", name("p")), unit("extra_ends", name("p")))};
  const Block extras{store(copy("staged_extra_slots", name("x")), unit("extra_slots", name("x"))),
                     store(copy("staged_extra_rows", name("x")), unit("extra_rows", name("x"))),
                     store(copy("staged_extra_values", name("x")), unit("extra_values", name("x")))};
  return {.name = "stage_unit",
          .parameters = {array("slots"),
                         array("values"),
                         array("extra_ends"),
                         array("extra_slots"),
                         array("extra_rows"),
                         array("extra_values"),
                         array("staged_slots"),
                         array("staged_values"),
                         array("staged_extra_ends"),
                         array("staged_extra_slots"),
                         array("staged_extra_rows"),
                         array("staged_extra_values"),
                         value("first"),
                         value("rounds"),
                         value("rotation"),
                         value("turn"),
                         value("stage"),
                         value("part"),
                         value("place"),
                         value("lane")},
          .meaning = {define("its", index("turn") * index("turn_windows") + index("part")),
                      Node{Branch{
                          less(name("its"), name("rounds")),
                          {define_round(), define("copy", index("part") * index("block_panels") + index("place")),
                           loop_of_lanes("s", name("unit_slots"), slots), loop_of_lanes("p", name("row_sets"), ends),
                           loop_of_lanes("x", name("unit_extras"), extras)},
                          {}}}},
          .call = "stage_unit(shared_memory, packed, {first}, {rounds}, {rotation}, {turn}, {stage}, {part}, {place});",
          .texts = {unit_text, stage_unit_text}};
}

/// Element k, j of B; what lies outside is zero.
Expression element_inside_b() {
  return choose(less(index("k"), index("height")),
                choose(less(index("j"), index("width")), at("b", {name("k"), name("j")}), 0.0), 0.0);
}

/// The threads of a team copy the rows of B for its round of a turn.
Instruction stage_windows(const char* name_of, const char* function, std::string_view text) {
  const Block row{
      define("k", index("window") * index("window_columns") + index("r")),
      loop("c", name("tile_columns"),
           {define("j", index("tile") * index("tile_columns") + index("c")),
            store(at("staged_b", {name("stage"), name("part"), name("r"), name("c")}), element_inside_b())})};
  const Node rows{Loop{"r", Affine::of("thread"), Affine::of("window_columns"), Affine::of("team_threads"), Role::none,
                       Mapping::sequential, row}};
  return {.name = name_of,
          .parameters = {array("b"), array("windows"), array("staged_b"), value("first"), value("rounds"),
                         value("rotation"), value("turn"), value("stage"), value("part"), value("tile"),
                         value("thread"), value("height"), value("width")},
          .meaning = {define("its", index("turn") * index("turn_windows") + index("part")),
                      Node{Branch{less(name("its"), name("rounds")),
                                  {define_round(), define("window", at("windows", {name("round")})), rows},
                                  {}}}},
          .call = std::string(function) +
                  "(shared_memory, packed, {b}, ldb, {first}, {rounds}, {rotation}, {turn}, {stage}, {part}, {tile}, "
                  "{thread}, {width});",
          .texts = {vector_text, unit_text, window_rows_text, text}};
}

/// What cannot go past the registers is `held` in them, and stored a turn later.
Instruction stage_windows() {
  Instruction result = stage_windows("stage_windows", "stage_windows<vectors>", stage_windows_text);
  result.parameters.insert(result.parameters.begin(), array("held"));
  result.call.insert(result.call.find("packed"), "{held}, ");
  return result;
}

Instruction store_held() {
  Instruction result =
      ordering("store_held", "store_held<vectors>(shared_memory, {held}, {rounds}, {turn}, {stage}, {part}, {thread});",
               {vector_text, unit_text, window_rows_text, stage_windows_text, store_held_text});
  result.parameters = {array("held"), value("rounds"), value("turn"), value("stage"), value("part"), value("thread")};
  return result;
}

/// The same of 32 bits where elements of B lie as a layout says.
Instruction stage_elements() { return stage_windows("stage_elements", "stage_elements<vectors>", stage_elements_text); }

/// Or, where rows share elements of B, of what they share each once.
Instruction stage_patches() { return stage_windows("stage_patches", "stage_patches", stage_patches_text); }

/// And where each column of B lies by itself, and so stands in shared memory.
Instruction stage_columns() { return stage_windows("stage_columns", "stage_columns", stage_columns_text); }

/// The same copy where one thread asks for all of it.
Instruction asked_for(Instruction copy, const char* name_of, const char* call, std::string_view text) {
  copy.name = name_of;
  copy.call = call;
  copy.texts.push_back(async_barriers_text);
  copy.texts.push_back(bulk_text);
  copy.texts.push_back(text);
  return copy;
}

Instruction copy_unit() {
  return asked_for(stage_unit(), "copy_unit",
                   "copy_unit(shared_memory, packed, {first}, {rounds}, {rotation}, {turn}, {stage}, {part}, {place});",
                   copy_unit_text);
}

Instruction copy_windows() {
  return asked_for(stage_windows(), "copy_windows",
                   "copy_windows<vectors, tuned>(shared_memory, {held}, packed, &boxes_of_B, {b}, ldb, {first}, "
                   "{rounds}, {rotation}, {turn}, {stage}, {part}, {tile}, {thread}, {width});",
                   copy_windows_text);
}

Instruction make_barriers() {
  Instruction result = ordering("make_barriers", "make_barriers<vectors, tuned>(shared_memory, {thread});",
                                {unit_text, async_barriers_text, bulk_text, make_barriers_text});
  result.parameters = {value("thread")};
  return result;
}

Instruction wait_for_operands() {
  Instruction result = ordering("wait_for_operands", "wait_for_operands(shared_memory, {own_turn}, {stage}, {part});",
                                {unit_text, async_barriers_text, bulk_text, wait_for_operands_text});
  result.parameters = {value("own_turn"), value("stage"), value("part")};
  return result;
}

/// What the warp with this copy of a unit does in the round of a turn, where there is one.
Block if_there(Block body) {
  return {define("part", quotient(index("copy"), index("block_panels"))),
          define("its", index("turn") * index("turn_windows") + index("part")),
          Node{Branch{less(name("its"), name("rounds")), std::move(body), {}}}};
}

/// The tiles of a window that the warp has: 32 rows and 8 columns, of which a lane has 8 rows of one column.
Node each_tile(Block each) {
  Block body{define("row", remainder(index("number"), index("row_tiles")) * 32 + remainder(index("lane"), 4) * 8),
             define("column", quotient(index("number"), index("row_tiles")) * 8 + quotient(index("lane"), 4))};
  body.push_back(loop("v", name("vector_width"), std::move(each)));
  const Expression number = index("f") * index("block_panels") + remainder(index("copy"), index("block_panels"));
  return loop("f", name("window_fetches"),
              {define("number", number), Node{Branch{less(name("number"), name("window_tiles")), body, {}}}});
}

/// A lane's elements of the window of its warp's round, for its registers.
Instruction load_window() {
  const Block each{define("k", index("window") * index("window_columns") + index("row") + index("v")),
                   define("j", index("tile") * index("tile_columns") + index("column")),
                   store(at("fetched", {name("f"), name("v")}), element_inside_b())};
  return {
      .name = "load_window",
      .parameters = {array("fetched"), array("b"), array("windows"), value("first"), value("rounds"), value("rotation"),
                     value("turn"), value("tile"), value("copy"), value("lane"), value("height"), value("width")},
      .meaning = if_there({define_round(), define("window", at("windows", {name("round")})), each_tile(each)}),
      .call =
          "load_window({fetched}, packed, {b}, ldb, {first}, {rounds}, {rotation}, {turn}, {tile}, {copy}, {lane}, "
          "{width});",
      .texts = {unit_text, window_rows_text, load_window_text}};
}

/// Stores what was loaded so, in rows.
Instruction transpose_window() {
  const Block each{define("r", index("row") + index("v")),
                   store(at("staged_b", {name("stage"), name("part"), name("r"), name("column")}),
                         at("fetched", {name("f"), name("v")}))};
  return {.name = "transpose_window",
          .parameters = {array("fetched"), array("staged_b"), value("rounds"), value("turn"), value("stage"),
                         value("copy"), value("lane")},
          .meaning = if_there({each_tile(each)}),
          .call = "transpose_window(shared_memory, {fetched}, {rounds}, {turn}, {stage}, {copy}, {lane});",
          .texts = {unit_text, transpose_window_text}};
}

}  // namespace

std::vector<Instruction> fragment_instructions() {
  Instruction wait = ordering("wait_for_stage", "__pipeline_wait_prior({ahead});", {});
  wait.parameters = {value("ahead")};
  return {find_rounds(),
          window_at(),
          stage_unit(),
          stage_windows(),
          store_held(),
          stage_columns(),
          stage_elements(),
          stage_patches(),
          make_barriers(),
          copy_unit(),
          copy_windows(),
          wait_for_operands(),
          load_window(),
          transpose_window(),
          multiply_steps("multiply_steps", "multiply_steps",
                         {unit_text, eighths_text, multiply_step_text, multiply_steps_text}),
          multiply_steps("multiply_dense_steps", "multiply_dense_steps",
                         {unit_text, eighths_text, load_values_text, multiply_dense_steps_text}),
          multiply_steps(
              "multiply_split_steps", "multiply_split_steps",
              {unit_text, eighths_text, load_values_text, float_step_text, terms_text, multiply_split_steps_text}),
          multiply_steps("multiply_rounded_steps", "multiply_steps",
                         {unit_text, eighths_text, load_values_text, float_step_text, rounded_text,
                          multiply_rounded_step_text, multiply_steps_text}),
          multiply_steps("multiply_split_dense_steps", "multiply_split_steps",
                         {unit_text, eighths_text, load_values_text, dense_float_step_text, terms_text,
                          multiply_split_steps_text}),
          multiply_steps("multiply_rounded_dense_steps", "multiply_steps",
                         {unit_text, eighths_text, load_values_text, dense_float_step_text, rounded_text,
                          multiply_rounded_step_text, multiply_steps_text}),
          multiply_column_steps({unit_text, eighths_text, multiply_step_text, multiply_steps_text}),
          find_extras(),
          add_extras(),
          add_column_extras(),
          add_lanes(),
          std::move(wait),
          ordering("commit_copies", "__pipeline_commit();", {})};
}

}  // namespace esc

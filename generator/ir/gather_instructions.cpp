// SPDX-License-Identifier: Apache-2.0
#include "generator/ir/gather_instructions.h"

#include <string_view>
#include <utility>

#include "generator/ir/instruction_parts.h"

namespace esc {

// Embedded by CMakeLists.txt from templates/instructions.
extern const std::string_view vector_text;
extern const std::string_view bulk_text;
extern const std::string_view make_barriers_text;
extern const std::string_view wait_for_operands_text;
extern const std::string_view gathered_text;
extern const std::string_view row_at_text;
extern const std::string_view copy_list_text;
extern const std::string_view copy_rows_text;
extern const std::string_view multiply_gathered_text;

namespace {

using namespace instruction_parts;

Instruction row_at() {
  return {.name = "row_at",
          .parameters = {array("rows"), value("seat")},
          .results = {"row"},
          .meaning = {define("row", at("rows", {name("seat")}))},
          .call = "row_at(packed, {seat})",
          .texts = {row_at_text}};
}

/// The lanes of a warp copy its lists for a window.
Instruction copy_list() {
  const auto from = [](const char* array_name) {
    return at(array_name, {name("block"), name("window"), name("set"), name("step"), name("row"), name("n")});
  };
  const auto to = [](const char* array_name) {
    return at(array_name, {name("stage"), name("set"), name("step"), name("row"), name("n")});
  };
  const Node entries =
      loop("row", name("warp_rows"),
           {loop("n", name("step_entries"),
                 {store(to("staged_columns"), from("columns")), store(to("staged_values"), from("values"))})});
  return {.name = "copy_list",
          .parameters = {array("steps"), array("columns"), array("values"), array("staged_steps"),
                         array("staged_columns"), array("staged_values"), value("block"), value("window"),
                         value("stage"), value("set"), value("lane")},
          .meaning = {loop_of_lanes("once", 1,
                                    {store(at("staged_steps", {name("stage"), name("set")}),
                                           at("steps", {name("block"), name("window"), name("set")}))}),
                      loop_of_lanes("step", name("most_steps"), {entries})},
          .call = "copy_list(shared_memory, packed, {block}, {window}, {stage}, {set});",
          .texts = {gathered_text, bulk_text, copy_list_text}};
}

/// The threads of a block copy the rows of B of a window; what lies outside is zero.
Instruction copy_rows() {
  const Expression element =
      choose(less(index("k"), index("height")),
             choose(less(index("j"), index("width")), at("b", {name("k"), name("j")}), 0.0), 0.0);
  const Block row{define("k", index("window") * index("window_columns") + index("r")),
                  loop("c", name("tile_columns"),
                       {define("j", index("tile") * index("tile_columns") + index("c")),
                        store(at("staged_b", {name("stage"), name("r"), name("c")}), element)})};
  return {
      .name = "copy_rows",
      .parameters = {array("b"), array("staged_b"), value("window"), value("stage"), value("tile"), value("thread"),
                     value("height"), value("width")},
      .meaning = {Node{Loop{"r", Affine::of("thread"), Affine::of("window_columns"), Affine::of("threads_per_block"),
                            Role::none, Mapping::sequential, row}}},
      .call = "copy_rows<vectors>(shared_memory, &boxes_of_B, {b}, ldb, {window}, {stage}, {tile}, {thread}, {width});",
      .texts = {gathered_text, bulk_text, copy_rows_text}};
}

Instruction make_window_barriers() {
  Instruction result = ordering("make_window_barriers", "make_barriers<vectors>(shared_memory, {thread});",
                                {bulk_text, make_barriers_text});
  result.parameters = {value("thread")};
  return result;
}

Instruction wait_for_window() {
  Instruction result = ordering("wait_for_window", "wait_for_operands(shared_memory, {window}, {stage}, 0);",
                                {bulk_text, wait_for_operands_text});
  result.parameters = {value("window"), value("stage")};
  return result;
}

/// Each entry of a lane's rows times the row of B that it names, which stands in the ring.
Instruction multiply_gathered() {
  const Node products =
      loop("v", name("vector_width"),
           {define("column", index("lane") * index("vector_width") + index("v")),
            define("sum", index("u") * index("vector_width") + index("v")),
            add(at("sums", {name("sum")}), product({at("values", {name("step"), name("row"), name("n")}),
                                                    at("b", {name("window_stage"), name("r"), name("column")})}))});
  const Block entry{define("k", at("columns", {name("step"), name("row"), name("n")})),
                    define("window_stage", remainder(quotient(index("k"), index("window_columns")), index("stages"))),
                    define("r", remainder(index("k"), index("window_columns"))), products};
  return {.name = "multiply_gathered",
          .parameters = {array("steps"), array("columns"), array("values"), array("b"), value("place"), value("lane"),
                         array("sums"), value("stage"), value("set")},
          .meaning = {define("steps_of_set", at("steps", {name("set")})),
                      loop("step", name("steps_of_set"),
                           {loop("u", name("panel_height"),
                                 {define("row", index("u") * index("warp_panels") + index("place")),
                                  loop("n", name("step_entries"), entry)})})},
          .call =
              "multiply_gathered(list_copy(shared_memory, {stage}, {set}), rows_copy(shared_memory, 0), {place}, "
              "{lane}, {sums});",
          .texts = {vector_text, gathered_text, multiply_gathered_text}};
}

}  // namespace

std::vector<Instruction> gather_instructions() {
  return {row_at(), make_window_barriers(), copy_list(), copy_rows(), wait_for_window(), multiply_gathered()};
}

}  // namespace esc

// SPDX-License-Identifier: Apache-2.0
#include "generator/ir/gather_instructions.h"

#include <string_view>
#include <utility>

#include "generator/ir/instruction_parts.h"

namespace esc {

// Embedded by CMakeLists.txt from templates/instructions.
extern const std::string_view vector_text;
extern const std::string_view async_barriers_text;
extern const std::string_view ring_text;
extern const std::string_view row_at_text;
extern const std::string_view list_begin_text;
extern const std::string_view make_ring_barriers_text;
extern const std::string_view copy_lists_text;
extern const std::string_view copy_rows_text;
extern const std::string_view wait_for_release_text;
extern const std::string_view wait_for_iteration_text;
extern const std::string_view release_iteration_text;
extern const std::string_view multiply_gathered_text;

namespace {

using namespace instruction_parts;

Instruction row_at() {
  return {.name = "row_at",
          .parameters = {array("rows"), value("tile_slot")},
          .results = {"row"},
          .meaning = {define("row", at("rows", {name("tile_slot")}))},
          .call = "row_at(packed, {tile_slot})",
          .texts = {row_at_text}};
}

Instruction list_begin() {
  return {.name = "list_begin",
          .parameters = {array("begins"), value("list")},
          .results = {"begin"},
          .meaning = {define("begin", at("begins", {name("list")}))},
          .call = "list_begin(packed, {list})",
          .texts = {list_begin_text}};
}

/// The lanes of a warp copy the lists that a block has for an iteration.
Instruction copy_lists() {
  const auto from = [](const char* array_name) {
    return at(array_name, {name("block"), name("iteration"), name("set"), name("step"), name("row"), name("n")});
  };
  const auto to = [](const char* array_name) {
    return at(array_name, {name("stage"), name("set"), name("step"), name("row"), name("n")});
  };
  const Node entries =
      loop("row", name("warp_rows"),
           {loop("n", name("step_entries"),
                 {store(to("staged_columns"), from("columns")), store(to("staged_values"), from("values"))})});
  return {.name = "copy_lists",
          .parameters = {array("steps"), array("columns"), array("values"), array("staged_steps"),
                         array("staged_columns"), array("staged_values"), value("block"), value("iteration"),
                         value("lane"), value("first_piece"), value("pieces_end")},
          .meaning = {define("stage", remainder(index("iteration"), index("list_stages"))),
                      loop_of_lanes("set", name("block_sets"),
                                    {store(at("staged_steps", {name("stage"), name("set")}),
                                           at("steps", {name("block"), name("iteration"), name("set")}))}),
                      loop("set", name("block_sets"), {loop_of_lanes("step", name("most_steps"), {entries})})},
          .call = "copy_lists(shared_memory, packed, {iteration}, {first_piece}, {pieces_end});",
          .texts = {async_barriers_text, ring_text, copy_lists_text}};
}

/// The lanes of a warp copy the rows of B that an iteration adds to the ring; what lies outside is zero.
Instruction copy_rows() {
  const Expression element =
      choose(less(index("k"), index("height")),
             choose(less(index("j"), index("width")), at("b", {name("k"), name("j")}), 0.0), 0.0);
  const Block row{define("k", index("k_tile") * index("k_tile_columns") + index("r")),
                  loop_of_lanes("c", name("tile_columns"),
                                {define("j", index("tile") * index("tile_columns") + index("c")),
                                 store(at("staged_b", {name("stage"), name("r"), name("c")}), element)})};
  const Block k_tile{define("stage", remainder(index("k_tile"), index("stages"))),
                     loop("r", name("k_tile_columns"), row)};
  return {
      .name = "copy_rows",
      .parameters = {array("b"), array("staged_b"), value("iteration"), value("tile"), value("lane"), value("height"),
                     value("width")},
      .meaning = {define("first", choose(less(0, index("iteration")), index("iteration") + 1, 0)),
                  define("last", choose(less(index("iteration") + 1, index("k_tiles")), index("iteration") + 1,
                                        index("k_tiles") - 1)),
                  Node{Loop{"k_tile", name("first"), name("last") + 1, 1, Role::none, Mapping::sequential, k_tile}}},
      .call = "copy_rows<vectors>(shared_memory, &boxes_of_B, {b}, ldb, {iteration}, {tile}, {width});",
      .texts = {async_barriers_text, ring_text, copy_rows_text}};
}

Instruction make_ring_barriers() {
  return ordering("make_ring_barriers", "make_ring_barriers<vectors>(shared_memory, {thread});",
                  {async_barriers_text, ring_text, make_ring_barriers_text}, {value("thread")});
}

Instruction ordering_of_iteration(const std::string& name_of, const std::string& call, std::string_view text) {
  return ordering(name_of, call, {async_barriers_text, ring_text, text}, {value("iteration")});
}
Instruction wait_for_iteration() {
  return ordering_of_iteration("wait_for_iteration", "wait_for_iteration(shared_memory, {iteration});",
                               wait_for_iteration_text);
}
Instruction release_iteration() {
  return ordering_of_iteration("release_iteration", "release_iteration({iteration});", release_iteration_text);
}
Instruction wait_for_release() {
  return ordering_of_iteration("wait_for_release", "wait_for_release({iteration});", wait_for_release_text);
}

/// Each entry of a lane's rows times the row of B that it names, which is in the ring.
Instruction multiply_gathered() {
  const Node products =
      loop("v", name("vector_width"),
           {define("column", index("lane") * index("vector_width") + index("v")),
            define("sum", index("u") * index("vector_width") + index("v")),
            add(at("sums", {name("sum")}),
                product({at("values", {name("stage"), name("set"), name("step"), name("row"), name("n")}),
                         at("b", {name("k_tile_stage"), name("r"), name("column")})}))});
  const Block entry{define("k", at("columns", {name("stage"), name("set"), name("step"), name("row"), name("n")})),
                    define("k_tile_stage", remainder(quotient(index("k"), index("k_tile_columns")), index("stages"))),
                    define("r", remainder(index("k"), index("k_tile_columns"))), products};
  return {.name = "multiply_gathered",
          .parameters = {array("steps"), array("columns"), array("values"), array("b"), value("iteration"),
                         value("set"), value("place"), value("lane"), array("sums")},
          .meaning = {define("stage", remainder(index("iteration"), index("list_stages"))),
                      define("steps_of_set", at("steps", {name("stage"), name("set")})),
                      loop("step", name("steps_of_set"),
                           {loop("u", name("row_tile_height"),
                                 {define("row", index("u") * index("warp_row_tiles") + index("place")),
                                  loop("n", name("step_entries"), entry)})})},
          .call =
              "multiply_gathered(list_copy(shared_memory, {iteration}), rows_copy(shared_memory, 0), {set}, {place}, "
              "{lane}, {sums});",
          .texts = {vector_text, async_barriers_text, ring_text, multiply_gathered_text}};
}

}  // namespace

std::vector<Instruction> gather_instructions() {
  return {row_at(),           list_begin(),         make_ring_barriers(), copy_lists(),
          copy_rows(),        wait_for_iteration(), release_iteration(),  wait_for_release(),
          multiply_gathered()};
}

}  // namespace esc

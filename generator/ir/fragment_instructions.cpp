// SPDX-License-Identifier: Apache-2.0
#include "generator/ir/fragment_instructions.h"

#include <string_view>
#include <utility>

#include "generator/ir/instruction_parts.h"

namespace esc {

// Embedded by CMakeLists.txt from templates/instructions.
extern const std::string_view vector_text;
extern const std::string_view packed_tile_text;
extern const std::string_view stage_packed_tile_text;
extern const std::string_view k_tile_rows_text;
extern const std::string_view stage_k_tiles_text;
extern const std::string_view store_held_text;
extern const std::string_view n8_range_text;
extern const std::string_view multiply_steps_text;
extern const std::string_view float_step_text;
extern const std::string_view load_values_text;
extern const std::string_view dense_float_step_text;
extern const std::string_view terms_text;
extern const std::string_view multiply_split_steps_text;
extern const std::string_view rounded_text;
extern const std::string_view multiply_rounded_step_text;
extern const std::string_view stage_columns_text;
extern const std::string_view stage_elements_text;
extern const std::string_view stage_patches_text;
extern const std::string_view find_residuals_text;
extern const std::string_view add_residuals_text;
extern const std::string_view async_barriers_text;
extern const std::string_view bulk_text;
extern const std::string_view make_barriers_text;
extern const std::string_view copy_packed_tile_text;
extern const std::string_view copy_k_tiles_text;
extern const std::string_view wait_for_operands_text;

namespace {

using namespace instruction_parts;

constexpr const char* packed_tile_of_warp =
    "packed_tile_copy(shared_memory, {stage}, {part} * block_row_tiles + {place})";
constexpr const char* k_tile_of_warp = "k_tile_copy(shared_memory, {k_tile_stage}, {part})";

Instruction find_rounds() {
  return {.name = "find_rounds",
          .parameters = {array("firsts"), value("block")},
          .results = {"first", "count"},
          .meaning = {define("first", at("firsts", {name("block")})),
                      define("count", Expression(at("firsts", {name("block") + 1})) - index("first"))},
          .call = "find_rounds(packed, {block})",
          .record = "Rounds",
          .texts = {packed_tile_text}};
}

Instruction k_tile_at() {
  return {.name = "k_tile_at",
          .parameters = {array("k_tiles"), value("round"), value("first")},
          .results = {"k_tile"},
          .meaning = {define("k_tile", at("k_tiles", {name("round")}))},
          .call = "k_tile_at(packed, {round}, {first})",
          .texts = {packed_tile_text}};
}

/// What the products of a packed tile have in common: where B is, whose sums they are, and where the packed tile and
/// the K tile are copied to.
std::vector<Instruction::Parameter> with_place(std::vector<Instruction::Parameter> packed) {
  packed.insert(packed.end(),
                {array("b"), value("origin"), value("first_column"), value("columns"), value("row_set"), value("pair"),
                 array("sums"), value("stage"), value("k_tile_stage"), value("part"), value("place")});
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
  const Node n8_tile = Node{Loop{"t",
                                 name("first_n8_tile"),
                                 name("n8_tiles_end"),
                                 1,
                                 Role::none,
                                 Mapping::sequential,
                                 {loop("r", name("lane_rows"),
                                       {define("e", index("t") * index("lane_rows") + index("r")),
                                        define("row", index("r") * index("row_sets") + index("row_set")),
                                        add_product(at("values", {name("slot"), name("row")}))})}}};
  const Block each{define("slot", index("step") * index("step_slots") + index("s")),
                   define("k", Expression(at("slots", {name("slot")})) + index("origin")), n8_tile};
  return {.name = name_of,
          .parameters = with_place({array("slots"), array("values"), value("first_step"), value("steps_end"),
                                    value("first_n8_tile"), value("n8_tiles_end")}),
          .meaning = {loop(
              "link", name("unrolled_steps"),
              {define("step", index("first_step") + index("link")),
               Node{Branch{less(name("step"), name("steps_end")), {loop("s", name("step_slots"), each)}, {}}}})},
          .call = std::string(function) + "(" + packed_tile_of_warp + ", " + k_tile_of_warp +
                  ", {first_step}, {steps_end}, N8TileRange{{first_n8_tile}, {n8_tiles_end}}, thread % 32, {sums});",
          .reads_packed_tile = true,
          .texts = std::move(texts)};
}

/// Which residuals a set of rows has.
Instruction find_residuals() {
  return {.name = "find_residuals",
          .parameters = {array("ends"), value("row_set"), value("stage"), value("part"), value("place")},
          .results = {"first", "end"},
          .meaning = {define("first", choose(less(0, index("row_set")), at("ends", {name("row_set") - 1}), 0)),
                      define("end", at("ends", {name("row_set")}))},
          .call = std::string("find_residuals(") + packed_tile_of_warp + ", {row_set})",
          .record = "Residuals",
          .reads_packed_tile = true,
          .texts = {packed_tile_text, find_residuals_text}};
}

Instruction add_residuals() {
  const Block each{
      define("k", Expression(at("slots", {name("x")})) + index("origin")), define("upper", at("rows", {name("x")})),
      loop("t", name("n8_tiles"),
           {define("e", index("t") * index("lane_rows") + index("upper")), add_product(at("values", {name("x")}))})};
  return {.name = "add_residuals",
          .parameters = with_place(
              {value("first_residual"), value("residuals_end"), array("slots"), array("rows"), array("values")}),
          .meaning = {Node{
              Loop{"x", name("first_residual"), name("residuals_end"), 1, Role::none, Mapping::sequential, each}}},
          .call = std::string("add_residuals({first_residual}, {residuals_end}, ") + packed_tile_of_warp + ", " +
                  k_tile_of_warp + ", thread % 32, {sums});",
          .reads_packed_tile = true,
          .texts = {vector_text, packed_tile_text, add_residuals_text}};
}

/// Which of its rounds a block takes as number `its`.
Node define_round() {
  return define("round", index("first") + choose(less(index("its") + index("rotation"), index("rounds")),
                                                 index("its") + index("rotation"),
                                                 index("its") + index("rotation") - index("rounds")));
}

/// The lanes of a warp copy what their row tile has in the round of an iteration, where there is one.
Instruction stage_packed_tile() {
  const auto packed_tile = [](const char* array_name, const Affine& element) {
    return at(array_name, {name("round"), name("place"), element});
  };
  const auto copy = [](const char* array_name, const Affine& element) {
    return at(array_name, {name("stage"), name("copy"), element});
  };
  Access value_of = packed_tile("values", name("s"));
  Access copied_value = copy("staged_values", name("s"));
  value_of.subscripts.push_back({"", name("u")});
  copied_value.subscripts.push_back({"", name("u")});
  const Block slots{store(copy("staged_slots", name("s")), packed_tile("slots", name("s"))),
                    loop("u", name("row_tile_height"), {store(copied_value, value_of)})};
  const Block ends{store(copy("staged_residual_ends", name("p")), packed_tile("residual_ends", name("p")))};
  const Block residuals{store(copy("staged_residual_slots", name("x")), packed_tile("residual_slots", name("x"))),
                        store(copy("staged_residual_rows", name("x")), packed_tile("residual_rows", name("x"))),
                        store(copy("staged_residual_values", name("x")), packed_tile("residual_values", name("x")))};
  return {
      .name = "stage_packed_tile",
      .parameters = {array("slots"),
                     array("values"),
                     array("residual_ends"),
                     array("residual_slots"),
                     array("residual_rows"),
                     array("residual_values"),
                     array("staged_slots"),
                     array("staged_values"),
                     array("staged_residual_ends"),
                     array("staged_residual_slots"),
                     array("staged_residual_rows"),
                     array("staged_residual_values"),
                     value("first"),
                     value("rounds"),
                     value("rotation"),
                     value("iteration"),
                     value("stage"),
                     value("part"),
                     value("place"),
                     value("lane")},
      .meaning = {define("its", index("iteration") * index("iteration_k_tiles") + index("part")),
                  Node{Branch{
                      less(name("its"), name("rounds")),
                      {define_round(), define("copy", index("part") * index("block_row_tiles") + index("place")),
                       loop_of_lanes("s", name("packed_tile_slots"), slots), loop_of_lanes("p", name("row_sets"), ends),
                       loop_of_lanes("x", name("packed_tile_residuals"), residuals)},
                      {}}}},
      .call =
          "stage_packed_tile(shared_memory, packed, {first}, {rounds}, {rotation}, {iteration}, {stage}, {part}, "
          "{place});",
      .texts = {packed_tile_text, stage_packed_tile_text}};
}

/// Element k, j of B; what lies outside is zero.
Expression element_inside_b() {
  return choose(less(index("k"), index("height")),
                choose(less(index("j"), index("width")), at("b", {name("k"), name("j")}), 0.0), 0.0);
}

/// The threads of a consumer group copy the rows of B for its round of an iteration.
Instruction stage_k_tiles(const char* name_of, const char* function, std::string_view text) {
  const Block row{
      define("k", index("k_tile") * index("k_tile_columns") + index("r")),
      loop("c", name("tile_columns"),
           {define("j", index("tile") * index("tile_columns") + index("c")),
            store(at("staged_b", {name("stage"), name("part"), name("r"), name("c")}), element_inside_b())})};
  const Node rows{Loop{"r", Affine::of("thread"), Affine::of("k_tile_columns"), Affine::of("consumer_group_threads"),
                       Role::none, Mapping::sequential, row}};
  return {
      .name = name_of,
      .parameters = {array("b"), array("k_tiles"), array("staged_b"), value("first"), value("rounds"),
                     value("rotation"), value("iteration"), value("stage"), value("part"), value("tile"),
                     value("thread"), value("height"), value("width")},
      .meaning = {define("its", index("iteration") * index("iteration_k_tiles") + index("part")),
                  Node{Branch{less(name("its"), name("rounds")),
                              {define_round(), define("k_tile", at("k_tiles", {name("round")})), rows},
                              {}}}},
      .call = std::string(function) +
              "(shared_memory, packed, {b}, ldb, {first}, {rounds}, {rotation}, {iteration}, {stage}, {part}, {tile}, "
              "{thread}, {width});",
      .texts = {vector_text, packed_tile_text, k_tile_rows_text, text}};
}

/// What cannot go past the registers is `held` in them, and stored an iteration later.
Instruction stage_k_tiles() {
  Instruction result = stage_k_tiles("stage_k_tiles", "stage_k_tiles<vectors>", stage_k_tiles_text);
  result.parameters.insert(result.parameters.begin(), array("held"));
  result.call.insert(result.call.find("packed"), "{held}, ");
  return result;
}

Instruction store_held() {
  return ordering("store_held",
                  "store_held<vectors>(shared_memory, {held}, {rounds}, {iteration}, {stage}, {part}, {thread});",
                  {vector_text, packed_tile_text, k_tile_rows_text, stage_k_tiles_text, store_held_text},
                  {array("held"), value("rounds"), value("iteration"), value("stage"), value("part"), value("thread")});
}

/// The same where elements of B lie as a layout says.
Instruction stage_elements() { return stage_k_tiles("stage_elements", "stage_elements<vectors>", stage_elements_text); }

/// Or, where rows share elements of B, of what they share each once.
Instruction stage_patches() { return stage_k_tiles("stage_patches", "stage_patches", stage_patches_text); }

/// And where each column of B lies by itself, and so is in shared memory.
Instruction stage_columns() { return stage_k_tiles("stage_columns", "stage_columns", stage_columns_text); }

/// The same copy where one thread asks for all of it.
Instruction asked_for(Instruction copy, const char* name_of, const char* call, std::string_view text) {
  copy.name = name_of;
  copy.call = call;
  copy.texts.push_back(async_barriers_text);
  copy.texts.push_back(bulk_text);
  copy.texts.push_back(text);
  return copy;
}

Instruction copy_packed_tile() {
  return asked_for(
      stage_packed_tile(), "copy_packed_tile",
      "copy_packed_tile(shared_memory, packed, {first}, {rounds}, {rotation}, {iteration}, {stage}, {part}, {place});",
      copy_packed_tile_text);
}

Instruction copy_k_tiles() {
  return asked_for(stage_k_tiles(), "copy_k_tiles",
                   "copy_k_tiles<vectors, tuned>(shared_memory, {held}, packed, &boxes_of_B, {b}, ldb, {first}, "
                   "{rounds}, {rotation}, {iteration}, {stage}, {part}, {tile}, {thread}, {width});",
                   copy_k_tiles_text);
}

Instruction make_barriers() {
  return ordering("make_barriers", "make_barriers<vectors, tuned>(shared_memory, {thread});",
                  {packed_tile_text, async_barriers_text, bulk_text, make_barriers_text}, {value("thread")});
}

Instruction wait_for_operands() {
  return ordering("wait_for_operands", "wait_for_operands(shared_memory, {own_iteration}, {stage}, {part});",
                  {packed_tile_text, async_barriers_text, bulk_text, wait_for_operands_text},
                  {value("own_iteration"), value("stage"), value("part")});
}

}  // namespace

std::vector<Instruction> fragment_instructions() {
  return {find_rounds(),
          k_tile_at(),
          stage_packed_tile(),
          stage_k_tiles(),
          store_held(),
          stage_columns(),
          stage_elements(),
          stage_patches(),
          make_barriers(),
          copy_packed_tile(),
          copy_k_tiles(),
          wait_for_operands(),
          multiply_steps("multiply_split_steps", "multiply_split_steps",
                         {packed_tile_text, n8_range_text, load_values_text, float_step_text, terms_text,
                          multiply_split_steps_text}),
          multiply_steps("multiply_rounded_steps", "multiply_steps",
                         {packed_tile_text, n8_range_text, load_values_text, float_step_text, rounded_text,
                          multiply_rounded_step_text, multiply_steps_text}),
          multiply_steps("multiply_split_dense_steps", "multiply_split_steps",
                         {packed_tile_text, n8_range_text, load_values_text, dense_float_step_text, terms_text,
                          multiply_split_steps_text}),
          multiply_steps("multiply_rounded_dense_steps", "multiply_steps",
                         {packed_tile_text, n8_range_text, load_values_text, dense_float_step_text, rounded_text,
                          multiply_rounded_step_text, multiply_steps_text}),
          find_residuals(),
          add_residuals(),
          ordering("wait_for_stage", "__pipeline_wait_prior({ahead});", {}, {value("ahead")}),
          ordering("commit_copies", "__pipeline_commit();", {})};
}

}  // namespace esc

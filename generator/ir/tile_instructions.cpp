// SPDX-License-Identifier: Apache-2.0
#include "generator/ir/tile_instructions.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "generator/ir/instruction_parts.h"

namespace esc {

// Embedded by CMakeLists.txt from templates/instructions.
extern const std::string_view vector_text;
extern const std::string_view tile_text;
extern const std::string_view copy_piece_text;
extern const std::string_view copy_tile_rows_text;
extern const std::string_view copy_tile_columns_text;
extern const std::string_view load_b_text;
extern const std::string_view mma_text;
extern const std::string_view async_barriers_text;
extern const std::string_view bitmap_packed_tile_text;
extern const std::string_view tile_barriers_text;
extern const std::string_view uses_boxes_text;
extern const std::string_view tile_release_text;
extern const std::string_view packed_tile_release_text;
extern const std::string_view make_stage_barriers_text;
extern const std::string_view copy_tile_box_text;
extern const std::string_view wait_for_tile_text;
extern const std::string_view warpgroup_text;
extern const std::string_view warpgroup_order_text;
extern const std::string_view wgmma_text;
extern const std::string_view narrow_pair_text;
extern const std::string_view takes_four_text;
extern const std::string_view tile_halves_text;
extern const std::string_view store_tile_text;
extern const std::string_view store_tile_columns_text;

namespace {

using namespace instruction_parts;

/// Element k, j of what is given of B; what lies outside is zero.
Expression element_inside() {
  return choose(less(index("k"), index("height")),
                choose(less(index("j"), index("width")), at("b", {name("k"), name("j")}), 0.0), 0.0);
}

/// What a lane has for a parameter, where a warp performs the instruction together.
Node of_lane(const char* variable, const char* parameter) { return define(variable, at(parameter, {name("lane")})); }

/// A tile's vectors, which threads take in turn.
Instruction copy_tile(const char* name_of, const char* function, std::vector<std::string_view> texts) {
  const Block each{
      define("r", remainder(index("vector"), index("column_vectors")) * index("vector_width") + index("v")),
      define("c", quotient(index("vector"), index("column_vectors"))), define("k", index("first_row") + index("r")),
      define("j", index("tile") * index("tile_columns") + index("c")),
      store(at("to", {name("stage"), name("part"), name("r"), name("c")}), element_inside())};
  return {.name = name_of,
          .parameters = {array("b"), array("to"), value("first_row"), value("stage"), value("part"), value("tile"),
                         value("thread"), value("height"), value("width")},
          .meaning = {define("column_vectors", quotient(index("tile_rows"), index("vector_width"))),
                      define("count", index("column_vectors") * index("tile_columns")),
                      Node{Loop{"vector",
                                name("thread"),
                                name("count"),
                                name("consumer_group_threads"),
                                Role::none,
                                Mapping::sequential,
                                {loop("v", name("vector_width"), each)}}}},
          .call = std::string(function) +
                  "(tile_at(shared_memory, {stage}, {part}), {b}, ldb, {first_row}, {tile}, {thread}, {width});",
          .texts = std::move(texts)};
}

Instruction copy_tile_rows() {
  return copy_tile("copy_tile_rows", "copy_tile_rows<vectors>",
                   {vector_text, copy_piece_text, tile_text, copy_tile_rows_text});
}

/// The same by tensor copies that the first thread asks for, where B allows it.
Instruction copy_tile_box() {
  Instruction result =
      copy_tile("copy_tile_box", "",
                {async_barriers_text, bitmap_packed_tile_text, tile_text, tile_barriers_text, copy_tile_box_text});
  auto& vectors = std::get<Loop>(result.meaning.back().content);
  vectors.lower = 0;
  vectors.step = 1;
  result.meaning.back() = Node{Branch{less(index("thread"), 1), {result.meaning.back()}, {}}};
  result.call = "copy_tile_box(shared_memory, &boxes_of_B, {first_row}, {stage}, {part}, {tile}, {thread});";
  return result;
}

Instruction copy_tile_columns() {
  return copy_tile("copy_tile_columns", "copy_tile_columns",
                   {vector_text, copy_piece_text, tile_text, copy_tile_columns_text});
}

Instruction load_b() {
  const Block each{define("k", index("first_row") + index("row") + index("q") * 16 + index("r") * 8 +
                                   remainder(index("lane"), 4) * 2 + index("v")),
                   define("j", index("first_column") + index("n8_tile") * 8 + quotient(index("lane"), 4)),
                   store(at("to", {name("q"), name("r"), name("v")}), element_inside())};
  return {.name = "load_b",
          .parameters = {array("b"), value("first_row"), value("row"), value("first_column"), value("n8_tile"),
                         value("height"), value("width"), value("stage"), value("part"), value("lane"), array("to")},
          .meaning = {loop("q", 2, {loop("r", 2, {loop("v", 2, each)})})},
          .call = "load_b(tile_at(shared_memory, {stage}, {part}), {row}, {n8_tile}, {lane}, {to});",
          .texts = {tile_text, load_b_text}};
}

/// Row i and column j of the product are register 2 * (i / 8) + j % 2 of lane 4 * (i % 8) + j / 2.
Instruction mma() {
  const Block product_of_k{
      define("half", quotient(index("k"), 8)),
      define("a_lane", quotient(index("lane"), 4) * 4 + quotient(remainder(index("k"), 8), 2)),
      define("a_register", index("upper") + index("half") * 2),
      define("b_lane", (remainder(index("lane"), 4) * 2 + index("side")) * 4 + quotient(remainder(index("k"), 8), 2)),
      define("v", remainder(index("k"), 2)),
      add(at("sums", {name("lane"), name("sum")}), product({at("a", {name("a_lane"), name("a_register"), name("v")}),
                                                            at("b", {name("b_lane"), name("half"), name("v")})}))};
  const Block each{define("sum", index("upper") * 2 + index("side")), loop("k", 16, product_of_k)};
  return {.name = "mma",
          .scope = Scope::warp,
          .parameters = {{"sums", Passing::pointer, {4}}, array("a"), array("b")},
          .meaning = {loop("lane", 32, {loop("upper", 2, {loop("side", 2, each)})})},
          .call = "mma({sums}, {a}, {b});",
          .texts = {mma_text}};
}

/// The product of 16 columns of A, of which a warp has 16 rows, and all columns of a tile of B. It is what mma makes of
/// 8 columns at a time.
Instruction wgmma() {
  const Block product_of_k{
      define("v", remainder(index("k"), 2)),
      define("a_lane", quotient(index("lane"), 4) * 4 + quotient(remainder(index("k"), 8), 2)),
      define("a_register", index("upper") + quotient(index("k"), 8) * 2), define("row", index("from_row") + index("k")),
      add(at("sums", {name("lane"), name("sum")}),
          product({at("a", {name("a_lane"), name("a_register"), name("v")}), at("b", {name("row"), name("j")})}),
          {less(index("row"), index("rows")), less(index("j"), index("columns"))})};
  const Block each{
      define("sum", index("n8_tile") * 4 + index("upper") * 2 + index("side")),
      define("j", index("from_column") + index("n8_tile") * 8 + remainder(index("lane"), 4) * 2 + index("side")),
      loop("k", 16, product_of_k)};
  const Block per_lane{of_lane("from_row", "first_row"), of_lane("from_column", "first_column"),
                       of_lane("rows", "height"), of_lane("columns", "width"),
                       loop("n8_tile", name("n8_tiles"), {loop("upper", 2, {loop("side", 2, each)})})};
  return {.name = "wgmma",
          .scope = Scope::warp,
          .parameters = {array("sums"), array("a"), array("b"), value("first_row"), value("first_column"),
                         value("height"), value("width"), value("stage"), value("part"), value("lane_of_caller")},
          .meaning = {loop("lane", 32, per_lane)},
          .call = "wgmma({sums}, {a}, tile_at(shared_memory, {stage}, {part}), {first_row}, {lane_of_caller});",
          .texts = {tile_text, load_b_text, mma_text, warpgroup_text, wgmma_text}};
}

/// Whether tiles of C, these rows and columns, can be stored so that each lane has several elements. It makes no
/// difference for the values.
Instruction takes_tiles() {
  return {.name = "takes_tiles",
          .parameters = {array("to"), value("rows_behind"), value("columns_behind"), value("height"), value("width")},
          .results = {"whole"},
          .meaning = {define("whole", 1)},
          .call = "takes_four({to}, {leading_dimension}) && {columns_behind} <= {width}",
          .texts = {vector_text, takes_four_text, tile_halves_text},
          .placed_call = "takes_four({to}, {leading_dimension}) && {rows_behind} <= {height}",
          .placed_texts = {vector_text, takes_four_text, tile_halves_text}};
}

/// The 16 x 16 elements of C whose sums two of mma leave with the lanes, as far as C has them.
Instruction store_tile() {
  const Block each{
      define("i", index("row") + index("half") * 8 + quotient(index("lane"), 4)),
      define("j", index("column") + index("n8_tile") * 8 + remainder(index("lane"), 4) * 2 + index("side")),
      store(at("to", {name("i"), name("j")}),
            at("sums", {name("lane"), Affine::of("n8_tile", 4) + Affine::of("half", 2) + name("side")}),
            {less(index("i"), index("rows")), less(index("j"), index("columns"))})};
  const Block per_lane{of_lane("row", "first_row"), of_lane("column", "first_column"), of_lane("rows", "height"),
                       of_lane("columns", "width"), loop("n8_tile", 2, {loop("half", 2, {loop("side", 2, each)})})};
  return {.name = "store_tile",
          .scope = Scope::warp,
          .parameters = {array("to"),
                         value("first_row"),
                         value("first_column"),
                         value("height"),
                         value("width"),
                         value("lane_of_caller"),
                         {"sums", Passing::pointer, {8}}},
          .meaning = {loop("lane", 32, per_lane)},
          .call =
              "store_tile({to}, {leading_dimension}, {first_row}, {first_column}, {height}, {width}, {lane_of_caller}, "
              "{sums});",
          .texts = {vector_text, narrow_pair_text, takes_four_text, tile_halves_text, store_tile_text},
          .placed_call =
              "store_tile_columns({to}, {leading_dimension}, {first_row}, {first_column}, {height}, {width}, "
              "{lane_of_caller}, {sums});",
          .placed_texts = {vector_text, narrow_pair_text, takes_four_text, tile_halves_text, store_tile_columns_text}};
}

/// Whether B allows that, by where it is alone. It makes no difference for the values.
Instruction uses_boxes() {
  return {.name = "uses_boxes",
          .parameters = {},
          .results = {"boxed"},
          .meaning = {define("boxed", 1)},
          .call = "uses_boxes(B, ldb)",
          .texts = {async_barriers_text, bitmap_packed_tile_text, uses_boxes_text}};
}

/// The barriers of all stages, by the first thread of a block.
Instruction make_stage_barriers() {
  return ordering("make_stage_barriers", "make_stage_barriers(shared_memory, {thread});",
                  {async_barriers_text, bitmap_packed_tile_text, tile_barriers_text, tile_release_text,
                   packed_tile_release_text, make_stage_barriers_text},
                  {value("thread")});
}

/// A producer waits until a stage may be filled again; a warp says so after the last product that reads it.
Instruction of_release(const char* name_of, const char* call, std::vector<Instruction::Parameter> parameters) {
  return ordering(name_of, call, {async_barriers_text, bitmap_packed_tile_text, tile_barriers_text, tile_release_text},
                  std::move(parameters));
}

Instruction wait_for_tile() {
  return ordering("wait_for_tile", "wait_for_tile(shared_memory, {number}, {stage}, {part});",
                  {async_barriers_text, bitmap_packed_tile_text, tile_barriers_text, wait_for_tile_text},
                  {value("number"), value("stage"), value("part")});
}

/// What orders products of warpgroups.
Instruction of_warpgroup(const char* name_of, const char* call, std::vector<Instruction::Parameter> parameters) {
  return ordering(name_of, call, {warpgroup_text, warpgroup_order_text}, std::move(parameters));
}

}  // namespace

std::vector<Instruction> tile_instructions() {
  return {copy_tile_rows(),
          copy_tile_columns(),
          uses_boxes(),
          make_stage_barriers(),
          copy_tile_box(),
          wait_for_tile(),
          of_release("wait_for_tile_release", "wait_for_tile_release(shared_memory, {number}, {stage}, {part});",
                     {value("number"), value("stage"), value("part")}),
          of_release("release_tile", "release_tile(shared_memory, {stage}, {part}, {lane});",
                     {value("stage"), value("part"), value("lane")}),
          load_b(),
          mma(),
          takes_tiles(),
          store_tile(),
          of_warpgroup("fence_proxy_async", "fence_proxy_async();", {}),
          of_warpgroup("warpgroup_arrive", "warpgroup_arrive();", {}),
          wgmma(),
          of_warpgroup("warpgroup_commit", "warpgroup_commit();", {}),
          of_warpgroup("warpgroup_wait", "warpgroup_wait<{pending}>();", {value("pending")}),
          of_warpgroup("warpgroup_wait_all", "warpgroup_wait_all({sums});", {array("sums")})};
}

}  // namespace esc

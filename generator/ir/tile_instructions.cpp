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
extern const std::string_view warpgroup_text;
extern const std::string_view warpgroup_order_text;
extern const std::string_view wgmma_text;

namespace {

using namespace instruction_parts;

/// Element k, j of what is given of B; what lies outside is zero.
Expression element_inside() {
  return choose(less(index("k"), index("height")),
                choose(less(index("j"), index("width")), at("b", {name("k"), name("j")}), 0.0), 0.0);
}

/// The same copy whoever deals it to the threads.
Instruction copy_tile(const char* name_of, const char* function, std::vector<std::string_view> texts) {
  const Block each{define("r", remainder(index("vector"), index("column_vectors")) * index("vector_width") + index("v")),
                   define("c", quotient(index("vector"), index("column_vectors"))),
                   define("k", index("first_row") + index("r")),
                   define("j", index("tile") * index("tile_columns") + index("c")),
                   store(at("to", {name("stage"), name("part"), name("r"), name("c")}), element_inside())};
  return {.name = name_of,
          .parameters = {array("b"), array("to"), value("first_row"), value("stage"), value("part"), value("tile"),
                         value("thread"), value("height"), value("width")},
          .meaning = {define("column_vectors", quotient(index("tile_rows"), index("vector_width"))),
                      define("count", index("column_vectors") * index("tile_columns")),
                      Node{Loop{"vector", name("thread"), name("count"), name("team_threads"), Role::none,
                                Mapping::sequential, {loop("v", name("vector_width"), each)}}}},
          .call = std::string(function) +
                  "(tile_at(shared_memory, {stage}, {part}), {b}, ldb, {first_row}, {tile}, {thread}, {width});",
          .texts = std::move(texts)};
}

Instruction copy_tile_rows() {
  return copy_tile("copy_tile_rows", "copy_tile_rows<vectors>", {vector_text, copy_piece_text, tile_text, copy_tile_rows_text});
}

Instruction copy_tile_columns() {
  return copy_tile("copy_tile_columns", "copy_tile_columns", {vector_text, copy_piece_text, tile_text, copy_tile_columns_text});
}

Instruction load_b() {
  const Block each{define("k", index("first_row") + index("row") + index("q") * 16 + index("r") * 8 +
                                   remainder(index("lane"), 4) * 2 + index("v")),
                   define("j", index("first_column") + index("eighth") * 8 + quotient(index("lane"), 4)),
                   store(at("to", {name("q"), name("r"), name("v")}), element_inside())};
  return {.name = "load_b",
          .parameters = {array("b"), value("first_row"), value("row"), value("first_column"), value("eighth"), value("height"),
                         value("width"), value("stage"), value("part"), value("lane"), array("to")},
          .meaning = {loop("q", 2, {loop("r", 2, {loop("v", 2, each)})})},
          .call = "load_b(tile_at(shared_memory, {stage}, {part}), {row}, {eighth}, {lane}, {to});",
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

/// The product of a K block of A, 16 x 64, and all columns of a tile of B. Of each warp it is what mma makes of 16 rows and 8 columns at a time.
Instruction wgmma() {
  const Block product_of_k{
      define("v", remainder(index("k"), 2)),
      define("a_lane", quotient(index("lane"), 4) * 4 + quotient(remainder(index("k"), 8), 2)),
      define("a_tile", quotient(index("k"), 16)),
      define("a_register", index("upper") + remainder(quotient(index("k"), 8), 2) * 2),
      define("row", index("from_row") + index("k")),
      add(at("sums", {name("lane"), name("sum")}),
          product({at("a", {name("a_lane"), name("a_tile"), name("a_register"), name("v")}), at("b", {name("row"), name("j")})}),
          {less(index("row"), index("rows")), less(index("j"), index("columns"))})};
  const Block each{define("sum", index("eighth") * 4 + index("upper") * 2 + index("side")),
                   define("j", index("from_column") + index("eighth") * 8 + remainder(index("lane"), 4) * 2 + index("side")),
                   loop("k", 64, product_of_k)};
  const auto of_lane = [](const char* variable, const char* parameter) { return define(variable, at(parameter, {name("lane")})); };
  const Block per_lane{of_lane("from_row", "first_row"), of_lane("from_column", "first_column"), of_lane("rows", "height"), of_lane("columns", "width"),
                       loop("eighth", name("column_eighths"), {loop("upper", 2, {loop("side", 2, each)})})};
  return {.name = "wgmma",
          .scope = Scope::warp,
          .parameters = {array("sums"), array("a"), array("b"), value("first_row"), value("first_column"), value("height"), value("width"),
                         value("stage"), value("part"), value("lane_of_caller")},
          .meaning = {loop("lane", 32, per_lane)},
          .call = "wgmma({sums}, {a}, tile_at(shared_memory, {stage}, {part}), {lane_of_caller});",
          .texts = {tile_text, load_b_text, mma_text, warpgroup_text, wgmma_text}};
}

/// What orders products of warpgroups.
Instruction of_warpgroup(const char* name_of, const char* call, std::vector<Instruction::Parameter> parameters) {
  Instruction result = ordering(name_of, call, {warpgroup_text, warpgroup_order_text});
  result.parameters = std::move(parameters);
  return result;
}

}  // namespace

std::vector<Instruction> tile_instructions() {
  return {copy_tile_rows(),
          copy_tile_columns(),
          load_b(),
          mma(),
          of_warpgroup("fence_proxy_async", "fence_proxy_async();", {}),
          of_warpgroup("warpgroup_arrive", "warpgroup_arrive();", {}),
          wgmma(),
          of_warpgroup("warpgroup_commit", "warpgroup_commit();", {}),
          of_warpgroup("warpgroup_wait", "warpgroup_wait<{pending}>();", {value("pending")}),
          of_warpgroup("warpgroup_wait_all", "warpgroup_wait_all({sums});", {array("sums")})};
}

}  // namespace esc

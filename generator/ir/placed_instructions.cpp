// SPDX-License-Identifier: Apache-2.0
#include "generator/ir/placed_instructions.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "generator/ir/instruction_parts.h"

namespace esc {

// Embedded by CMakeLists.txt from templates/instructions.
extern const std::string_view registers_text;
extern const std::string_view vector_text;
extern const std::string_view packed_tile_text;
extern const std::string_view split_floats_text;
extern const std::string_view rounded_text;
extern const std::string_view placed_text;
extern const std::string_view warpgroup_text;
extern const std::string_view place_split_values_text;
extern const std::string_view place_rounded_values_text;
extern const std::string_view place_values_text;
extern const std::string_view tile_products_text;
extern const std::string_view multiply_split_placed_text;
extern const std::string_view multiply_rounded_placed_text;

namespace {

using namespace instruction_parts;

/// What a row tile has in a K tile, in 8 rows and 16 columns at a time, which the warps that have the row tile take in
/// iteration, each lane some columns.
Instruction place_values(const char* name_of, std::vector<std::string_view> texts) {
  const Block each{define("slot", quotient(index("region"), index("row_regions")) * 16 + index("s")),
                   define("row", remainder(index("region"), index("row_regions")) * 8 + index("r")),
                   store(at("placed", {name("slot"), name("row_tile_row") + name("row")}),
                         at("values", {name("slot"), name("row")}))};
  const Node rows{Loop{"r", Affine::of("first_row"), 8, 2, Role::none, Mapping::sequential, each}};
  const Node regions{Loop{"region",
                          Affine::of("member"),
                          Affine::of("regions"),
                          Affine::of("placing_warps"),
                          Role::none,
                          Mapping::sequential,
                          {rows}}};
  return {
      .name = name_of,
      .parameters = {array("values"), array("placed"), value("row_tile"), value("member"), value("lane"),
                     value("stage"), value("buffer"), value("part")},
      .meaning = {define("row_regions", quotient(index("row_tile_height"), 8)),
                  define("regions", index("row_regions") * quotient(index("k_tile_columns"), 16)),
                  define("row_tile_row", index("row_tile") * index("row_tile_height")),
                  define("s", remainder(index("lane"), 16)), define("first_row", quotient(index("lane"), 16)), regions},
      .call =
          "place_values(packed_tile_copy(shared_memory, {stage}, {part} * block_row_tiles + {row_tile}), "
          "placed_for_consumer_group(shared_memory, {buffer}, {part}), {row_tile}, {member}, thread % 32);",
      .reads_packed_tile = true,
      .texts = std::move(texts)};
}

/// The products of a K tile, in the columns of a warp: for pair `e` of a lane's sums both of its columns, as far as
/// they are there. The last K tile ends with the rows of B.
Instruction multiply_placed(const char* name_of, const char* packed_tiles, std::vector<std::string_view> texts) {
  const Node column =
      loop("v", 2,
           {define("j", index("first_column") + index("warp") * index("warp_columns") + index("column_pair") * 2 +
                            index("v")),
            define("sum", index("e") * 2 + index("v")),
            Node{Branch{less(name("j"), name("columns")),
                        {add(at("sums", {name("sum")}),
                             product({at("placed", {name("slot"), name("row")}), at("b", {name("k"), name("j")})}))},
                        {}}}});
  const Node rows =
      loop("e", name("row_vectors"),
           {define("row", quotient(index("e"), 2) * 8 + index("row_pair") * 2 + remainder(index("e"), 2)), column});
  return {.name = name_of,
          .parameters = {array("placed"), array("b"), value("origin"), value("height"), value("first_column"),
                         value("columns"), value("warp"), value("row_pair"), value("column_pair"), array("sums"),
                         value("stage"), value("k_tile_stage"), value("buffer"), value("part")},
          .meaning = {loop("slot", name("k_tile_columns"),
                           {define("k", index("slot") + index("origin")),
                            Node{Branch{less(name("k"), name("height")), {rows}, {}}}})},
          .call = fmt::format(
              "{}(placed_for_consumer_group(shared_memory, {{buffer}}, {{part}}), {}k_tile_copy(shared_memory, "
              "{{k_tile_stage}}, {{part}}), {{warp}}, thread % 32, {{sums}});",
              name_of, packed_tiles),
          .reads_packed_tile = true,
          .texts = std::move(texts)};
}

}  // namespace

std::vector<Instruction> placed_instructions() {
  return {
      ordering("take_registers", "take_registers<{registers}>();", {registers_text}, {value("registers")}),
      ordering("leave_registers", "leave_registers<{registers}>();", {registers_text}, {value("registers")}),
      place_values("place_split_values", {vector_text, packed_tile_text, placed_text, warpgroup_text, split_floats_text,
                                          place_split_values_text, place_values_text}),
      place_values("place_rounded_values", {vector_text, packed_tile_text, placed_text, warpgroup_text,
                                            place_rounded_values_text, place_values_text}),
      multiply_placed("multiply_split_placed", "packed_tile_copy(shared_memory, {stage}, {part} * block_row_tiles), ",
                      {vector_text, packed_tile_text, placed_text, warpgroup_text, split_floats_text,
                       tile_products_text, multiply_split_placed_text}),
      multiply_placed("multiply_rounded_placed", "",
                      {vector_text, packed_tile_text, placed_text, warpgroup_text, rounded_text, tile_products_text,
                       multiply_rounded_placed_text})};
}

}  // namespace esc

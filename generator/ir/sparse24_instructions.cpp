// SPDX-License-Identifier: Apache-2.0
#include "generator/ir/sparse24_instructions.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "generator/ir/instruction_parts.h"

namespace esc {

// Embedded by CMakeLists.txt from templates/instructions.
extern const std::string_view async_barriers_text;
extern const std::string_view bitmap_packed_tile_text;
extern const std::string_view bytes_of_packed_tile_text;
extern const std::string_view cache_policies_text;
extern const std::string_view copy_bitmap_packed_tile_text;
extern const std::string_view issue_packed_tile_text;
extern const std::string_view load_sparse_a_text;
extern const std::string_view mma_sp_text;
extern const std::string_view place_packed_tile_text;
extern const std::string_view store_sparse_a_text;
extern const std::string_view store_sparse_words_text;
extern const std::string_view stored_places_text;
extern const std::string_view takes_four_text;
extern const std::string_view vector_text;

namespace {

using namespace instruction_parts;

constexpr int block_groups = 2;  ///< of 32 columns in a K block
constexpr int registers = 4;     ///< of a lane in a group
constexpr int group_fours = 8;   ///< neighbours in a row of a group, of which two are stored

Instruction place_packed_tile() {
  const auto begin = [](int behind) {
    return store(at("packed_tile", {behind}), (index("number") + behind) * index("packed_tile_pieces"));
  };
  return {.name = "place_packed_tile",
          .parameters = {value("number"), array("packed_tile")},
          .meaning = {begin(0), begin(1)},
          .call = "place_packed_tile({number}, {packed_tile});",
          .texts = {place_packed_tile_text}};
}

Instruction copy_sparse24_packed_tile() {
  const auto copy = [](const std::string& array_name, const std::vector<Affine>& places) {
    std::vector<Affine> from{name("row_tile"), name("k_tile")};
    std::vector<Affine> to{name("stage"), name("copy")};
    from.insert(from.end(), places.begin(), places.end());
    to.insert(to.end(), places.begin(), places.end());
    return store(at("staged_" + array_name, to), at(array_name, from));
  };
  const Node value_of = copy("values", {name("block"), name("group"), name("lane"), name("r"), name("v")});
  return {.name = "copy_sparse24_packed_tile",
          .parameters = {array("metadata"), array("values"), array("staged_metadata"), array("staged_values"),
                         array("packed_tile"), value("row_tile"), value("k_tile"), value("stage"), value("copy"),
                         value("lane")},
          .meaning = {loop("block", name("packed_tile_blocks"),
                           {copy("metadata", {name("block"), name("lane")}),
                            loop("group", block_groups, {loop("r", registers, {loop("v", 2, {value_of})})})})},
          .call = "copy_bitmap_packed_tile(shared_memory, packed, packed_tile_room, {packed_tile}, {stage}, {copy});",
          .texts = {async_barriers_text, bitmap_packed_tile_text, cache_policies_text, bytes_of_packed_tile_text,
                    issue_packed_tile_text, copy_bitmap_packed_tile_text}};
}

/// Where the copy of a warp's packed tile is.
constexpr const char* copied_packed_tile = "packed_tile_at(shared_memory, packed_tile_room, {stage}, {copy})";

Instruction load_sparse_a() {
  const Access from = at("values", {name("block"), name("group"), name("lane"), name("r"), name("v")});
  return {.name = "load_sparse_a",
          .parameters = {array("values"), value("block"), value("group"), value("stage"), value("copy"), value("lane"),
                         array("to")},
          .meaning = {loop("r", registers, {loop("v", 2, {store(at("to", {name("r"), name("v")}), from)})})},
          .call = std::string("load_sparse_a(") + copied_packed_tile + ", {block}, {group}, {lane}, {to});",
          .texts = {bitmap_packed_tile_text, load_sparse_a_text}};
}

/// Bits of the metadata of the first or the second element that is stored of four.
Expression place_in_four(const Expression& bits, int number) {
  return remainder(number == 0 ? bits : quotient(bits, 4), 4);
}

/// What a row of the upper or the lower half of a tile of A has of four columns adds to the sum of a lane.
Node products_of_four(int upper, int four) {
  const std::int64_t shifted = std::int64_t{1} << (16 * upper + 4 * (four % 4));
  Block products{define("a_lane", quotient(index("lane"), 4) * 4 + four % 4),
                 define("owner", quotient(index("lane"), 4) * 4 + at("group", {name("lane")}) * 2 + four / 4),
                 define("places", remainder(quotient(at("metadata", {name("owner")}), shifted), 16))};
  for (int number = 0; number < 2; ++number) {
    const std::string row = "row" + std::to_string(number);
    products.push_back(define(row, place_in_four(index("places"), number) + 4 * four));
    const Access b = at("b", {name(row + "_lane"), name(row + "_tile"), name(row + "_half"), name(row + "_part")});
    append(products, {define(row + "_lane", (remainder(index("lane"), 4) * 2 + index("side")) * 4 +
                                                quotient(remainder(index(row), 8), 2)),
                      define(row + "_tile", quotient(index(row), 16)),
                      define(row + "_half", remainder(quotient(index(row), 8), 2)),
                      define(row + "_part", remainder(index(row), 2)),
                      add(at("sums", {name("lane"), name("side") + 2 * upper}),
                          product({at("a", {name("a_lane"), upper + four / 4 * 2, number}), b}))});
  }
  return loop("side", 2, std::move(products));
}

/// Row i and column j of the product are register 2 * (i / 8) + j % 2 of lane 4 * (i % 8) + j / 2.
Instruction mma_sp() {
  Block of_lane;
  for (int upper = 0; upper < 2; ++upper) {
    for (int four = 0; four < group_fours; ++four) {
      of_lane.push_back(products_of_four(upper, four));
    }
  }
  return {.name = "mma_sp",
          .scope = Scope::warp,
          .parameters = {{"sums", Passing::pointer, {4}}, array("a"), array("b"), value("metadata"), value("group")},
          .meaning = {loop("lane", 32, std::move(of_lane))},
          .call = "mma_sp({sums}, {a}, {b}, {metadata}, {group});",
          .texts = {mma_sp_text}};
}

/// Of register r the row and the first of its four columns, and which two of these are stored.
Block place_of_register() {
  const Expression quarter = remainder(index("lane"), 4);
  const Expression scale =
      choose(less(quarter, 2), choose(equals(quarter, 0), 1, 1 << 4), choose(equals(quarter, 2), 1 << 8, 1 << 12));
  const Access word = at("metadata", {name("block"), name("owner")});
  return {
      define("row", index("first_row") + remainder(index("r"), 2) * 8 + quotient(index("lane"), 4)),
      define("column", index("first_column") + (quotient(index("r"), 2) * 4 + quarter) * 4),
      define("owner", quotient(index("lane"), 4) * 4 + index("group") * 2 + quotient(index("r"), 2)),
      define("places", remainder(quotient(word, scale * choose(equals(remainder(index("r"), 2), 0), 1, 1 << 16)), 16)),
      define("first", place_in_four(index("places"), 0)),
      define("second", place_in_four(index("places"), 1))};
}

/// What both of the following are told of a tile.
std::vector<Instruction::Parameter> places_of_tile() {
  return {value("first_row"), value("first_column"), value("height"), value("width"), array("metadata"),
          value("block"),     value("group"),        value("stage"),  value("copy"),  value("lane")};
}

/// The elements of a 16 x 32 tile, as far as A has them.
Instruction store_sparse_a() {
  const Expression stored = choose(equals(index("e"), index("first")), at("from", {name("r"), 0}),
                                   choose(equals(index("e"), index("second")), at("from", {name("r"), 1}), 0.0));
  Block each = place_of_register();
  each.push_back(loop("e", 4,
                      {define("k", index("column") + index("e")),
                       store(at("to", {name("row"), name("k")}), stored,
                             {less(index("row"), index("height")), less(index("k"), index("width"))})}));
  std::vector<Instruction::Parameter> parameters = places_of_tile();
  parameters.insert(parameters.begin(), array("to"));
  parameters.push_back(array("from"));
  return {.name = "store_sparse_a",
          .parameters = std::move(parameters),
          .meaning = {loop("r", registers, std::move(each))},
          .call = std::string("store_sparse_a({to}, {leading_dimension}, {first_row}, {first_column}, {height}, "
                              "{width}, ") +
                  copied_packed_tile + ", {block}, {group}, {lane}, {from});",
          .texts = {bitmap_packed_tile_text, vector_text, takes_four_text, stored_places_text, store_sparse_a_text}};
}

/// What A has at the places that are stored of it, each to its register in the packed matrix.
Instruction store_sparse_words() {
  Block each = place_of_register();
  for (int number = 0; number < 2; ++number) {
    const std::string k = "k" + std::to_string(number);
    const Expression found =
        choose(less(index("row"), index("height")),
               choose(less(index(k), index("width")), at("from", {name("row"), name(k)}), 0.0), 0.0);
    append(each, {define(k, index("column") + index(number == 0 ? "first" : "second")),
                  store(at("values", {name("block"), name("group"), name("lane"), name("r"), number}), found)});
  }
  std::vector<Instruction::Parameter> parameters = places_of_tile();
  parameters.insert(parameters.begin(), {array("from"), array("values")});
  parameters.push_back(array("packed_tile"));
  return {.name = "store_sparse_words",
          .parameters = std::move(parameters),
          .meaning = {loop("r", registers, std::move(each))},
          .call = std::string("store_sparse_words({from}, {leading_dimension}, {first_row}, {first_column}, {height}, "
                              "{width}, ") +
                  copied_packed_tile + ", {block}, {group}, {lane}, packed, {packed_tile});",
          .texts = {bitmap_packed_tile_text, bytes_of_packed_tile_text, stored_places_text, store_sparse_words_text}};
}

}  // namespace

std::vector<Instruction> sparse24_instructions() {
  return {place_packed_tile(), copy_sparse24_packed_tile(), load_sparse_a(), mma_sp(),
          store_sparse_a(),    store_sparse_words()};
}

}  // namespace esc

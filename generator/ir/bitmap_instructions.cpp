// SPDX-License-Identifier: Apache-2.0
#include "generator/ir/bitmap_instructions.h"

#include <string>
#include <string_view>
#include <utility>

#include "generator/ir/instruction_parts.h"

namespace esc {

// Embedded by CMakeLists.txt from templates/instructions.
extern const std::string_view async_barriers_text;
extern const std::string_view bitmap_packed_tile_text;
extern const std::string_view bytes_of_packed_tile_text;
extern const std::string_view cache_policies_text;
extern const std::string_view find_packed_tile_text;
extern const std::string_view make_packed_tile_barriers_text;
extern const std::string_view issue_packed_tile_text;
extern const std::string_view copy_bitmap_packed_tile_text;
extern const std::string_view tile_barriers_text;
extern const std::string_view tile_release_text;
extern const std::string_view packed_tile_release_text;
extern const std::string_view wait_for_packed_tile_text;
extern const std::string_view find_words_text;
extern const std::string_view load_bits_text;
extern const std::string_view find_places_text;
extern const std::string_view load_a_text;
extern const std::string_view store_a_text;
extern const std::string_view vector_text;
extern const std::string_view takes_four_text;
extern const std::string_view tile_halves_text;
extern const std::string_view store_words_text;

namespace {

using namespace instruction_parts;

constexpr int block_registers = 16;  ///< of a lane in a K block
constexpr int first_only = 1;        ///< codes of a register
constexpr int both = 2;
constexpr int second_only = 3;

// Of a register its code, the row of its word from where the block's words begin, and which half of it.
constexpr int place_parts = 3;

Expression has(const Expression& left, int right) { return Expression(Operation{Operator::equals, {left, right}}); }

Instruction find_packed_tile() {
  const auto begin = [](int behind) {
    return store(at("packed_tile", {behind}), at("begins", {name("number") + behind}));
  };
  return {.name = "find_packed_tile",
          .parameters = {array("begins"), value("number"), array("packed_tile")},
          .meaning = {begin(0), begin(1)},
          .call = "find_packed_tile(packed, {number}, {packed_tile});",
          .texts = {find_packed_tile_text, bytes_of_packed_tile_text}};
}

Instruction make_packed_tile_barriers() {
  return ordering("make_packed_tile_barriers", "make_packed_tile_barriers(shared_memory, {copy}, {lane});",
                  {async_barriers_text, bitmap_packed_tile_text, make_packed_tile_barriers_text},
                  {value("copy"), value("lane")});
}

Instruction copy_bitmap_packed_tile() {
  const auto from = [](const char* array_name, const Affine& place) {
    return at(array_name, {name("row_tile"), name("k_tile"), place, name("lane")});
  };
  const auto to = [](const char* array_name, const Affine& place) {
    return at(array_name, {name("stage"), name("copy"), place, name("lane")});
  };
  Access word = from("values", name("w"));
  Access copied = to("staged_values", name("w"));
  word.subscripts.push_back({"", name("v")});
  copied.subscripts.push_back({"", name("v")});
  const Block words{loop("w", name("count"), {loop("v", 2, {store(copied, word)})})};
  const Node count_once{
      Branch{less(index("lane"), 1), {store(at("staged_words", {name("stage"), name("copy")}), index("count"))}, {}}};
  return {
      .name = "copy_bitmap_packed_tile",
      .parameters = {array("words"), array("odd_columns"), array("bits"), array("values"), array("staged_words"),
                     array("staged_odd_columns"), array("staged_bits"), array("staged_values"), array("packed_tile"),
                     value("row_tile"), value("k_tile"), value("stage"), value("copy"), value("lane")},
      .meaning = {define("count", at("words", {name("row_tile"), name("k_tile")})), count_once,
                  store(at("staged_odd_columns", {name("stage"), name("copy"), name("lane")}),
                        at("odd_columns", {name("row_tile"), name("k_tile"), name("lane")})),
                  loop("block", name("packed_tile_blocks"),
                       {store(to("staged_bits", name("block")), from("bits", name("block")))}),
                  words.front()},
      .call = "copy_bitmap_packed_tile(shared_memory, packed, packed_tile_room, {packed_tile}, {stage}, {copy});",
      .texts = {async_barriers_text, bitmap_packed_tile_text, cache_policies_text, bytes_of_packed_tile_text,
                issue_packed_tile_text, copy_bitmap_packed_tile_text}};
}

/// The same of all lanes, by one thread. Only where an engine copies in bulk.
Instruction issue_packed_tile() {
  Instruction result = copy_bitmap_packed_tile();
  result.name = "issue_packed_tile";
  result.parameters.back() = value("lane_of_caller");
  result.meaning = {loop("lane", 32, std::move(result.meaning))};
  result.call = "issue_packed_tile(shared_memory, packed, packed_tile_room, {packed_tile}, {stage}, {copy});";
  result.texts.pop_back();
  return result;
}

/// A producer waits until a stage may be filled again; a warp says so when it has decoded its packed tile.
Instruction of_release(const char* name_of, const char* call, std::vector<Instruction::Parameter> parameters) {
  return ordering(
      name_of, call,
      {async_barriers_text, bitmap_packed_tile_text, tile_barriers_text, tile_release_text, packed_tile_release_text},
      std::move(parameters));
}

Instruction wait_for_packed_tile() {
  return ordering("wait_for_packed_tile", "wait_for_packed_tile(shared_memory, {iteration}, {stage}, {copy});",
                  {async_barriers_text, bitmap_packed_tile_text, wait_for_packed_tile_text},
                  {value("iteration"), value("stage"), value("copy")});
}

/// Where the copy of a warp's packed tile is.
constexpr const char* copied_packed_tile = "packed_tile_at(shared_memory, packed_tile_room, {stage}, {copy})";

Instruction find_words() {
  return {
      .name = "find_words",
      .parameters = {{"words", Passing::pointer, {1}}, value("stage"), value("copy"), value("lane"), array("word_at")},
      .meaning = {store(at("word_at", {0}), 0), store(at("word_at", {1}), Expression(at("words", {0})) - 1)},
      .call = std::string("find_words(") + copied_packed_tile + ", {lane}, {word_at});",
      .texts = {async_barriers_text, bitmap_packed_tile_text, find_words_text}};
}

Instruction load_bits() {
  return {.name = "load_bits",
          .parameters = {array("from"), value("half"), value("stage"), value("copy"), value("lane"), array("bits")},
          .meaning = {loop(
              "block", 2,
              {store(at("bits", {name("block")}), at("from", {name("half") * 2 + name("block"), name("lane")}))})},
          .call = std::string("load_bits(") + copied_packed_tile + ", {half}, {lane}, {bits});",
          .texts = {bitmap_packed_tile_text, load_bits_text}};
}

std::string numbered(const char* what, int register_number) { return what + std::to_string(register_number); }

/// The meaning of find_places: registers with two non-zeros have a word each, before those that registers with one
/// share.
Block places_of_registers() {
  Block result;
  Expression pairs = 0;
  Expression singles = 0;
  for (int p = 0; p < block_registers; ++p) {
    const std::int64_t shifted = std::int64_t{1} << (4 * (p % 8) + 2 * (p / 8));
    const std::string code = numbered("code", p);
    append(result, {define(code, remainder(quotient(index("bits"), shifted), 4)),
                    define(numbered("pairs_before", p), pairs), define(numbered("singles_before", p), singles)});
    pairs = index(numbered("pairs_before", p)) + choose(has(index(code), both), 1, 0);
    singles = index(numbered("singles_before", p)) +
              choose(has(index(code), first_only), 1, choose(has(index(code), second_only), 1, 0));
  }
  append(result, {define("pairs", pairs), define("singles", singles)});
  for (int p = 0; p < block_registers; ++p) {
    const Expression code = index(numbered("code", p));
    const Expression before = index(numbered("singles_before", p));
    append(result,
           {store(at("found", {place_parts * p}), code),
            store(at("found", {place_parts * p + 1}),
                  choose(has(code, both), index(numbered("pairs_before", p)), index("pairs") + quotient(before, 2))),
            store(at("found", {place_parts * p + 2}), remainder(before, 2))});
  }
  const Expression words = index("pairs") + quotient(index("singles") + 1, 2);
  append(result, {store(at("found", {place_parts * block_registers}), at("word_at", {0})),
                  store(at("word_at", {0}), Expression(at("word_at", {0})) + index("direction") * words)});
  return result;
}

Instruction::Parameter found_places() { return {"found", Passing::array, {place_parts * block_registers + 1}}; }

Instruction find_places() {
  return {.name = "find_places",
          .parameters = {value("bits"), value("direction"), found_places(), {"word_at", Passing::pointer, {1}}},
          .meaning = places_of_registers(),
          .call = "find_places({bits}, {direction}, {found}, {word_at});",
          .texts = {find_places_text}};
}

/// In which column the words of a lane's K block are.
Node column_of_words() {
  return define("column", choose(less(0, index("direction")), index("lane"), at("odd_columns", {name("lane")})));
}

/// What find_places has found of register `first` + r: its code, the row of its word, and which half of it.
Block place_of_register() {
  return {define("place", (index("first") + index("r")) * place_parts), define("code", at("found", {name("place")})),
          define("row", Expression(at("found", {place_parts * block_registers})) +
                            index("direction") * Expression(at("found", {name("place") + 1}))),
          define("half", at("found", {name("place") + 2}))};
}

Access half_word(const Affine& half) { return at("values", {name("row"), name("column"), half}); }

/// What becomes of a register of each code.
Node of_code(Block none, Block first, Block second, Block two) {
  const Node one{Branch{has(index("code"), first_only), std::move(first), std::move(second)}};
  const Node some{Branch{has(index("code"), both), std::move(two), {one}}};
  return Node{Branch{has(index("code"), 0), std::move(none), {some}}};
}

/// Register `first` and the three after it.
Instruction load_a() {
  const auto element = [](int number) { return at("to", {name("r"), number}); };
  const auto elements = [&](Expression first, Expression second) {
    return Block{store(element(0), std::move(first)), store(element(1), std::move(second))};
  };
  const Expression half = half_word(name("half"));
  Block each = place_of_register();
  each.push_back(
      of_code(elements(0.0, 0.0), elements(half, 0.0), elements(0.0, half), elements(half_word(0), half_word(1))));
  return {.name = "load_a",
          .parameters = {array("values"), array("odd_columns"), found_places(), value("direction"), value("first"),
                         value("lane"), array("to")},
          .meaning = {column_of_words(), loop("r", 4, std::move(each))},
          .call = "load_a({found}, {first}, {to});",
          .texts = {find_places_text, load_a_text}};
}

/// Where A has the first element of register r of a tile.
Expression row_of_tile() { return index("first_row") + remainder(index("r"), 2) * 8 + quotient(index("lane"), 4); }
Expression column_of_tile() {
  return index("first_column") + quotient(index("r"), 2) * 8 + remainder(index("lane"), 4) * 2;
}

/// The elements of a tile's four registers, as far as A has them.
Instruction store_a() {
  const Node element = store(at("to", {name("row"), name("column")}), at("from", {name("r"), name("v")}),
                             {less(index("row"), index("height")), less(index("column"), index("width"))});
  return {
      .name = "store_a",
      .parameters = {array("to"), value("first_row"), value("first_column"), value("height"), value("width"),
                     value("lane"), array("from")},
      .meaning = {loop(
          "r", 4,
          {loop("v", 2, {define("row", row_of_tile()), define("column", column_of_tile() + index("v")), element})})},
      .call = "store_a({to}, {leading_dimension}, {first_row}, {first_column}, {height}, {width}, {lane}, {from});",
      .texts = {vector_text, takes_four_text, tile_halves_text, store_a_text}};
}

/// The elements that A has of four registers, each to its half of a word.
Instruction store_words() {
  const auto element = [](int number) { return Expression(at("from", {name("i"), name("k") + number})); };
  const auto move = [&](const Affine& half, int number) { return store(half_word(half), element(number)); };
  Block each = place_of_register();
  append(each, {define("i", row_of_tile()), define("k", column_of_tile()),
                of_code({}, {move(name("half"), 0)}, {move(name("half"), 1)}, {move(0, 0), move(1, 1)})});
  return {
      .name = "store_words",
      .parameters = {array("from"), value("first_row"), value("first_column"), array("values"), array("odd_columns"),
                     found_places(), value("direction"), value("first"), value("lane"), value("stage"), value("copy"),
                     array("packed_tile")},
      .meaning = {column_of_words(), loop("r", 4, std::move(each))},
      .call = std::string(
                  "store_words({from}, {leading_dimension}, {first_row}, {first_column}, {lane}, {found}, {first}, ") +
              copied_packed_tile + ", packed, {packed_tile});",
      .texts = {bitmap_packed_tile_text, cache_policies_text, bytes_of_packed_tile_text, find_places_text,
                store_words_text}};
}

}  // namespace

std::vector<Instruction> bitmap_instructions() {
  return {find_packed_tile(),
          make_packed_tile_barriers(),
          copy_bitmap_packed_tile(),
          issue_packed_tile(),
          of_release("wait_for_packed_tile_release",
                     "wait_for_packed_tile_release(shared_memory, {iteration}, {stage}, {copy});",
                     {value("iteration"), value("stage"), value("copy")}),
          of_release("release_packed_tile", "release_packed_tile(shared_memory, {stage}, {copy}, {lane});",
                     {value("stage"), value("copy"), value("lane")}),
          wait_for_packed_tile(),
          find_words(),
          load_bits(),
          find_places(),
          load_a(),
          store_a(),
          store_words()};
}

}  // namespace esc

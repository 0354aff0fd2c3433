// SPDX-License-Identifier: Apache-2.0
#include "generator/ir/instruction.h"

#include <algorithm>
#include <iterator>

#include "generator/ir/bitmap_instructions.h"
#include "generator/ir/fragment_instructions.h"
#include "generator/ir/gather_instructions.h"
#include "generator/ir/instruction_parts.h"
#include "generator/ir/placed_instructions.h"
#include "generator/ir/sparse24_instructions.h"
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
extern const std::string_view epilogue_store_text;
extern const std::string_view place_columns_text;
extern const std::string_view add_placed_columns_text;
extern const std::string_view epilogue_store_placed_text;
extern const std::string_view shared_vector_text;
extern const std::string_view meet_cluster_text;
extern const std::string_view store_to_cluster_text;
extern const std::string_view add_groups_text;
extern const std::string_view packet_text;
extern const std::string_view load_packet_text;
extern const std::string_view load_cyclic_packet_text;
extern const std::string_view clear_packet_text;
extern const std::string_view multiply_packet_text;
extern const std::string_view row_tile_at_text;
extern const std::string_view find_row_tile_text;
extern const std::string_view stage_packets_text;
extern const std::string_view load_task_text;
extern const std::string_view load_pairs_text;
extern const std::string_view multiply_pairs_text;
extern const std::string_view dependency_text;

namespace {

using namespace instruction_parts;

constexpr std::int64_t packet_columns = 4;

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

Instruction epilogue_store() {
  const std::string call = "epilogue_store<{width}, vectors>({to}, {from}, {left}, {shared});";
  return placed(
      moves_columns(
          "epilogue_store",
          {Node{Branch{
              name("shared"), {add(to_v(), from_v(), before_left(), true)}, {store(to_v(), from_v(), before_left())}}}},
          call, {vector_text, store_text, add_columns_text, epilogue_store_text}, {value("shared")}),
      call, {vector_text, store_text, place_columns_text, add_placed_columns_text, epilogue_store_placed_text});
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
Instruction store_to_cluster() {
  Instruction result =
      moves_vector("store_to_cluster", store(to_v(), from_v()), "store_to_cluster<{width}>({to}, {from}, {rank});",
                   {meet_cluster_text, store_to_cluster_text});
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

Instruction row_tile_at() {
  return {.name = "row_tile_at",
          .parameters = {array("numbers"), value("tile_slot")},
          .results = {"row_tile"},
          .meaning = {define("row_tile", at("numbers", {name("tile_slot")}))},
          .call = "row_tile_at(packed, {tile_slot})",
          .texts = {row_tile_at_text}};
}

/// How many packets the row tile at a tile slot has, and where they are.
Instruction find_row_tile() {
  return {.name = "find_row_tile",
          .parameters = {array("packets_at"), value("set"), value("tile_slot")},
          .results = {"packets", "first"},
          .meaning = {define("packets", at("packets_at", {name("tile_slot")})), define("first", name("tile_slot"))},
          .call = "find_row_tile({places}{set}, {tile_slot})",
          .record = "RowTilePackets",
          .texts = {find_row_tile_text}};
}

/// The place of a packet, from which the nest goes on.
Instruction find_packet() {
  return {.name = "find_packet",
          .parameters = {value("first"), value("number")},
          .results = {"place"},
          .meaning = {define("place", name("number"))},
          .call = "find_packet(packed, {first} + {number})",
          .moves = true,
          .texts = {vector_text, packet_text, load_packet_text}};
}

/// A packet that adds nothing, whatever its columns.
Instruction clear_packet() {
  return {.name = "clear_packet",
          .parameters = {array("packet")},
          .meaning = {loop("e", name("row_tile_height") * packet_columns,
                           {store(at("packet", {name("e") + packet_columns}), 0.0)})},
          .call = "clear_values({packet});",
          .texts = {vector_text, packet_text, load_packet_text, clear_packet_text}};
}

/// Packet `number` of the row tile; `here` and the distance from it say where it is.
Instruction load_packet() {
  const Affine step = name("number") * packet_columns + name("s");
  const Block each{define("column", at("columns", {name("row_tile"), step})),
                   store(at("packet", {name("s")}), name("column")),
                   loop("u", name("row_tile_height"),
                        {define("place", name("u") + times("s", "row_tile_height") + packet_columns),
                         store(at("packet", {name("place")}), at("values", {name("row_tile"), step, name("u")}))})};
  return {.name = "load_packet",
          .parameters = {array("packet"), array("columns"), array("values"), value("row_tile"), value("here"),
                         value("ahead"), value("number")},
          .meaning = {loop("s", packet_columns, each)},
          .call = "{packet} = load_packet({here} + {ahead}, {number});",
          .texts = {vector_text, packet_text, load_packet_text}};
}

/// What a lane group has of the columns of the round in which packet `number` of a copied row tile is its own: every
/// one that is as many columns after the other as there are groups.
Instruction load_cyclic_packet() {
  Instruction result = load_packet();
  const Expression step =
      name("number") * packet_columns + name("group") * -(packet_columns - 1) + times("s", "sharing_groups");
  const Block each{
      define("step", step), define("column", at("columns", {name("row_tile"), name("step")})),
      store(at("packet", {name("s")}), name("column")),
      loop("u", name("row_tile_height"),
           {define("place", name("u") + times("s", "row_tile_height") + packet_columns),
            store(at("packet", {name("place")}), at("values", {name("row_tile"), name("step"), name("u")}))})};
  result.name = "load_cyclic_packet";
  result.parameters.push_back(value("group"));
  result.meaning = {loop("s", packet_columns, each)};
  result.call = "{packet} = load_packet({here} + {ahead}, {number}, {group});";
  result.texts = {vector_text, packet_text, load_cyclic_packet_text};
  return result;
}

/// The lanes of a warp copy what it reads of its row tiles: the packets that are dealt to it, in whole rounds, zeros
/// after the row tile's own.
Instruction stage_packets() {
  const Affine step = name("number") * packet_columns + name("s");
  const Expression inside = less(name("number"), name("own"));
  const Expression dealt_to = quotient(remainder(name("number"), name("cyclic_packets")), name("sharing_groups"));
  const auto staged = [&](const char* array, std::vector<Affine> places) {
    places.insert(places.begin(), {name("to"), step});
    return at(array, places);
  };
  const Block values{loop("u", name("row_tile_height"),
                          {store(staged("staged_values", {name("u")}),
                                 choose(inside, at("values", {name("from"), step, name("u")}), 0.0))})};
  const Block each{store(staged("staged_columns", {}), choose(inside, at("columns", {name("from"), step}), 0)),
                   values.front()};
  const Block of_row_tile{
      define("from", at("first", {name("lane")})),
      define("to", at("copy", {name("lane")})),
      define("own", at("packets", {name("lane")})),
      define("mine", at("part", {name("lane")})),
      define("rounds", quotient(name("own") + index("round_packets") - 1, name("round_packets"))),
      define("all", times("rounds", "round_packets")),
      loop("number", name("all"),
           {define("its", dealt_to),
            Node{Branch{less(name("its"), name("mine") + 1),
                        {Node{Branch{less(name("mine"), name("its") + 1), {loop("s", packet_columns, each)}, {}}}},
                        {}}}})};
  const Expression first_of_row_tile = remainder(name("lane"), quotient(32, name("warp_row_tiles")));
  return {.name = "stage_packets",
          .scope = Scope::warp,
          .parameters = {array("columns"), array("values"), array("staged_columns"), array("staged_values"),
                         value("first"), value("packets"), value("part"), value("copy"), value("group")},
          .results = {"here"},
          .meaning = {loop(
              "lane", 32,
              {store(at("here", {name("lane")}), 0), Node{Branch{less(first_of_row_tile, 1), of_row_tile, {}}}})},
          .call = "stage_packets(shared_memory, packed, {first}, {packets}, {part}, {copy}, thread % 32) + {group}",
          .moves = true,
          .texts = {vector_text, packet_text, stage_packets_text}};
}

Instruction multiply_packet() {
  const Block each{
      define("place", times("s", "row_tile_height") + name("u") + packet_columns),
      define("sum", times("u", "vector_width") + name("v")), define("column", at("columns", {name("v")})),
      add(at("sums", {name("sum")}), product({at("packet", {name("place")}), at("b", {name("k"), name("column")})}))};
  return {.name = "multiply_packet",
          .parameters = {array("packet"), array("b"), array("columns"), array("sums")},
          .meaning = {loop("s", packet_columns,
                           {define("k", at("packet", {name("s")})),
                            loop("u", name("row_tile_height"), {loop("v", name("vector_width"), each)})})},
          .call = "multiply<vectors>({packet}, {b}, ldb, {columns}, {sums});",
          .texts = {vector_text, load_part_text, packet_text, multiply_packet_text}};
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
      epilogue_store(),
      moves_vector("store_vector", store(to_v(), from_v()), "store_vector<{width}>({to}, {from});", shared),
      moves_vector("load_vector", store(to_v(), from_v()), "load_vector<{width}>({to}, {from});", shared),
      store_to_cluster(),
      moves_vector("add_vector", add(to_v(), from_v()), "add_vector<{width}>({to}, {from});", shared),
      add_groups(),
      row_tile_at(),
      find_row_tile(),
      find_packet(),
      clear_packet(),
      load_packet(),
      load_cyclic_packet(),
      multiply_packet(),
      load_task(),
      load_pairs(),
      multiply_pairs(),
      stage_packets(),
      ordering("wait_for_copies", "__pipeline_wait_prior(0);", {}),
      ordering("allow_successor", "allow_successor();", {dependency_text}),
      ordering("wait_for_predecessor", "wait_for_predecessor();", {dependency_text})};
  std::ranges::move(fragment_instructions(), std::back_inserter(all));
  std::ranges::move(placed_instructions(), std::back_inserter(all));
  std::ranges::move(gather_instructions(), std::back_inserter(all));
  std::ranges::move(tile_instructions(), std::back_inserter(all));
  std::ranges::move(bitmap_instructions(), std::back_inserter(all));
  std::ranges::move(sparse24_instructions(), std::back_inserter(all));
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

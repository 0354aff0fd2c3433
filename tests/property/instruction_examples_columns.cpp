// SPDX-License-Identifier: Apache-2.0
// Columns of B and C, and vectors of them.

#include <fmt/format.h>

#include <utility>

#include "generator/ir/build.h"
#include "tests/property/instruction_example.h"

namespace esc::tests {
namespace {

const Affine lane = Affine::of("lane");
const Affine v = Affine::of("v");

std::string name_of(const std::string& what, ScalarType type, std::int64_t width, bool vectors) {
  return fmt::format("{}_{}_{}{}", what, esc::name_of(type), width, vectors ? "_vectors" : "");
}

InstructionExample example(const std::string& name, ScalarType type, bool vectors, std::int64_t width,
                           std::vector<ArrayDeclaration> own, Block body) {
  return {name, nest_of_warp(type, std::move(own), {{"vector_width", width, ""}}, std::move(body)),
          small_matrix(4, warp_lanes, 0.5, type, 1), vectors, 4};
}

/// Every second pair of lanes begins in another column, some after the last one; two lanes share a row of C.
InstructionExample delivers(const std::string& instruction, ScalarType type, std::int64_t width, bool vectors) {
  const Affine begin = Affine::of("begin");
  std::vector<Expression> arguments{element("C", {Affine::of("row"), begin}), element("sums", {0}),
                                    index("vector_width"), choose(less(begin, index("N")), index("N") - begin, 0)};
  if (instruction == "epilogue_store") {
    arguments.emplace_back(index("several"));
  }
  // Lanes that store have a row to themselves.
  const bool shares = instruction != "store_columns";
  return example(
      name_of(instruction, type, width, vectors), type, vectors, width, {registers("sums", width, type)},
      {Node{Declare{"sums"}}, load_sums(width), define("several", shares ? less(lane, 16) : Expression(0)),
       define("row", choose(index("several"), quotient(lane, 2), lane)),
       define("begin", remainder(quotient(lane, 2), 5) * width), perform(instruction, std::move(arguments))});
}

/// With vectors, the columns of lanes after the end are whatever the text likes: nobody stores them.
InstructionExample clamps_columns(ScalarType type, std::int64_t width, bool vectors) {
  const Affine j = Affine::of("j");
  const Guard inside = vectors ? Guard{less(j, index("N"))} : Guard{};
  return example(name_of("clamp_columns", type, width, vectors), type, vectors, width,
                 {registers("columns", width, ScalarType::u32)},
                 {define("j", remainder(lane, 9) * width, ScalarType::u32), Node{Declare{"columns"}},
                  perform("clamp_columns", {element("columns"), j, index("N")}),
                  for_each_v(width, {store(element("C", {lane, v}), element("columns", {v}), inside)})});
}

InstructionExample loads_part(ScalarType type, std::int64_t width, bool vectors) {
  const Affine j = Affine::of("j");
  return example(
      name_of("load_part", type, width, vectors), type, vectors, width,
      {registers("columns", width, ScalarType::u32), registers("part", width, type, "Part")},
      {define("j", remainder(lane, 5) * width, ScalarType::u32), Node{Declare{"columns"}},
       perform("clamp_columns", {element("columns"), j, index("N")}), Node{Declare{"part"}},
       perform("load_part", {element("part"), element("B", {lane}), element("columns")}),
       for_each_v(width, {store(element("C", {lane, j + v}), element("part", {v}), {less(j + v, index("N"))})})});
}

InstructionExample passes_through_shared_memory(ScalarType type, std::int64_t width) {
  const Affine mine = Affine::of("lane", width);
  const Affine next = Affine::of("next", width);
  const Affine other = Affine::of("other", width);
  return example(name_of("store_load_and_add_vector", type, width, true), type, true, width,
                 {registers("sums", width, type),
                  registers("total", width, type),
                  {"shared_sums", {warp_lanes * width}, ArrayRole::shared, type}},
                 {Node{Declare{"sums"}}, load_sums(width),
                  perform("store_vector", {element("shared_sums", {mine}), element("sums", {0}), width}),
                  Node{Barrier{Scope::block}}, define("next", remainder(lane + 1, warp_lanes)),
                  define("other", remainder(lane + 5, warp_lanes)), Node{Declare{"total"}},
                  perform("load_vector", {element("total", {0}), element("shared_sums", {next}), width}),
                  perform("add_vector", {element("total", {0}), element("shared_sums", {other}), width}),
                  for_each_v(width, {store(element("C", {lane, v}), element("total", {v}))})});
}

}  // namespace

std::vector<InstructionExample> column_examples() {
  std::vector<InstructionExample> examples;
  for (const std::int64_t width : {1, 2, 4}) {
    // Each type with a width that the other has with vectors.
    const ScalarType type = width == 2 ? ScalarType::f64 : ScalarType::f32;
    const ScalarType other = width == 2 ? ScalarType::f32 : ScalarType::f64;
    for (const bool vectors : {false, true}) {
      const ScalarType one = vectors ? type : other;
      examples.push_back(delivers("store_columns", one, width, vectors));
      examples.push_back(delivers("epilogue_store", one, width, vectors));
      examples.push_back(clamps_columns(one, width, vectors));
      examples.push_back(loads_part(one, width, vectors));
    }
    examples.push_back(delivers("add_columns", type, width, false));
    examples.push_back(passes_through_shared_memory(ScalarType::f32, width));
    examples.push_back(passes_through_shared_memory(ScalarType::f64, width));
  }
  return examples;
}

}  // namespace esc::tests

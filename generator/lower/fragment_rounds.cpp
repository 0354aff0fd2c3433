// SPDX-License-Identifier: Apache-2.0
#include "generator/lower/fragment_rounds.h"

#include <utility>
#include <vector>

#include "generator/ir/build.h"
#include "generator/lower/refusals.h"
#include "generator/lower/stream_windows.h"
#include "generator/lower/thread_nest.h"

namespace esc {

Access of_unit(const char* array) { return element(array, {Affine::of("round"), Affine::of("place")}); }

Block round_of_turn() {
  return {define("turned", index("its") + index("rotation"), ScalarType::u32),
          define("round",
                 index("first_round") +
                     choose(less(index("turned"), index("rounds")), index("turned"), index("turned") - index("rounds")),
                 ScalarType::u32),
          perform("window_at", {element("Windows"), index("round"), index("first_round")}, {"window"})};
}

Node if_there(Block body) { return Node{Branch{less(index("its"), index("rounds")), std::move(body), {}}}; }

Node turns_loop(Block body) {
  body.insert(body.begin(), define("its", index("turn") * index("turn_windows") + index("part"), ScalarType::u32));
  return sequential_loop("turn", 0, Affine::of("turns"), 1, Role::reduction, std::move(body));
}

LoopNest store_in_fragments(const LoopNest& nest, const Directive& directive, Node turns) {
  ThreadNest parts = take_apart(nest, directive);
  const std::size_t at = find_place(parts.body, Role::reduction);
  refuse_if(
      parts.thread("part") == nullptr || nest.find_array("sums") == nullptr || at == parts.body.size(), directive,
      "the lanes have no sums of a tensor core",
      "stream the rows and give the lanes their columns first: mainloop(i, row_tiles=4, warps=2); fragment(j, 8)");
  refuse_if(nest.element() == ScalarType::f64, directive,
            "the tensor cores that this is for multiply numbers of 16 bits and terms of float32",
            "choose --dtype f32, tf32, f16 or bf16, or a schedule of family panel");
  parts.body[at] = std::move(turns);
  insert(
      parts.body, at,
      {perform("find_rounds", {element("FirstRounds"), index("block")}, {"first_round", "rounds"}),
       define("turns", quotient(index("rounds") + index("turn_windows") - 1, index("turn_windows")), ScalarType::u32),
       Node{Note{"Blocks begin at different windows, so that they do not all ask for the same rows of B."}},
       define("rotation", quotient(index("block") * index("rounds"), index("blocks")), ScalarType::u32)});

  LoopNest result = put_together(nest, parts);
  std::erase_if(result.derived_sizes, [](const DerivedSize& size) { return size.name == "windows"; });
  const auto units = [](const char* name, std::vector<Affine> extents, ArrayRole role, ScalarType type) {
    extents.insert(extents.begin(), {Affine::of("all_rounds"), Affine::of("block_panels")});
    return ArrayDeclaration{name, std::move(extents), role, type};
  };
  const Affine extras = Affine::of("unit_extras");
  replace_sparse(result, {{"FirstRounds", {Affine::of("blocks") + 1}, ArrayRole::packed_index, ScalarType::u32},
                          {"Windows", {Affine::of("all_rounds")}, ArrayRole::packed_index, ScalarType::u32},
                          units("Slots", {Affine::of("unit_slots")}, ArrayRole::packed_index, ScalarType::u8),
                          units("Values", {Affine::of("unit_slots"), Affine::of("panel_height")},
                                ArrayRole::packed_value, nest.element()),
                          units("ExtraEnds", {Affine::of("row_sets")}, ArrayRole::packed_index, ScalarType::u8),
                          units("ExtraSlots", {extras}, ArrayRole::packed_index, ScalarType::u8),
                          units("ExtraRows", {extras}, ArrayRole::packed_index, ScalarType::u8),
                          units("ExtraValues", {extras}, ArrayRole::packed_value, nest.element())});
  result.packed = {.kind = PackedForm::Kind::fragments,
                   .height = nest.constant("panel_height"),
                   .warps = panel_warps(nest),
                   .block_panels = nest.constant("block_panels"),
                   .columns = nest.constant("tile_columns")};
  result.explicit_zeros = true;
  return result;
}

const char* story_of_digits(ScalarType element) {
  return element == ScalarType::tf32 ? "The tensor core takes 11 bits of a float32, to which A is rounded when it is "
                                       "packed and B where it is multiplied; the sums are float32's."
                                     : "The tensor core takes 11 bits of a float32: so each number is split in two, "
                                       "and three products of the parts are added in float32.";
}

}  // namespace esc

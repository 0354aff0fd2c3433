// SPDX-License-Identifier: Apache-2.0
#include "generator/lower/fragment_rounds.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "generator/ir/build.h"
#include "generator/lower/mainloop.h"
#include "generator/lower/refusals.h"
#include "generator/lower/thread_nest.h"
#include "generator/schedule/stream_schedule.h"

namespace esc {

Access of_packed_tile(const char* array) { return element(array, {Affine::of("round"), Affine::of("place")}); }

Block round_of_iteration() {
  return {define("rotated", index("its") + index("rotation"), ScalarType::u32),
          define("round",
                 index("first_round") + choose(less(index("rotated"), index("rounds")), index("rotated"),
                                               index("rotated") - index("rounds")),
                 ScalarType::u32),
          perform("k_tile_at", {element("KTiles"), index("round"), index("first_round")}, {"k_tile"})};
}

Node if_there(Block body) { return Node{Branch{less(index("its"), index("rounds")), std::move(body), {}}}; }

Node iterations_loop(Block body) {
  body.insert(body.begin(),
              define("its", index("iteration") * index("iteration_k_tiles") + index("part"), ScalarType::u32));
  return sequential_loop("iteration", 0, Affine::of("iterations"), 1, Role::reduction, std::move(body));
}

LoopNest store_in_fragments(const LoopNest& nest, const Directive& directive, Node iterations) {
  ThreadNest parts = take_apart(nest, directive);
  const std::size_t at = find_place(parts.body, Role::reduction);
  refuse_if(
      parts.thread("part") == nullptr || nest.find_array("sums") == nullptr || at == parts.body.size(), directive,
      "the lanes have no sums of a tensor core",
      "stream the rows and give the lanes their columns first: mainloop(i, row_tiles=4, warps=2); fragment(j, 8)");
  refuse_if(bytes_of(nest.element()) != StreamSchedule::element_bytes, directive,
            fmt::format("fragments have elements of 32 bits, and {} has {}", name_of(nest.element()),
                        8 * bytes_of(nest.element())),
            is_half(nest.element()) ? "write transform(A, bitmap), or --schedule bitmap: that packed matrix serves "
                                      "every number of columns"
                                    : "choose --dtype f32 or tf32, or a schedule of family panel");
  parts.body[at] = std::move(iterations);
  insert(parts.body, at,
         {perform("find_rounds", {element("FirstRounds"), index("block")}, {"first_round", "rounds"}),
          define("iterations", quotient(index("rounds") + index("iteration_k_tiles") - 1, index("iteration_k_tiles")),
                 ScalarType::u32),
          Node{Note{"Blocks begin at different K tiles, so that they do not all load the same rows of B at once."}},
          define("rotation", quotient(index("block") * index("rounds"), index("blocks")), ScalarType::u32)});

  LoopNest result = put_together(nest, parts);
  std::erase_if(result.derived_sizes, [](const DerivedSize& size) { return size.name == "k_tiles"; });
  const auto packed_tiles = [](const char* name, std::vector<Affine> extents, ArrayRole role, ScalarType type) {
    extents.insert(extents.begin(), {Affine::of("all_rounds"), Affine::of("block_row_tiles")});
    return ArrayDeclaration{name, std::move(extents), role, type};
  };
  const Affine residuals = Affine::of("packed_tile_residuals");
  replace_sparse(result,
                 {{"FirstRounds", {Affine::of("blocks") + 1}, ArrayRole::packed_index, ScalarType::u32},
                  {"KTiles", {Affine::of("all_rounds")}, ArrayRole::packed_index, ScalarType::u32},
                  packed_tiles("Slots", {Affine::of("packed_tile_slots")}, ArrayRole::packed_index, ScalarType::u8),
                  packed_tiles("Values", {Affine::of("packed_tile_slots"), Affine::of("row_tile_height")},
                               ArrayRole::packed_value, nest.element()),
                  packed_tiles("ResidualEnds", {Affine::of("row_sets")}, ArrayRole::packed_index, ScalarType::u8),
                  packed_tiles("ResidualSlots", {residuals}, ArrayRole::packed_index, ScalarType::u8),
                  packed_tiles("ResidualRows", {residuals}, ArrayRole::packed_index, ScalarType::u8),
                  packed_tiles("ResidualValues", {residuals}, ArrayRole::packed_value, nest.element())});
  result.packed = {.kind = PackedForm::Kind::fragments,
                   .height = nest.constant("row_tile_height"),
                   .warps = row_tile_warps(nest),
                   .block_row_tiles = nest.constant("block_row_tiles"),
                   .columns = nest.constant("tile_columns")};
  result.explicit_zeros = true;
  return result;
}

const char* description_of_digits(ScalarType element) {
  return element == ScalarType::tf32 ? "The tensor core reads 11 significant bits of a float32. A is rounded to them "
                                       "when it is packed, B when it is multiplied; sums are float32."
                                     : "The tensor core reads 11 significant bits of a float32. So each number is "
                                       "split in two, and three products of the parts are added in float32.";
}

}  // namespace esc

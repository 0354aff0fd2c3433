// SPDX-License-Identifier: Apache-2.0
// What orders memory between launches: it may not change what is computed.

#include "generator/ir/build.h"
#include "tests/property/instruction_example.h"

namespace esc::tests {

std::vector<InstructionExample> order_examples() {
  const Affine lane = Affine::of("lane");
  const Affine v = Affine::of("v");
  const Block body{perform("allow_successor", {}), Node{Declare{"sums"}}, perform("wait_for_predecessor", {}),
                   load_sums(4), for_each_v(4, {store(element("C", {lane, v}), element("sums", {v}))})};
  return {{"allow_successor_and_wait_for_predecessor",
           nest_of_warp(ScalarType::f32, {registers("sums", 4, ScalarType::f32)}, {}, body),
           small_matrix(4, warp_lanes, 0.5, ScalarType::f32, 1)}};
}

}  // namespace esc::tests

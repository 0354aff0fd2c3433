// SPDX-License-Identifier: Apache-2.0
// Sums of lane groups.

#include <fmt/format.h>

#include <algorithm>

#include "generator/ir/build.h"
#include "tests/property/instruction_example.h"

namespace esc::tests {
namespace {

InstructionExample adds_groups(ScalarType type, std::int64_t lane_sums, std::int64_t groups, std::int64_t group_lanes) {
  const std::int64_t kept = std::max<std::int64_t>(1, lane_sums / groups);
  const std::int64_t copies = std::max<std::int64_t>(1, groups / lane_sums);
  const Affine lane = Affine::of("lane");
  const Affine v = Affine::of("v");
  const Block body{Node{Declare{"sums"}}, load_sums(lane_sums),
                   define("group", remainder(quotient(lane, group_lanes), groups)),
                   perform("add_groups", {element("sums"), index("group")}, {"first_sum"}),
                   for_each_v(kept, {store(element("C", {lane, Affine::of("first_sum") + v}), element("sums", {v}))})};
  return {fmt::format("add_groups_{}_{}_{}_{}", name_of(type), lane_sums, groups, group_lanes),
          nest_of_warp(type, {registers("sums", lane_sums, type)},
                       {{"lane_sums", lane_sums, ""},
                        {"sharing_groups", groups, ""},
                        {"group_lanes", group_lanes, ""},
                        {"kept_sums", kept, ""},
                        {"copies", copies, ""}},
                       body),
          small_matrix(4, warp_lanes, 0.5, type, 1)};
}

}  // namespace

std::vector<InstructionExample> group_examples() {
  return {adds_groups(ScalarType::f32, 1, 2, 16), adds_groups(ScalarType::f64, 4, 8, 4),
          adds_groups(ScalarType::f32, 8, 8, 4),  adds_groups(ScalarType::f64, 16, 4, 8),
          adds_groups(ScalarType::f32, 2, 32, 1), adds_groups(ScalarType::f32, 4, 2, 4)};
}

}  // namespace esc::tests

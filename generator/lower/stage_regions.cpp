#include "generator/lower/stage_regions.h"

#include <fmt/format.h>

#include <algorithm>

#include "generator/ir/rewrite.h"
#include "generator/lower/mapped_nest.h"
#include "generator/lower/pack_regions.h"
#include "generator/lower/panel_nest.h"

namespace esc {
namespace {

bool is_packed(const ArrayDeclaration& array) {
  return array.role == ArrayRole::packed_index || array.role == ArrayRole::packed_value;
}

std::string staged_name(const std::string& array) { return "Staged" + array; }

bool is_staged(const LoopNest& nest) {
  return std::ranges::any_of(nest.arrays,
                             [](const ArrayDeclaration& array) { return array.name == staged_name("Steps"); });
}

/// The loops over the warps of a block, which share its staged regions.
std::vector<Loop> warps_of(const std::vector<Loop>& threads) {
  std::vector<Loop> warps;
  std::ranges::copy_if(threads, std::back_inserter(warps),
                       [](const Loop& loop) { return loop.mapping == Mapping::warp_digit; });
  return warps;
}

/// Array[region][..] -> StagedArray[set][warp][..].
Access staged(const Access& access, const std::vector<Loop>& warps) {
  Access result{staged_name(access.array), {}};
  for (const Loop& loop : warps) {
    result.subscripts.push_back({"", Affine::of(loop.iterator)});
  }
  result.subscripts.insert(result.subscripts.end(), access.subscripts.begin() + 1, access.subscripts.end());
  return result;
}

ArrayDeclaration staged(const ArrayDeclaration& array, const std::vector<Loop>& warps) {
  ArrayDeclaration result{staged_name(array.name), {}, ArrayRole::shared};
  for (const Loop& loop : warps) {
    result.extents.push_back(loop.upper);
  }
  result.extents.insert(result.extents.end(), array.extents.begin() + 1, array.extents.end());
  return result;
}

Node copy(const Access& from, const std::vector<Loop>& warps, Guard guard) {
  return Node{Statement{std::move(guard), Store{staged(from, warps), from}}};
}

/// The lanes of every warp share out the steps of its region.
Phase copy_regions(const LoopNest& nest, const std::vector<Loop>& warps, const DefineIndex& region) {
  const Subscript at_region{"", Affine::of("region")};
  const Subscript at_step{"", Affine::of("step")};
  const Subscript at_group{"", Affine::of("group")};
  const Access steps{"Steps", {at_region}};
  const ArrayDeclaration& values = nest.array(ArrayRole::packed_value);
  Block each{copy({"Columns", {at_region, at_step, at_group}}, warps, {})};
  for (Node& node : loop_over("u", values.extents[3].constant(), Role::row,
                              {copy({"Values", {at_region, at_step, at_group, {"", Affine::of("u")}}}, warps, {})})) {
    each.push_back(std::move(node));
  }
  Phase phase{warps, {}};
  phase.threads.push_back(thread_loop("lane", warp_size, Role::none, Mapping::lane_digit));
  phase.body = {Node{Statement{{}, region}}, define("steps", steps), copy(steps, warps, {Less{Affine::of("lane"), 1}}),
                Node{Loop{"step", Affine::of("lane"), Affine::of("steps"), warp_size, Role::none, Mapping::sequential,
                          loop_over("group", values.extents[2].constant(), Role::none, each)}}};
  return phase;
}

}  // namespace

LoopNest stage_regions(const LoopNest& nest, const StageRegions& directive) {
  if (directive.array != "A" || !has_regions(nest)) {
    throw ScheduleError(directive, fmt::format("'{}' is not stored in regions", directive.array),
                        "transform the sparse array into regions first");
  }
  if (is_staged(nest)) {
    throw ScheduleError(directive, fmt::format("'{}' is already staged", directive.array), "stage once");
  }
  PanelNest parts = take_apart(nest, directive);
  Phase& reading = parts.phases.front();
  const std::vector<Loop> warps = warps_of(reading.threads);
  const DefineIndex region = *find_definition(reading.body, "region");
  std::erase(reading.body, Node{Statement{{}, region}});

  LoopNest result = nest;
  for (const ArrayDeclaration& array : nest.arrays) {
    if (is_packed(array)) {
      result.arrays.push_back(staged(array, warps));
    }
  }
  reading.body = rewrite(reading.body, {.affine = {},
                                        .access =
                                            [&](const Access& access) {
                                              const bool packed = access.array == "Steps" ||
                                                                  access.array == "Columns" || access.array == "Values";
                                              return packed ? staged(access, warps) : access;
                                            },
                                        .operand = {},
                                        .definition = {}});
  parts.phases.insert(parts.phases.begin(), copy_regions(nest, warps, region));
  return put_together(result, parts);
}

}  // namespace esc

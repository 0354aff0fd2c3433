#include "generator/lower/stage_regions.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "generator/ir/rewrite.h"
#include "generator/lower/thread_nest.h"

namespace esc {
namespace {

constexpr std::array<const char*, 3> arrays_of_region{"Steps", "Columns", "Values"};

std::string staged_name(const std::string& array) { return "Staged" + array; }

bool is_of_region(const std::string& array) {
  return std::ranges::find(arrays_of_region, array) != arrays_of_region.end();
}

/// The copy of a region in place of the region, wherever it is read.
Block read_copy(const Block& block) {
  return rewrite(block, {.affine = [](const Affine& affine) { return affine.substitute("region", Affine::of("copy")); },
                         .access = [](const Access& access) {
                           return is_of_region(access.array) ? Access{staged_name(access.array), access.subscripts} : access;
                         }});
}

Perform stage_region() {
  Perform perform{"stage_region", {}, {"copy"}};
  for (const char* const array : arrays_of_region) {
    perform.arguments.push_back(Access{array, {}});
  }
  for (const char* const array : arrays_of_region) {
    perform.arguments.push_back(Access{staged_name(array), {}});
  }
  perform.arguments.push_back(index("region"));
  perform.arguments.push_back(index("warp"));
  return perform;
}

}  // namespace

LoopNest stage_regions(const LoopNest& nest, const StageRegions& directive) {
  if (directive.array != "A" || nest.packed.kind != PackedForm::Kind::regions) {
    throw ScheduleError(directive, fmt::format("'{}' is not stored in regions", directive.array),
                        "transform the sparse array into regions first");
  }
  if (nest.find_array("next") != nullptr || nest.find_array(staged_name("Steps")) != nullptr) {
    throw ScheduleError(directive, fmt::format("'{}' is already prefetched or staged", directive.array), "stage once");
  }
  if (nest.find_array("current") == nullptr) {
    throw ScheduleError(directive, "columns of A are not taken several at a time", "batch the columns of A first");
  }
  ThreadNest parts = take_apart(nest, directive);
  const auto counting = std::ranges::find_if(parts.body, [](const Node& node) {
    const auto* statement = std::get_if<Statement>(&node.content);
    const auto* perform = statement == nullptr ? nullptr : std::get_if<Perform>(&statement->action);
    return perform != nullptr && perform->instruction == "count_quads";
  });
  ESC_CHECK(counting != parts.body.end(), "the quads of a region are counted");
  const Block reading = read_copy(Block(counting, parts.body.end()));
  parts.body.erase(counting, parts.body.end());
  parts.body.insert(parts.body.end(),
                    {Node{Note{"Each warp copies its region to shared memory, past the registers, and waits for it once."}},
                     Node{Statement{{}, stage_region()}}, Node{Statement{{}, Perform{"wait_for_copies", {}}}},
                     Node{Barrier{Scope::warp}}});
  parts.body.insert(parts.body.end(), reading.begin(), reading.end());

  LoopNest result = put_together(nest, parts);
  std::vector<ArrayDeclaration> staged;
  for (const char* const array : arrays_of_region) {
    ArrayDeclaration copy = *nest.find_array(array);
    copy.name = staged_name(array);
    copy.extents.front() = Affine::of("block_warps");
    copy.role = ArrayRole::shared;
    copy.record = "region";
    staged.push_back(std::move(copy));
  }
  // In front of the sums, as in the memory of the block.
  result.arrays.insert(result.arrays.begin(), staged.begin(), staged.end());
  result.constants.push_back({"block_warps", index("panel_warps") * index("block_sets"), ""});
  return result;
}

}  // namespace esc

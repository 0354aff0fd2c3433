#include "generator/lower/stage_regions.h"

#include <fmt/format.h>

#include <utility>

#include "generator/lower/mapped_nest.h"
#include "generator/lower/thread_nest.h"

namespace esc {
namespace {

std::string staged_name(const std::string& array) { return "Staged" + array; }

Access whole(const std::string& array) { return {array, {}}; }

Node perform(const std::string& name, std::vector<Expression> arguments, std::vector<std::string> results = {}) {
  return Node{Statement{{}, Perform{name, std::move(arguments), std::move(results)}}};
}

/// The rounds over the copy.
Loop read_copy(const Loop& rounds) {
  const Access quad{"current", {{"", Affine::of("q")}}};
  const Expression number = Affine::of("quad") + Affine::of("group") + index("q") * index("dealt_quads");
  Loop result = rounds;
  result.body = {Node{Declare{"current"}},
                 unrolled_loop("q", "quads_at_once", Role::none,
                               {perform("load_quad", {quad, whole("StagedColumns"), whole("StagedValues"), index("copy"),
                                                      index("here"), index("q") * index("sharing_groups"), number})}),
                 Node{Statement{{}, Update{Name{"here"}, index("staged_round")}}}, rounds.body.back()};
  return result;
}

}  // namespace

LoopNest stage_regions(const LoopNest& nest, const StageRegions& directive) {
  if (directive.array != "A" || nest.packed.kind != PackedForm::Kind::regions) {
    throw ScheduleError(directive, fmt::format("'{}' is not stored in regions", directive.array),
                        "transform the sparse array into regions first");
  }
  if (nest.find_array("next") != nullptr || nest.find_array(staged_name("Columns")) != nullptr) {
    throw ScheduleError(directive, fmt::format("'{}' is already prefetched or staged", directive.array), "stage once");
  }
  if (nest.find_array("current") == nullptr) {
    throw ScheduleError(directive, "columns of A are not taken several at a time", "batch the columns of A first");
  }
  ThreadNest parts = take_apart(nest, directive);
  const std::size_t at = find_place(parts.body, Role::reduction);
  parts.body[at] = Node{read_copy(std::get<Loop>(parts.body[at].content))};
  // The copy in place of where the quads begin and how many are left, which nothing asks any more.
  const auto opening = parts.body.begin() + static_cast<std::ptrdiff_t>(find_opening(parts.body));
  *(opening - 2) = Node{Note{"Each warp copies its quads to shared memory, past the registers, and waits for them once."}};
  *(opening - 1) = define("copy", index("warp") * index("warp_panels") + index("place"));
  parts.body.insert(opening, perform("stage_quads",
                                     {whole("Columns"), whole("Values"), whole("StagedColumns"), whole("StagedValues"),
                                      index("first_of_panel"), index("quads"), index("part"), index("copy"), index("group")},
                                     {"here"}));
  parts.body.insert(parts.body.begin() + static_cast<std::ptrdiff_t>(at) + 1,
                    {perform("wait_for_copies", {}), Node{Barrier{Scope::warp}}});

  LoopNest result = put_together(nest, parts);
  std::vector<ArrayDeclaration> staged;
  for (const char* const array : {"Columns", "Values"}) {
    ArrayDeclaration copy = *nest.find_array(array);
    copy.name = staged_name(array);
    copy.extents[0] = Affine::of("block_copies");
    copy.extents[1] = Affine::of("staged_steps");
    copy.role = ArrayRole::shared;
    copy.record = "quads";
    staged.push_back(std::move(copy));
  }
  // In front of the sums, as in the memory of the block.
  result.arrays.insert(result.arrays.begin(), staged.begin(), staged.end());
  result.constants.push_back({"block_copies", index("panel_warps") * index("block_sets") * index("warp_panels"), ""});
  result.constants.push_back({"staged_round", index("quads_at_once") * index("sharing_groups"), "quads of a warp and panel"});
  return result;
}

}  // namespace esc

// SPDX-License-Identifier: Apache-2.0
#include "generator/lower/shuffle_sums.h"

#include <fmt/format.h>

#include <bit>
#include <cstdint>
#include <utility>

#include "generator/ir/build.h"
#include "generator/ir/rewrite.h"
#include "generator/lower/refusals.h"
#include "generator/lower/thread_nest.h"
#include "generator/lower/zero_split_rows.h"

namespace esc {
namespace {

/// Atomic adds become stores.
Block stored(const Block& block) {
  return rewrite(block, {.statement = [](Statement statement) {
                   if (const auto* update = std::get_if<Update>(&statement.action)) {
                     statement.action = Store{*update->target.access(), update->value};
                   }
                   return Block{Node{std::move(statement)}};
                 }});
}

/// The loop over a lane's sums for those that it keeps.
Loop kept(const Loop& sums) {
  const auto from_first = [](const Statement& statement) {
    const bool names_place = std::holds_alternative<Define>(statement.action);
    return Block{Node{names_place ? substitute(statement, "e", Affine::of("e") + Affine::of("first_sum")) : statement}};
  };
  const auto as_wide = [](Node node) {
    if (auto* columns = std::get_if<Loop>(&node.content)) {
      columns->upper = Affine::of("stored_width");
    }
    return node;
  };
  Loop result = sums;
  result.upper = Affine::of("kept_sums");
  result.step = Affine::of("stored_width");
  result.body = rewrite(sums.body, {.statement = from_first, .around = as_wide});
  return result;
}

Node add_groups() { return perform("add_groups", {element("sums"), index("group")}, {"first_sum"}); }

Expression is_first_copy() { return less(remainder(index("group"), index("copies")), 1); }

Block shuffle_row_tile(const LoopNest& nest, const Loop& sums) {
  Loop mine = kept(sums);
  if (nest.constant("row_tile_warps") == 1) {
    mine.body = stored(mine.body);
  }
  return {add_groups(), Node{Branch{is_first_copy(), {Node{std::move(mine)}}, {}}}};
}

/// The row is shared only where it has other tasks, once the groups of a heavy task are added up.
Loop shared_by_tasks(Loop sums) {
  std::get<Branch>(sums.body.back().content).condition = index("split");
  return sums;
}

Block shuffle_task(const Branch& present) {
  const Loop sums = shared_by_tasks(std::get<Loop>(present.then.front().content));
  const Expression hands_on = all_of({index("present"), is_first_copy()});
  return {Node{Branch{index("is_heavy"),
                      {add_groups(), Node{Branch{hands_on, {Node{kept(sums)}}, {}}}},
                      {Node{Branch{index("present"), {Node{sums}}, {}}}}}}};
}

/// Every step leaves a lane with one half of its sums, and in the end with whole rows or with an even part of one.
void check_halves(const LoopNest& nest, const ShuffleSums& directive) {
  const auto rows = static_cast<std::uint64_t>(nest.constant("row_tile_height"));
  const auto groups = static_cast<std::uint64_t>(nest.constant("sharing_groups"));
  refuse_if(!std::has_single_bit(rows) && rows % groups != 0, directive,
            fmt::format("{} lane groups cannot halve the sums of {} rows", groups, rows),
            "split over groups that divide the rows, or unroll by 1, 2, 4 or 8");
}

}  // namespace

LoopNest shuffle_sums(const LoopNest& nest, const ShuffleSums& directive) {
  ThreadNest parts = take_apart(nest, directive);
  const std::size_t place = find_place(parts.body, Role::reduction);
  refuse_if(nest.find_array("sums") == nullptr || place + 1 >= parts.body.size(), directive,
            "the sums are not in registers", "accumulate the sums first");
  refuse_if(nest.vectors, directive, "the sums of a lane already go to C in vectors",
            "shuffle before the columns of C are vectorized");
  const Node to_c = parts.body[place + 1];
  const auto* branch = std::get_if<Branch>(&to_c.content);
  refuse_if(parts.body.size() != place + 2 || (branch != nullptr && branch->condition != index("present")), directive,
            "the sums of the lane groups are already added up", "shuffle once");
  check_full_warps(parts.count_threads(nest, Mapping::lane_digit), nest.constant("sharing_groups"), directive);
  check_halves(nest, directive);
  parts.body.pop_back();
  append(parts.body, branch != nullptr ? shuffle_task(*branch) : shuffle_row_tile(nest, std::get<Loop>(to_c.content)));

  const Expression sums = index("lane_sums");
  const Expression groups = index("sharing_groups");
  LoopNest result = put_together(nest, parts);
  if (branch != nullptr) {
    result.before = {zero_split_rows(nest)};
    result.zeroed = Zeroed::nothing;
    result.description.emplace_back(
        "A row that is one task is stored. The tasks of a split row are added to C atomically, and a small kernel "
        "before this one sets just those rows to zero.");
  } else if (nest.constant("row_tile_warps") == 1) {
    result.zeroed = Zeroed::nothing;
  }
  result.constants.push_back({"kept_sums", choose(less(groups, sums), quotient(sums, groups), 1),
                              "sums of a lane after lane groups are reduced"});
  result.constants.push_back(
      {"copies", choose(less(sums, groups), quotient(groups, sums), 1), "lane groups that keep the same sums"});
  result.constants.push_back(
      {"stored_width",
       choose(less(index("kept_sums"), index("vector_width")), index("kept_sums"), index("vector_width")), ""});
  result.description.push_back("In the end the sums of the lane groups are added by warp shuffles.");
  return result;
}

}  // namespace esc

// SPDX-License-Identifier: Apache-2.0
#include "generator/lower/merge_patterns.h"

#include <fmt/format.h>

#include "generator/ir/build.h"
#include "generator/ir/rewrite.h"
#include "generator/lower/refusals.h"

namespace esc {
namespace {

std::string panel_sentence(int height) {
  return height == 1 ? "Each row of A is a row tile of its own."
                     : fmt::format(
                           "{} consecutive rows of A are a row tile. The columns of a row tile are those in which any "
                           "of its rows is non-zero; a row that is zero there has an explicit zero.",
                           height);
}

}  // namespace

LoopNest merge_patterns(const LoopNest& nest, const MergePatterns& directive) {
  const Loop* row = find_loop(nest.body, Role::row);
  const Loop* reduction = find_loop(nest.body, Role::reduction);
  const auto* choice = only<Switch>(reduction);
  refuse_if(row == nullptr || choice == nullptr, directive, "the columns of the row tiles are not enumerated",
            "unroll the row loop and enumerate its patterns first");
  const int height = static_cast<int>(row->step.constant());
  const Pattern all{(std::uint64_t{1} << height) - 1, height};
  refuse_if(choice->cases.size() != all.mask, directive,
            fmt::format("only {} of {} patterns are enumerated", choice->cases.size(), all.mask),
            "enumerate all patterns: the union leaves none out");

  const Affine row_of_row_tile = Affine::of(row->iterator) + Affine::of("u");
  Statement update =
      substitute(std::get<Statement>(choice->cases.front().body.front().content), row->iterator, row_of_row_tile);
  update.guard = {less(row_of_row_tile, row->upper)};
  ColumnLoop columns;
  columns.iterator = reduction->iterator;
  columns.set = {row->iterator, all, Membership::any};
  columns.body = {unrolled_loop("u", "row_tile_height", Role::row, {Node{std::move(update)}})};

  LoopNest result = nest;
  result.body = replace_loop(nest.body, reduction->iterator, Node{columns});
  result.constants.push_back({"row_tile_height", height, "rows of a row tile"});
  result.explicit_zeros = true;
  result.description.push_back(panel_sentence(height));
  return result;
}

}  // namespace esc

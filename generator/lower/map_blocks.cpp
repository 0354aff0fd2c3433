// SPDX-License-Identifier: Apache-2.0
#include "generator/lower/map_blocks.h"

#include <fmt/format.h>

#include "generator/ir/build.h"
#include "generator/ir/rewrite.h"
#include "generator/lower/refusals.h"

namespace esc {
namespace {

/// The case's updates, atomic, as the body of loops over its own columns.
Block distribute(const Case& one, const Loop& column, const Loop& reduction, const std::string& first_row) {
  Loop around = column;
  around.body = {Node{ColumnLoop{reduction.iterator,
                                 {first_row, std::get<Pattern>(one.label)},
                                 change_updates(one.body, [](Guard&, Update& update) { update.atomic = true; })}}};
  return {Node{std::move(around)}};
}

std::string blocks_sentence(std::int64_t height) {
  const std::string row_tiles =
      height == 1 ? "Each row of A is a row tile." : fmt::format("{} consecutive rows of A are a row tile.", height);
  return row_tiles +
         " The columns of a row tile are sorted by their pattern (which rows of the row tile are non-zero there), and "
         "one block takes those that share a pattern: each thread loads an element of B once and adds it, times the "
         "values of A, to every row of the pattern. Several blocks add to the same rows of C, so the adds are atomic "
         "and the launcher sets C to zero first.";
}

}  // namespace

LoopNest map_blocks(const LoopNest& nest, const MapGrid& directive) {
  const Loop& row = loop_of_role(nest.body, directive.loop, Role::row, directive);
  const auto* column = only<Loop>(&row);
  const auto* reduction = only<Loop>(column);
  const auto* choice = only<Switch>(reduction);
  refuse_if(choice == nullptr, directive, fmt::format("the columns of loop '{}' are not enumerated", directive.loop),
            "unroll the row loop and enumerate its patterns first");

  const std::int64_t height = row.step.constant();
  const std::int64_t patterns = (std::int64_t{1} << height) - 1;
  Switch by_pattern{"pattern", {}};
  for (const Case& one : choice->cases) {
    by_pattern.cases.push_back({one.label, distribute(one, *column, *reduction, row.iterator)});
  }
  const Block body{define("row_tile", quotient(index("block"), patterns)),
                   define(row.iterator, Affine::of("row_tile", height)),
                   define("choice", remainder(index("block"), patterns)), define("pattern", Affine::of("choice") + 1),
                   Node{std::move(by_pattern)}};

  LoopNest result = nest;
  result.derived_sizes.push_back({"row_tiles", row.upper, height});
  result.body = {Node{mapped_loop(Mapping::grid, "block", Affine::of("row_tiles", patterns), Role::none, body)}};
  result.zeroed = Zeroed::output;
  result.description.push_back(blocks_sentence(height));
  return result;
}

}  // namespace esc

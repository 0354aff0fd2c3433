// SPDX-License-Identifier: Apache-2.0
#include "generator/lower/compact.h"

#include <fmt/format.h>

#include <map>

#include "generator/ir/build.h"
#include "generator/ir/rewrite.h"
#include "generator/lower/refusals.h"
#include "generator/lower/thread_nest.h"
#include "generator/schedule/schedule.h"

namespace esc {
namespace {

/// The scalars of a pattern's body by row, and by rank: "c3_1" is "c2_1" when row 3 has rank 2.
std::map<std::string, std::string> scalar_names(const Pattern& pattern) {
  std::map<std::string, std::string> renamed;
  for (int row = 0; row < pattern.height; ++row) {
    for (int tile = 0; pattern.has_row(row) && tile < AtomicSchedule::max_warptile; ++tile) {
      renamed[fmt::format("c{}_{}", row, tile)] = fmt::format("c{}_{}", pattern.rank(row), tile);
    }
  }
  return renamed;
}

/// The body of one pattern with its rows of C as run-time offsets row0, row1, .. by rank.
Block with_row_offsets(const Case& one) {
  const auto& pattern = std::get<Pattern>(one.label);
  const auto by_rank = [renamed = scalar_names(pattern)](const std::string& name) {
    const auto found = renamed.find(name);
    return found == renamed.end() ? name : found->second;
  };
  const auto offset_rows = [&](const Access& access) {
    if (access.array != "C") {
      return access;
    }
    Access moved = access;
    Subscript& row = moved.subscripts[0];
    row.offset = fmt::format("row{}", pattern.rank(static_cast<int>(row.affine.constant())));
    row.affine = row.affine - row.affine.constant();
    return moved;
  };
  const auto rename_scalar = [&](const Expression& expression) -> Expression {
    const auto* scalar = std::get_if<Name>(&expression.content);
    return scalar == nullptr ? expression : Expression(Name{by_rank(scalar->name)});
  };
  return rewrite(one.body, {.access = offset_rows, .expression = rename_scalar, .definition = by_rank});
}

/// row0, row1, ..: the positions of the pattern's set bits.
Block row_offsets(std::int64_t rows) {
  Block definitions;
  std::string mask = "pattern";
  for (std::int64_t rank = 0; rank < rows; ++rank) {
    if (rank > 0) {
      const std::string rest = fmt::format("rest{}", rank);
      definitions.push_back(define(rest, Operation{Operator::clear_lowest_set_bit, {index(mask)}}));
      mask = rest;
    }
    definitions.push_back(define(fmt::format("row{}", rank), Operation{Operator::lowest_set_bit, {index(mask)}}));
  }
  return definitions;
}

}  // namespace

LoopNest compact(const LoopNest& nest) {
  ThreadNest parts = take_apart_cases(nest, Compact{});
  const auto choice = std::get<Switch>(parts.body.back().content);
  refuse_if(nest.packed.kind != PackedForm::Kind::lists, Compact{}, "the sparse array is not transformed",
            "transform it first");
  refuse_if(std::get<std::string>(choice.subject) != "pattern", Compact{}, "the nest is already compacted",
            "compact once");

  std::map<std::int64_t, Block> by_rows;
  for (const Case& one : choice.cases) {
    Block offset = with_row_offsets(one);
    const auto [entry, first] = by_rows.try_emplace(std::get<Pattern>(one.label).popcount(), offset);
    ESC_CHECK(first || entry->second == offset, "bodies of patterns with the same number of rows are the same");
  }
  Switch by_number{"rows", {}};
  for (const auto& [rows, common] : by_rows) {
    by_number.cases.push_back({rows, row_offsets(rows)});
    append(by_number.cases.back().body, common);
  }
  parts.body.back() = define("rows", Operation{Operator::population_count, {index("pattern")}});
  parts.body.push_back(Node{std::move(by_number)});
  return put_together(nest, parts);
}

}  // namespace esc

// SPDX-License-Identifier: Apache-2.0
#include "generator/lower/enumerate.h"

#include <fmt/format.h>

#include "generator/ir/rewrite.h"
#include "generator/schedule/directive.h"

namespace esc {
namespace {

[[noreturn]] void refuse(const std::string& rule, const std::string& remedy) {
  throw ScheduleError("enumeration", rule, remedy);
}

/// The row of the row tile that a statement's guard asks about, or -1 when the statement has no such guard.
int guarded_row(const Statement& statement, const Loop& row, const std::string& sparse) {
  for (const Expression& condition : statement.guard) {
    const Operation* differs = condition.operation(Operator::differs);
    const Access* access = differs == nullptr ? nullptr : differs->operands.front().access();
    if (access != nullptr && access->array == sparse) {
      return static_cast<int>((access->subscripts[0].affine - Affine::of(row.iterator)).constant());
    }
  }
  return -1;
}

/// One update per row of the row tile, by row, without its guard.
std::vector<Statement> updates_by_row(const Loop& reduction, const Loop& row, const std::string& sparse) {
  const auto height = static_cast<std::size_t>(row.step.constant());
  if (reduction.body.size() != height) {
    refuse(fmt::format("the loop over '{}' holds {} statements for a row tile of {} rows", reduction.iterator,
                       reduction.body.size(), height),
           "unroll the row loop once, and enumerate before anything else");
  }
  std::vector<Statement> updates;
  for (const Node& node : reduction.body) {
    const auto* statement = std::get_if<Statement>(&node.content);
    if (statement == nullptr) {
      refuse(fmt::format("the loop over '{}' is already enumerated", reduction.iterator), "enumerate once");
    }
    if (guarded_row(*statement, row, sparse) != static_cast<int>(updates.size())) {
      refuse(fmt::format("statement {} of the row tile has no guard that {} is non-zero in its row", updates.size(),
                         sparse),
             "guard each update by its element of the sparse array");
    }
    updates.push_back({{}, statement->action});
  }
  return updates;
}

}  // namespace

LoopNest enumerate(const LoopNest& nest, const std::optional<std::vector<Pattern>>& patterns) {
  const Loop* row = find_loop(nest.body, "i");
  const Loop* reduction = find_loop(nest.body, "k");
  if (row == nullptr || reduction == nullptr) {
    refuse("there is no row loop 'i' around a reduction loop 'k'", "enumerate before the loops are mapped");
  }
  const int height = static_cast<int>(row->step.constant());
  const std::vector<Statement> updates = updates_by_row(*reduction, *row, nest.array(ArrayRole::sparse).name);

  std::vector<Pattern> listed = patterns.value_or(std::vector<Pattern>{});
  for (std::uint64_t mask = 1; !patterns && mask < std::uint64_t{1} << height; ++mask) {
    listed.push_back({mask, height});
  }
  Switch choice{ColumnPattern{Affine::of(row->iterator), Affine::of(reduction->iterator), height}, {}};
  for (const Pattern& pattern : listed) {
    ESC_CHECK(pattern.height == height && pattern.mask != 0, "a pattern of this row tile height");
    Case one{pattern, {}};
    for (int r = 0; r < height; ++r) {
      if (pattern.has_row(r)) {
        one.body.push_back(Node{updates[static_cast<std::size_t>(r)]});
      }
    }
    choice.cases.push_back(std::move(one));
  }
  Loop enumerated = *reduction;
  enumerated.body = {Node{std::move(choice)}};
  LoopNest result = nest;
  result.body = replace_loop(nest.body, reduction->iterator, Node{std::move(enumerated)});
  return result;
}

}  // namespace esc

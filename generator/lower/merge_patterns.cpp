#include "generator/lower/merge_patterns.h"

#include <fmt/format.h>

#include "generator/ir/rewrite.h"

namespace esc {
namespace {

/// The switch over patterns that a reduction loop consists of, or null.
const Switch* find_choice(const Loop* reduction) {
  const bool enumerated = reduction != nullptr && reduction->body.size() == 1;
  const auto* choice = enumerated ? std::get_if<Switch>(&reduction->body.front().content) : nullptr;
  return choice != nullptr && std::holds_alternative<ColumnPattern>(choice->subject) ? choice : nullptr;
}

}  // namespace

LoopNest merge_patterns(const LoopNest& nest, const MergePatterns& directive) {
  const Loop* row = find_loop(nest.body, "i");
  const Loop* reduction = find_loop(nest.body, "k");
  const Switch* choice = find_choice(reduction);
  if (row == nullptr || choice == nullptr) {
    throw ScheduleError(directive, "the columns of the panels are not enumerated",
                        "unroll the row loop and enumerate its patterns first");
  }
  const int height = static_cast<int>(row->step);
  const Pattern all{(std::uint64_t{1} << height) - 1, height};
  if (choice->cases.size() != all.mask) {
    throw ScheduleError(directive, fmt::format("only {} of {} patterns are enumerated", choice->cases.size(), all.mask),
                        "enumerate all patterns: the union leaves none out");
  }

  const ColumnSet any_row{row->iterator, all, Membership::any};
  ColumnLoop columns{reduction->iterator, any_row, choice->cases.back().body};
  for (int r = 1; r < height; ++r) {
    auto& update = std::get<Statement>(columns.body[static_cast<std::size_t>(r)].content);
    update.guard.push_back(Less{Affine::of(row->iterator) + r, row->upper});
  }
  LoopNest result = nest;
  result.body =
      replace_loop(nest.body, reduction->iterator, [&](const Loop&) { return Block{Node{std::move(columns)}}; });
  return result;
}

}  // namespace esc

#include "generator/lower/unroll.h"

#include <fmt/format.h>

#include <algorithm>

#include "generator/ir/rewrite.h"
#include "generator/schedule/schedule.h"

namespace esc {
namespace {

/// Repeats the innermost statements: the loops between them and the unrolled one are jammed.
Block repeat(const Block& block, const Loop& unrolled, int factor) {
  Block repeated;
  for (const Node& node : block) {
    if (const auto* loop = std::get_if<Loop>(&node.content)) {
      Loop jammed = *loop;
      jammed.body = repeat(loop->body, unrolled, factor);
      repeated.push_back(Node{std::move(jammed)});
      continue;
    }
    const auto& statement = std::get<Statement>(node.content);
    for (int step = 0; step < factor; ++step) {
      const Affine shifted = Affine::of(unrolled.iterator) + step;
      Statement copy = substitute(statement, unrolled.iterator, shifted);
      if (step > 0) {
        copy.guard.insert(copy.guard.begin(), less(shifted, unrolled.upper));
      }
      repeated.push_back(Node{std::move(copy)});
    }
  }
  return repeated;
}

/// Whether there is nothing but loops and updates: what is enumerated, cut or packed has more.
bool is_plain(const Block& block) {
  return std::ranges::all_of(block, [](const Node& node) {
    if (const auto* loop = std::get_if<Loop>(&node.content)) {
      return is_plain(loop->body);
    }
    const auto* statement = std::get_if<Statement>(&node.content);
    return statement != nullptr && std::holds_alternative<Update>(statement->action);
  });
}

}  // namespace

LoopNest unroll(const LoopNest& nest, const Unroll& directive) {
  const Loop* loop = find_loop(nest.body, directive.loop);
  if (loop == nullptr || loop->role != Role::row) {
    throw ScheduleError(directive, fmt::format("there is no row loop '{}' to unroll", directive.loop),
                        fmt::format("the loops of the nest are {}", list_iterators(nest.body)));
  }
  if (loop->step != 1) {
    throw ScheduleError(directive, fmt::format("loop '{}' is already unrolled by {}", directive.loop, loop->step.constant()),
                        "unroll each loop once");
  }
  if (!is_plain(loop->body)) {
    throw ScheduleError(directive, fmt::format("the statements of loop '{}' are already transformed", directive.loop),
                        "unroll the row loop before anything else");
  }
  if (directive.factor < 1 || directive.factor > AtomicSchedule::max_ufi) {
    throw ScheduleError(
        directive, fmt::format("UFi={} is outside 1 to {}", directive.factor, AtomicSchedule::max_ufi),
        fmt::format("the nearest legal value is {}", std::clamp(directive.factor, 1, AtomicSchedule::max_ufi)));
  }
  LoopNest result = nest;
  result.body = replace_loop(nest.body, directive.loop, [&](const Loop& row) {
    Loop unrolled = row;
    unrolled.step = directive.factor;
    unrolled.body = repeat(row.body, row, directive.factor);
    return Block{Node{std::move(unrolled)}};
  });
  return result;
}

}  // namespace esc

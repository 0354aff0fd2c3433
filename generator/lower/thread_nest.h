#pragma once

#include <string>
#include <vector>

#include "generator/ir/loop_nest.h"
#include "generator/schedule/directive.h"

namespace esc {

/// A nest whose blocks own what they compute, taken apart: the loops over blocks, those over the threads of a block, both
/// outermost first and without bodies, and what each thread does. What the steps after the mapping have in common.
struct ThreadNest {
  std::vector<Loop> grid;
  std::vector<Loop> threads;
  Block body;

  /// The loop over threads with this iterator, or null.
  const Loop* thread(const std::string& iterator) const;
  /// Adds a loop over warps outside of all threads, or one over lanes in front of those over columns.
  void add_warps(const std::string& iterator, const std::string& extent, Role role);
  void add_lanes(const std::string& iterator, const std::string& extent, Role role);
};

/// Throws ScheduleError (place `step`) when the nest is not mapped to blocks.
ThreadNest take_apart(const LoopNest& nest, const Directive& step);
LoopNest put_together(const LoopNest& nest, const ThreadNest& parts);

/// The place in a body of its sequential loop of this role; the body's size when there is none.
std::size_t find_place(const Block& body, Role role);
/// Where what prepares the reduction loop goes: in front of what is only looked up for the end, which stands in front of it.
std::size_t find_opening(const Block& body);
/// The place of the first node that reads or writes an array of one of these roles, at any depth; the body's size when there
/// is none.
std::size_t find_use(const LoopNest& nest, const Block& body, const std::vector<ArrayRole>& roles);

/// The first of the columns of C that a lane has, once they are mapped.
Expression first_column_of_lane();

/// The one statement inside of nested loops, which follows the definitions of each body.
const Statement& innermost(const Loop& loop);
/// The loop with its innermost statement replaced.
Loop with_innermost(const Loop& loop, const Block& replacement);

/// for (iterator = 0; iterator < extent; iterator++), written out; and the same with another step.
Node unrolled_loop(const std::string& iterator, const std::string& extent, Role role, Block body);

/// Throws ScheduleError unless 1 <= value <= most; names the nearest that is. `of_what` may say what the most is a part of.
void check_between(const Directive& directive, const std::string& what, std::int64_t value, std::int64_t most,
                   const std::string& of_what = "");

/// Throws ScheduleError unless the value, 1 or more, is a power of two; names the nearest smaller one.
void check_power_of_two(const Directive& directive, const std::string& what, std::int64_t value);

/// Throws ScheduleError unless `array` is a sparse array of the nest.
void check_sparse(const LoopNest& nest, const Directive& directive, const std::string& array);

/// Lanes and warps of a block together.
std::int64_t count_threads(const LoopNest& nest, const ThreadNest& parts, Mapping mapping);

/// Throws ScheduleError unless `lanes`, with so many lane groups that share columns, are a whole warp: a lane without a part
/// of the work would repeat that of another.
void check_full_warps(std::int64_t lanes, std::int64_t groups, const Directive& directive);

}  // namespace esc

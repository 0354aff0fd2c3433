// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "generator/ir/loop_nest.h"
#include "generator/schedule/directive.h"

namespace esc {

/// Lanes of a warp.
inline constexpr int warp_size = 32;

/// A nest that is mapped to blocks, taken apart: the loops over blocks, those over the threads of a block, both
/// outermost first and without bodies, and what each thread does. What the steps after the mapping have in common.
struct ThreadNest {
  std::vector<Loop> grid;
  std::vector<Loop> threads;
  Block body;

  /// The loop over threads with this iterator, or null.
  const Loop* thread(const std::string& iterator) const;
  /// Lanes or warps of a block together.
  std::int64_t count_threads(const LoopNest& nest, Mapping mapping) const;
  /// Adds a loop over warps outside of all threads, or one over lanes before those over columns.
  void add_warps(const std::string& iterator, const std::string& extent, Role role);
  void add_lanes(const std::string& iterator, const std::string& extent, Role role);
};

/// Without loops where the nest is not mapped. With a step as the place, throws ScheduleError where it is not.
ThreadNest take_apart(const LoopNest& nest);
ThreadNest take_apart(const LoopNest& nest, const Directive& step);
/// The same of a nest whose threads end with a switch over patterns: family atomic, once mapped to blocks and lanes.
ThreadNest take_apart_cases(const LoopNest& nest, const Directive& step);
LoopNest put_together(const LoopNest& nest, const ThreadNest& parts);

/// The place in a body of its sequential loop of this role; the body's size when there is none.
std::size_t find_place(const Block& body, Role role);
/// The place of the definition of this name; the body's size when there is none.
std::size_t find_definition(const Block& body, const std::string& name);
/// Where what prepares the reduction loop goes: before what is only looked up for the end, which is in front
/// of it.
std::size_t find_opening(const Block& body);
/// The place of the first node that reads or writes an array of one of these roles, at any depth; the body's size when
/// there is none.
std::size_t find_use(const LoopNest& nest, const Block& body, const std::vector<ArrayRole>& roles);

/// The first of the columns of C that a lane has, once they are mapped.
Expression first_column_of_lane();

/// Whether the node defines how many columns a set has.
bool counts_columns(const Node& node);
/// 0 < count: the enumerated columns of a case are not none. Coarsening guards its adds with it; the data
/// transformation, which keeps no empty lists, drops it.
Expression has_columns();

/// The guard without the condition that something is less than this size.
Guard without_bound(Guard guard, const std::string& size);

/// Throws ScheduleError unless `lanes`, with so many lane groups that share columns, are a whole warp: a lane without a
/// part of the work would repeat that of another.
void check_full_warps(std::int64_t lanes, std::int64_t groups, const Directive& directive);

/// Puts the arrays of its packed form in place of the sparse one.
void replace_sparse(LoopNest& nest, const std::vector<ArrayDeclaration>& packed);

}  // namespace esc

#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "generator/ir/loop_nest.h"
#include "generator/schedule/directive.h"

namespace esc {

/// What the threads of a block do between two barriers: `body` in every one of the loops over warps and lanes around
/// it, outermost first, whose own bodies are empty here.
struct Phase {
  std::vector<Loop> threads;
  Block body;
};

/// A nest whose blocks own panels, taken apart: grid > [grid over tiles of columns >] phases, one behind the other.
/// What the steps of the family have in common: getting at the phases and putting them back.
struct PanelNest {
  Loop grid;
  std::optional<Loop> tiles;
  std::vector<Phase> phases;
};

/// A loop whose iterations are shared out to the warps of a block or the lanes of a warp.
Loop thread_loop(const std::string& iterator, std::int64_t count, Role role, Mapping mapping);

/// The phase as a block. A loop of one iteration is left out, its iterator 0.
Block wrap(const Phase& phase);

/// Whether the columns of C are cut into tiles: only steps of this family do that.
bool has_tiles(const LoopNest& nest);

/// Throws ScheduleError (place `step`) when the rows are not mapped to the grid.
PanelNest take_apart(const LoopNest& nest, const Directive& step);
LoopNest put_together(const LoopNest& nest, const PanelNest& parts);

/// The nest with every grid of it changed: family panel has one, family rows one for heavy tasks and one for light ones,
/// whose blocks run beside each other. Throws ScheduleError (place `step`) when there is none.
LoopNest change_grids(const LoopNest& nest, const Directive& step, const std::function<void(PanelNest&)>& change);

/// The number of warps or lanes that loops of this mapping take.
std::int64_t count_threads(const std::vector<Loop>& threads, Mapping mapping);

/// The loop with this iterator, or null; its iterations, 1 where it was left out; and its iterator, then 0.
const Loop* find_thread(const std::vector<Loop>& threads, const std::string& iterator);
std::int64_t extent(const std::vector<Loop>& threads, const std::string& iterator);
Affine digit(const std::vector<Loop>& threads, const std::string& iterator);

/// The body in a sequential loop from 0 to `count`, which is left out where it has one iteration.
Block loop_over(const std::string& iterator, std::int64_t count, Role role, const Block& body);

/// The sequential loop of a body, and the statement in front of it that defines an index variable; null when it is not
/// there.
Loop* find_loop_over(Block& body, Role role);
DefineIndex* find_definition(Block& body, const std::string& name);

/// Whether the block reads the index variable.
bool mentions(const Block& block, const std::string& name);

/// The update of a node, which must hold one.
const Update& update_of(const Node& node);

/// "c<row>_<column>": the sum of an element of C, by its place in the panel and among the lane's columns.
std::string sum_name(const Access& element);

}  // namespace esc

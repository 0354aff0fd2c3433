#include "generator/lower/panel_nest.h"

#include <fmt/format.h>

#include <utility>

#include "generator/ir/rewrite.h"
#include "generator/support/error.h"

namespace esc {
namespace {

bool is_thread_loop(const Node& node) {
  const auto* loop = std::get_if<Loop>(&node.content);
  return loop != nullptr && (loop->mapping == Mapping::warp_digit || loop->mapping == Mapping::lane_digit);
}

Loop without_body(const Loop& loop) {
  Loop bare = loop;
  bare.body.clear();
  return bare;
}

Phase peel(const Node& node) {
  Phase phase;
  const Node* current = &node;
  while (is_thread_loop(*current)) {
    const Loop& loop = std::get<Loop>(current->content);
    phase.threads.push_back(without_body(loop));
    if (loop.body.size() != 1 || !is_thread_loop(loop.body.front())) {
      phase.body = loop.body;
      break;
    }
    current = &loop.body.front();
  }
  return phase;
}

/// Statements that stand in no loop over threads are a phase of one thread.
std::vector<Phase> find_phases(const Block& block) {
  std::vector<Phase> phases;
  bool serial = false;
  for (const Node& node : block) {
    if (is_thread_loop(node)) {
      phases.push_back(peel(node));
    } else if (serial) {
      phases.back().body.push_back(node);
    } else {
      phases.push_back({{}, {node}});
    }
    serial = !is_thread_loop(node);
  }
  return phases;
}

const Loop* find_grid(const Block& block, Mapping mapping) {
  const auto* loop = block.size() == 1 ? std::get_if<Loop>(&block.front().content) : nullptr;
  return loop != nullptr && loop->mapping == mapping ? loop : nullptr;
}

}  // namespace

Loop thread_loop(const std::string& iterator, std::int64_t count, Role role, Mapping mapping) {
  return {iterator, 0, count, 1, role, mapping, {}};
}

Block wrap(const Phase& phase) {
  Block block = phase.body;
  for (auto loop = phase.threads.rbegin(); loop != phase.threads.rend(); ++loop) {
    if (loop->upper == Affine(1)) {
      block = substitute(block, loop->iterator, 0);
      continue;
    }
    Loop around = *loop;
    around.body = std::move(block);
    block = {Node{std::move(around)}};
  }
  return block;
}

bool has_tiles(const LoopNest& nest) {
  const Loop* grid = find_grid(nest.body, Mapping::grid);
  return grid != nullptr && find_grid(grid->body, Mapping::grid_y) != nullptr;
}

PanelNest take_apart(const LoopNest& nest, const Directive& step) {
  const Loop* grid = find_grid(nest.body, Mapping::grid);
  if (grid == nullptr) {
    throw ScheduleError(step, "the panels are not mapped to the grid", "map the row loop first");
  }
  PanelNest parts{without_body(*grid), std::nullopt, {}};
  const Loop* tiles = find_grid(grid->body, Mapping::grid_y);
  if (tiles != nullptr) {
    parts.tiles = without_body(*tiles);
  }
  parts.phases = find_phases(tiles != nullptr ? tiles->body : grid->body);
  return parts;
}

LoopNest put_together(const LoopNest& nest, const PanelNest& parts) {
  Block block;
  for (const Phase& phase : parts.phases) {
    const Block wrapped = wrap(phase);
    block.insert(block.end(), wrapped.begin(), wrapped.end());
  }
  if (parts.tiles) {
    Loop tiles = *parts.tiles;
    tiles.body = std::move(block);
    block = {Node{std::move(tiles)}};
  }
  LoopNest result = nest;
  Loop grid = parts.grid;
  grid.body = std::move(block);
  result.body = {Node{std::move(grid)}};
  return result;
}

LoopNest change_grids(const LoopNest& nest, const Directive& step, const std::function<void(PanelNest&)>& change) {
  LoopNest result = nest;
  result.body.clear();
  for (const Node& node : nest.body) {
    LoopNest one = nest;
    one.body = {node};
    PanelNest parts = take_apart(one, step);
    change(parts);
    result.body.push_back(put_together(one, parts).body.front());
  }
  return result;
}

std::int64_t count_threads(const std::vector<Loop>& threads, Mapping mapping) {
  std::int64_t count = 1;
  for (const Loop& loop : threads) {
    count *= loop.mapping == mapping ? loop.upper.constant() : 1;
  }
  return count;
}

const Loop* find_thread(const std::vector<Loop>& threads, const std::string& iterator) {
  for (const Loop& loop : threads) {
    if (loop.iterator == iterator) {
      return &loop;
    }
  }
  return nullptr;
}

std::int64_t extent(const std::vector<Loop>& threads, const std::string& iterator) {
  const Loop* loop = find_thread(threads, iterator);
  return loop == nullptr ? 1 : loop->upper.constant();
}

Affine digit(const std::vector<Loop>& threads, const std::string& iterator) {
  return find_thread(threads, iterator) == nullptr ? Affine(0) : Affine::of(iterator);
}

Block loop_over(const std::string& iterator, std::int64_t count, Role role, const Block& body) {
  return count == 1 ? substitute(body, iterator, 0)
                    : Block{Node{Loop{iterator, 0, count, 1, role, Mapping::sequential, body}}};
}

Loop* find_loop_over(Block& body, Role role) {
  for (Node& node : body) {
    auto* loop = std::get_if<Loop>(&node.content);
    if (loop != nullptr && loop->mapping == Mapping::sequential && loop->role == role) {
      return loop;
    }
  }
  return nullptr;
}

DefineIndex* find_definition(Block& body, const std::string& name) {
  for (Node& node : body) {
    auto* statement = std::get_if<Statement>(&node.content);
    auto* index = statement == nullptr ? nullptr : std::get_if<DefineIndex>(&statement->action);
    if (index != nullptr && index->name == name) {
      return index;
    }
  }
  return nullptr;
}

bool mentions(const Block& block, const std::string& name) {
  bool found = false;
  rewrite(block, {.affine =
                      [&](const Affine& affine) {
                        found = found || affine.mentions(name);
                        return affine;
                      },
                  .access =
                      [&](const Access& access) {
                        for (const Subscript& subscript : access.subscripts) {
                          found = found || subscript.offset == name;
                        }
                        return access;
                      },
                  .operand = {},
                  .definition = {}});
  return found;
}

const Update& update_of(const Node& node) { return std::get<Update>(std::get<Statement>(node.content).action); }

std::string sum_name(const Access& element) {
  return fmt::format("c{}_{}", element.subscripts[0].affine.constant(), element.subscripts[1].affine.constant());
}

}  // namespace esc

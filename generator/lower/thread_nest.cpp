// SPDX-License-Identifier: Apache-2.0
#include "generator/lower/thread_nest.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "generator/ir/build.h"
#include "generator/ir/evaluate.h"
#include "generator/ir/rewrite.h"
#include "generator/lower/refusals.h"

namespace esc {
namespace {

Block wrap(const std::vector<Loop>& loops, Block body) {
  for (auto loop = loops.rbegin(); loop != loops.rend(); ++loop) {
    Loop around = *loop;
    around.body = std::move(body);
    body = {Node{std::move(around)}};
  }
  return body;
}

template <typename Wanted>
std::size_t find_node(const Block& body, Wanted wanted) {
  return static_cast<std::size_t>(std::ranges::find_if(body, wanted) - body.begin());
}

}  // namespace

const Loop* ThreadNest::thread(const std::string& iterator) const {
  const auto found = std::ranges::find(threads, iterator, &Loop::iterator);
  return found == threads.end() ? nullptr : &*found;
}

std::int64_t ThreadNest::count_threads(const LoopNest& nest, Mapping mapping) const {
  const Environment constants = constants_of(nest);
  std::int64_t count = 1;
  for (const Loop& loop : threads) {
    count *= loop.mapping == mapping ? evaluate_index(loop.upper, constants) : 1;
  }
  return count;
}

void ThreadNest::add_warps(const std::string& iterator, const std::string& extent, Role role) {
  threads.insert(threads.begin(), mapped_loop(Mapping::warp_digit, iterator, Affine::of(extent), role));
}

void ThreadNest::add_lanes(const std::string& iterator, const std::string& extent, Role role) {
  const auto columns = std::ranges::find(threads, Role::column, &Loop::role);
  threads.insert(columns, mapped_loop(Mapping::lane_digit, iterator, Affine::of(extent), role));
}

ThreadNest take_apart(const LoopNest& nest) {
  ThreadNest parts{{}, {}, nest.body};
  for (const Loop* loop = only<Loop>(&nest); loop != nullptr && is_mapped(loop->mapping); loop = only<Loop>(loop)) {
    auto& loops = is_grid(loop->mapping) ? parts.grid : parts.threads;
    loops.push_back(*loop);
    loops.back().body.clear();
    parts.body = loop->body;
  }
  return parts;
}

ThreadNest take_apart(const LoopNest& nest, const Directive& step) {
  ThreadNest parts = take_apart(nest);
  refuse_if(parts.grid.empty(), step, "the rows are not mapped to the grid", "map the row loop first");
  return parts;
}

ThreadNest take_apart_cases(const LoopNest& nest, const Directive& step) {
  ThreadNest parts = take_apart(nest);
  refuse_if(parts.thread("lane") == nullptr || !std::holds_alternative<Switch>(parts.body.back().content), step,
            "the nest is not mapped to blocks and lanes", "map the row and column loops first");
  return parts;
}

LoopNest put_together(const LoopNest& nest, const ThreadNest& parts) {
  LoopNest result = nest;
  result.body = wrap(parts.grid, wrap(parts.threads, parts.body));
  return result;
}

std::size_t find_place(const Block& body, Role role) {
  return find_node(body, [&](const Node& node) {
    const auto* loop = std::get_if<Loop>(&node.content);
    return loop != nullptr && loop->mapping == Mapping::sequential && loop->role == role;
  });
}

std::size_t find_definition(const Block& body, const std::string& name) {
  return find_node(body, [&](const Node& node) {
    const auto* defined = action<Define>(node);
    return defined != nullptr && defined->name == name;
  });
}

std::size_t find_opening(const Block& body) {
  return std::min(find_definition(body, "first_output"), find_place(body, Role::reduction));
}

std::size_t find_use(const LoopNest& nest, const Block& body, const std::vector<ArrayRole>& roles) {
  return find_node(body, [&](const Node& node) {
    bool uses = false;
    rewrite(Block{node}, {.access = [&](const Access& access) {
              const ArrayDeclaration* array = nest.find_array(access.array);
              uses = uses || (array != nullptr && std::ranges::find(roles, array->role) != roles.end());
              return access;
            }});
    return uses;
  });
}

Expression first_column_of_lane() {
  return index("tile") * index("tile_columns") + index("lane") * index("vector_width");
}

bool counts_columns(const Node& node) {
  const auto* defined = action<Define>(node);
  return defined != nullptr && std::holds_alternative<ColumnCount>(defined->value.content);
}

Expression has_columns() { return less(0, index("count")); }

Guard without_bound(Guard guard, const std::string& size) {
  std::erase_if(guard, [&](const Expression& condition) {
    const Operation* bound = condition.operation(Operator::less);
    return bound != nullptr && bound->operands.back() == index(size);
  });
  return guard;
}

void check_full_warps(std::int64_t lanes, std::int64_t groups, const Directive& directive) {
  refuse_if(lanes != warp_size, directive, fmt::format("{} of a warp's {} lanes have work", lanes, warp_size),
            fmt::format("give it groups={}", groups * warp_size / lanes));
}

void replace_sparse(LoopNest& nest, const std::vector<ArrayDeclaration>& packed) {
  std::erase_if(nest.arrays, [](const ArrayDeclaration& array) { return array.role == ArrayRole::sparse; });
  nest.arrays.insert(nest.arrays.end(), packed.begin(), packed.end());
}

}  // namespace esc

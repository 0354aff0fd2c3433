#include "generator/lower/thread_nest.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "generator/ir/evaluate.h"
#include "generator/ir/rewrite.h"
#include "generator/lower/mapped_nest.h"

namespace esc {
namespace {

/// Whether blocks own what the threads of this loop compute; loops that only hand columns to warps and lanes are no such.
bool is_of_owner(const Loop& loop) {
  return loop.mapping == Mapping::warp_digit || loop.mapping == Mapping::lane_digit || loop.mapping == Mapping::threads;
}

const Loop* only_loop(const Block& block) {
  return block.size() == 1 ? std::get_if<Loop>(&block.front().content) : nullptr;
}

Loop without_body(Loop loop) {
  loop.body.clear();
  return loop;
}

Block wrap(const std::vector<Loop>& loops, Block body) {
  for (auto loop = loops.rbegin(); loop != loops.rend(); ++loop) {
    Loop around = *loop;
    around.body = std::move(body);
    body = {Node{std::move(around)}};
  }
  return body;
}

}  // namespace

const Loop* ThreadNest::thread(const std::string& iterator) const {
  const auto found = std::ranges::find(threads, iterator, &Loop::iterator);
  return found == threads.end() ? nullptr : &*found;
}

void ThreadNest::add_warps(const std::string& iterator, const std::string& extent, Role role) {
  threads.insert(threads.begin(), Loop{iterator, 0, Affine::of(extent), 1, role, Mapping::warp_digit, {}});
}

void ThreadNest::add_lanes(const std::string& iterator, const std::string& extent, Role role) {
  const auto columns = std::ranges::find(threads, Role::column, &Loop::role);
  threads.insert(columns, Loop{iterator, 0, Affine::of(extent), 1, role, Mapping::lane_digit, {}});
}

ThreadNest take_apart(const LoopNest& nest, const Directive& step) {
  ThreadNest parts;
  const Block* block = &nest.body;
  for (const Loop* loop = only_loop(*block); loop != nullptr && is_grid(loop->mapping); loop = only_loop(*block)) {
    parts.grid.push_back(without_body(*loop));
    block = &loop->body;
  }
  if (parts.grid.empty()) {
    throw ScheduleError(step, "the rows are not mapped to the grid", "map the row loop first");
  }
  for (const Loop* loop = only_loop(*block); loop != nullptr && is_of_owner(*loop); loop = only_loop(*block)) {
    parts.threads.push_back(without_body(*loop));
    block = &loop->body;
  }
  parts.body = *block;
  return parts;
}

LoopNest put_together(const LoopNest& nest, const ThreadNest& parts) {
  LoopNest result = nest;
  result.body = wrap(parts.grid, wrap(parts.threads, parts.body));
  return result;
}

std::size_t find_place(const Block& body, Role role) {
  const auto found = std::ranges::find_if(body, [&](const Node& node) {
    const auto* loop = std::get_if<Loop>(&node.content);
    return loop != nullptr && loop->mapping == Mapping::sequential && loop->role == role;
  });
  return static_cast<std::size_t>(found - body.begin());
}

std::size_t find_opening(const Block& body) {
  const auto found = std::ranges::find_if(body, [](const Node& node) {
    const auto* statement = std::get_if<Statement>(&node.content);
    const auto* defined = statement == nullptr ? nullptr : std::get_if<Define>(&statement->action);
    return defined != nullptr && defined->name == "first_output";
  });
  return std::min(static_cast<std::size_t>(found - body.begin()), find_place(body, Role::reduction));
}

std::size_t find_use(const LoopNest& nest, const Block& body, const std::vector<ArrayRole>& roles) {
  const auto found = std::ranges::find_if(body, [&](const Node& node) {
    bool uses = false;
    rewrite(Block{node}, {.access = [&](const Access& access) {
              const ArrayDeclaration* array = nest.find_array(access.array);
              uses = uses || (array != nullptr && std::ranges::find(roles, array->role) != roles.end());
              return access;
            }});
    return uses;
  });
  return static_cast<std::size_t>(found - body.begin());
}

Expression first_column_of_lane() {
  return index("tile") * index("tile_columns") + index("lane") * index("vector_width");
}

const Statement& innermost(const Loop& loop) {
  ESC_CHECK(!loop.body.empty(), "a loop does something");
  const auto* inner = std::get_if<Loop>(&loop.body.back().content);
  return inner != nullptr ? innermost(*inner) : std::get<Statement>(loop.body.back().content);
}

Loop with_innermost(const Loop& loop, const Block& replacement) {
  Loop result = loop;
  if (auto* inner = std::get_if<Loop>(&result.body.back().content)) {
    *inner = with_innermost(*inner, replacement);
    return result;
  }
  result.body.pop_back();
  result.body.insert(result.body.end(), replacement.begin(), replacement.end());
  return result;
}

Node unrolled_loop(const std::string& iterator, const std::string& extent, Role role, Block body) {
  return Node{Loop{iterator, 0, Affine::of(extent), 1, role, Mapping::unrolled, std::move(body)}};
}

void check_between(const Directive& directive, const std::string& what, std::int64_t value, std::int64_t most,
                   const std::string& of_what) {
  if (value < 1 || value > most) {
    throw ScheduleError(directive, fmt::format("{}={} is outside 1 to {}{}", what, value, most, of_what),
                        fmt::format("the nearest legal value is {}", std::clamp<std::int64_t>(value, 1, most)));
  }
}

void check_power_of_two(const Directive& directive, const std::string& what, std::int64_t value) {
  const auto positive = static_cast<std::uint64_t>(value);
  if (!std::has_single_bit(positive)) {
    throw ScheduleError(directive, fmt::format("{}={} is no power of two", what, value),
                        fmt::format("the nearest legal value is {}", std::bit_floor(positive)));
  }
}

void check_sparse(const LoopNest& nest, const Directive& directive, const std::string& array) {
  const ArrayDeclaration* found = nest.find_array(array);
  if (found == nullptr || found->role != ArrayRole::sparse) {
    throw ScheduleError(directive, fmt::format("'{}' is not a sparse array of the nest", array),
                        "transform the sparse array, once");
  }
}

std::int64_t count_threads(const LoopNest& nest, const ThreadNest& parts, Mapping mapping) {
  const Environment constants = constants_of(nest);
  std::int64_t count = 1;
  for (const Loop& loop : parts.threads) {
    count *= loop.mapping == mapping ? evaluate_index(loop.upper, constants) : 1;
  }
  return count;
}

void check_full_warps(std::int64_t lanes, std::int64_t groups, const Directive& directive) {
  if (lanes != warp_size) {
    throw ScheduleError(directive, fmt::format("{} of a warp's {} lanes have work", lanes, warp_size),
                        fmt::format("give it groups={}", groups * warp_size / lanes));
  }
}

}  // namespace esc

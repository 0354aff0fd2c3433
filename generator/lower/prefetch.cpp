#include "generator/lower/prefetch.h"

#include <fmt/format.h>

#include <utility>

#include "generator/ir/rewrite.h"
#include "generator/lower/thread_nest.h"

namespace esc {
namespace {

/// The loads of one iteration into another array, for another place of the loop.
Block loads_into(const Block& loads, const std::string& array, const std::string& iterator, const Affine& place) {
  return rewrite(loads, {.affine = [&](const Affine& affine) { return affine.substitute(iterator, place); },
                         .access = [&](const Access& access) {
                           return access.array == "current" ? Access{array, access.subscripts} : access;
                         }});
}

bool is_update(const Node& node) {
  const auto* statement = std::get_if<Statement>(&node.content);
  return statement != nullptr && std::holds_alternative<Update>(statement->action);
}

/// The loads of an iteration, what moves on from it, and what is done with what was loaded.
struct Iteration {
  Block loads;
  Block advances;
  Block rest;
};

Iteration take_apart(const LoopNest& nest, const Loop& loop) {
  Iteration parts;
  const std::size_t use = find_use(nest, loop.body, {ArrayRole::dense});
  for (std::size_t at = 1; at < use; ++at) {
    (is_update(loop.body[at]) ? parts.advances : parts.loads).push_back(loop.body[at]);
  }
  parts.rest.assign(loop.body.begin() + static_cast<std::ptrdiff_t>(use), loop.body.end());
  return parts;
}

/// current[q] = next[q] in front of the loads of a round, which are into next.
Node take_over_quads(const Node& load) {
  Loop around = std::get<Loop>(load.content);
  const Access quad{"current", {{"", Affine::of(around.iterator)}}};
  around.body.insert(around.body.begin(), Node{Statement{{}, Copy{quad, {"next", quad.subscripts}}}});
  return Node{std::move(around)};
}

/// The first loads find registers that are zero.
Node without_clearing(const Node& load) {
  Loop around = std::get<Loop>(load.content);
  around.body.erase(around.body.begin());
  return Node{std::move(around)};
}

/// What is asked for in front of the loop, and how an iteration begins.
struct Prefetched {
  Block first;
  Block each;
};

Prefetched prefetch_quads(const Loop& loop, const Iteration& parts) {
  const Block loads = loads_into(parts.loads, "next", loop.iterator, Affine::of(loop.iterator));
  Prefetched result{{without_clearing(loads.front())}, parts.advances};
  result.each.push_back(Node{Declare{"current"}});
  result.each.push_back(take_over_quads(loads.front()));
  return result;
}

Prefetched prefetch_pairs(const Loop& loop, const Iteration& parts) {
  const Affine following = Affine::of(loop.iterator) + loop.step;
  const Block first = loads_into(parts.loads, "next", loop.iterator, loop.lower);
  return {{Node{Branch{less(loop.lower, loop.upper), first}}},
          {loop.body.front(), Node{Statement{{}, Copy{{"current", {}}, {"next", {}}}}},
           Node{Branch{less(following, loop.upper), loads_into(parts.loads, "next", loop.iterator, following)}}}};
}

}  // namespace

LoopNest prefetch(const LoopNest& nest, const Prefetch& directive) {
  ThreadNest parts = esc::take_apart(nest, directive);
  const std::size_t at = find_place(parts.body, Role::reduction);
  const ArrayDeclaration* current = nest.find_array("current");
  if (directive.array != "A" || current == nullptr || at == parts.body.size()) {
    throw ScheduleError(directive, fmt::format("columns of '{}' are not taken several at a time", directive.array),
                        "batch the columns of A first");
  }
  if (nest.find_array("next") != nullptr || nest.find_array("StagedColumns") != nullptr) {
    throw ScheduleError(directive, "what is read of A is already on its way", "prefetch or stage once");
  }
  Loop& loop = std::get<Loop>(parts.body[at].content);
  const Iteration iteration = take_apart(nest, loop);
  Prefetched prefetched =
      nest.packed.kind == PackedForm::Kind::regions ? prefetch_quads(loop, iteration) : prefetch_pairs(loop, iteration);
  loop.body = std::move(prefetched.each);
  loop.body.insert(loop.body.end(), iteration.rest.begin(), iteration.rest.end());
  prefetched.first.insert(
      prefetched.first.begin(),
      {Node{Note{"The first of it is asked for here, and each further one while the one before is multiplied."}},
       Node{Declare{"next", true}}});
  parts.body.insert(parts.body.begin() + static_cast<std::ptrdiff_t>(find_opening(parts.body)), prefetched.first.begin(),
                    prefetched.first.end());

  LoopNest result = put_together(nest, parts);
  ArrayDeclaration next = *current;
  next.name = "next";
  result.arrays.push_back(std::move(next));
  return result;
}

}  // namespace esc

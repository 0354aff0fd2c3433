// SPDX-License-Identifier: Apache-2.0
#include "generator/lower/prefetch.h"

#include <fmt/format.h>

#include <utility>

#include "generator/ir/build.h"
#include "generator/ir/rewrite.h"
#include "generator/lower/refusals.h"
#include "generator/lower/thread_nest.h"

namespace esc {
namespace {

/// The loads of one iteration into another array, for another place of the loop.
Block loads_into(const Block& loads, const std::string& array, const std::string& iterator, const Affine& place) {
  return rewrite(loads, {.affine = [&](const Affine& affine) { return affine.substitute(iterator, place); },
                         .access =
                             [&](const Access& access) {
                               return access.array == "current" ? Access{array, access.subscripts} : access;
                             }});
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
  for (std::size_t at = 1; at < loop.body.size(); ++at) {
    const Node& node = loop.body[at];
    (at >= use ? parts.rest : action<Update>(node) != nullptr ? parts.advances : parts.loads).push_back(node);
  }
  return parts;
}

/// What is asked for before the loop, and how an iteration begins.
struct Prefetched {
  Block first;
  Block each;
};

/// The first loads find registers that are zero; those of a round are into next, whose packets it takes over before.
Prefetched prefetch_packets(const Loop& loop, const Iteration& parts) {
  const Block loads = loads_into(parts.loads, "next", loop.iterator, Affine::of(loop.iterator));
  auto first = std::get<Loop>(loads.front().content);
  Loop each = first;
  first.body.erase(first.body.begin());
  const std::vector<Affine> packet{Affine::of(each.iterator)};
  insert(each.body, 0, {statement(Copy{element("current", packet), element("next", packet)})});
  Prefetched result{{Node{std::move(first)}}, parts.advances};
  append(result.each, {Node{Declare{"current"}}, Node{std::move(each)}});
  return result;
}

Prefetched prefetch_pairs(const Loop& loop, const Iteration& parts) {
  const auto load_at = [&](const Affine& place) {
    return Node{Branch{less(place, loop.upper), loads_into(parts.loads, "next", loop.iterator, place), {}}};
  };
  return {{load_at(loop.lower)},
          {loop.body.front(), statement(Copy{element("current"), element("next")}),
           load_at(Affine::of(loop.iterator) + loop.step)}};
}

}  // namespace

LoopNest prefetch(const LoopNest& nest, const Prefetch& directive) {
  ThreadNest parts = esc::take_apart(nest, directive);
  const std::size_t at = find_place(parts.body, Role::reduction);
  const ArrayDeclaration* current = nest.find_array("current");
  refuse_if(directive.array != "A" || current == nullptr || at == parts.body.size(), directive,
            fmt::format("columns of '{}' are not taken several at a time", directive.array),
            "batch the columns of A first");
  refuse_if(nest.find_array("next") != nullptr || nest.find_array("StagedColumns") != nullptr, directive,
            "what is read of A is already on its way", "prefetch or stage once");
  auto& loop = std::get<Loop>(parts.body[at].content);
  const Iteration iteration = take_apart(nest, loop);
  Prefetched prefetched = nest.packed.kind == PackedForm::Kind::regions ? prefetch_packets(loop, iteration)
                                                                        : prefetch_pairs(loop, iteration);
  loop.body = std::move(prefetched.each);
  append(loop.body, iteration.rest);
  insert(prefetched.first, 0,
         {Node{Note{"The first loads are issued here, each later one while the previous one is multiplied."}},
          Node{Declare{"next", true}}});
  insert(parts.body, find_opening(parts.body), prefetched.first);

  LoopNest result = put_together(nest, parts);
  ArrayDeclaration next = *current;
  next.name = "next";
  result.arrays.push_back(std::move(next));
  return result;
}

}  // namespace esc

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

/// current = next, in loops as those of the loads.
Node take_over(const Node& load) {
  if (const auto* loop = std::get_if<Loop>(&load.content)) {
    Loop around = *loop;
    around.body = {take_over(loop->body.front())};
    return Node{std::move(around)};
  }
  const auto& perform = std::get<Perform>(std::get<Statement>(load.content).action);
  const Access target = *perform.arguments.front().access();
  return Node{Statement{{}, Copy{target, {"next", target.subscripts}}}};
}

/// Whether the node moves the place from which the loads read.
bool goes_on(const Node& node) {
  const auto* statement = std::get_if<Statement>(&node.content);
  return statement != nullptr && std::holds_alternative<Update>(statement->action);
}

}  // namespace

LoopNest prefetch(const LoopNest& nest, const Prefetch& directive) {
  ThreadNest parts = take_apart(nest, directive);
  const std::size_t at = find_place(parts.body, Role::reduction);
  const ArrayDeclaration* current = nest.find_array("current");
  if (directive.array != "A" || current == nullptr || at == parts.body.size()) {
    throw ScheduleError(directive, fmt::format("columns of '{}' are not taken several at a time", directive.array),
                        "batch the columns of A first");
  }
  if (nest.find_array("next") != nullptr || nest.find_array("StagedSteps") != nullptr) {
    throw ScheduleError(directive, "what is read of A is already on its way", "prefetch or stage once");
  }
  Loop& loop = std::get<Loop>(parts.body[at].content);
  const std::size_t use = find_use(nest, loop.body, {ArrayRole::dense});
  Block loads(loop.body.begin() + 1, loop.body.begin() + static_cast<std::ptrdiff_t>(use));
  const Affine following = Affine::of(loop.iterator) + loop.step;

  Block body{loop.body.front(), take_over(loads.front())};
  if (goes_on(loads.back())) {
    body.push_back(loads.back());
    loads.pop_back();
  }
  body.push_back(Node{Branch{less(following, loop.upper), loads_into(loads, "next", loop.iterator, following)}});
  body.insert(body.end(), loop.body.begin() + static_cast<std::ptrdiff_t>(use), loop.body.end());
  loop.body = std::move(body);

  Block first = loads_into(loads, "next", loop.iterator, loop.lower);
  if (nest.packed.kind == PackedForm::Kind::tasks) {
    first = {Node{Branch{less(loop.lower, loop.upper), first}}};
  }
  first.insert(first.begin(), Node{Declare{"next", nest.packed.kind == PackedForm::Kind::tasks}});
  first.insert(first.begin(),
               Node{Note{"The first of it is asked for here, and each further one while the one before is multiplied."}});
  parts.body.insert(parts.body.begin() + static_cast<std::ptrdiff_t>(at), first.begin(), first.end());

  LoopNest result = put_together(nest, parts);
  ArrayDeclaration next = *current;
  next.name = "next";
  result.arrays.push_back(std::move(next));
  return result;
}

}  // namespace esc

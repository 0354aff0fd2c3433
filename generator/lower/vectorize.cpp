// SPDX-License-Identifier: Apache-2.0
#include "generator/lower/vectorize.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "generator/ir/build.h"
#include "generator/ir/rewrite.h"
#include "generator/lower/refusals.h"
#include "generator/lower/thread_nest.h"

namespace esc {
namespace {

/// The element that the loop over a lane's columns begins at.
Access first_of(const Access& access) {
  Access first = access;
  first.subscripts.back().affine = first.subscripts.back().affine.substitute("w", 0);
  return first;
}

/// How many columns there are from the one in which the access begins.
Expression columns_left(const Access& first) {
  const Expression column = first.subscripts.back().affine;
  return choose(less(column, index("N")), index("N") - column, 0);
}

/// What a loop over a lane's columns does, as one instruction.
Node move_at_once(const LoopNest& nest, const Loop& loop) {
  const auto& statement = std::get<Statement>(loop.body.front().content);
  const auto* update = std::get_if<Update>(&statement.action);
  const auto* store = std::get_if<Store>(&statement.action);
  const Access to = first_of(update != nullptr ? *update->target.access() : store->target);
  const Access from = first_of(*(update != nullptr ? update->value : store->value).access());
  const ArrayRole role = nest.find_array(to.array)->role;
  if (role == ArrayRole::output) {
    const Perform moved{update != nullptr ? "add_columns" : "store_columns", {to, from, loop.upper, columns_left(to)}};
    return Node{Statement{without_bound(statement.guard, "N"), moved}};
  }
  const char* const copied = role == ArrayRole::shared ? "store_vector" : "load_vector";
  return perform(update != nullptr ? "add_vector" : copied, {to, from, loop.upper});
}

Node widen(const LoopNest& nest, const Node& node) {
  const auto* loop = std::get_if<Loop>(&node.content);
  if (loop != nullptr && loop->iterator == "w" && loop->role == Role::column) {
    return move_at_once(nest, *loop);
  }
  // Sums that are added to C in one case and stored in the other.
  const auto* branch = std::get_if<Branch>(&node.content);
  const auto* store =
      branch == nullptr || branch->otherwise.empty() ? nullptr : action<Perform>(branch->otherwise.front());
  if (store == nullptr || store->instruction != "store_columns") {
    return node;
  }
  std::vector<Expression> arguments = store->arguments;
  arguments.push_back(branch->condition);
  return perform("epilogue_store", std::move(arguments));
}

/// The loop over columns of A, each of which brings its part of a row of B.
Loop load_parts(const LoopNest& nest, Loop dealt) {
  if (auto* steps = std::get_if<Loop>(&dealt.body.front().content)) {
    *steps = load_parts(nest, *steps);
    return dealt;
  }
  Access row{nest.array(ArrayRole::dense).name, {}};
  dealt.body = change_updates(dealt.body, [&](Guard& guard, Update& update) {
    guard = without_bound(guard, "N");
    row.subscripts = {factors(update.value).back().access()->subscripts.front()};
    update.value = with_factor(update.value, 1, element("part_of_b", {Affine::of("v")}));
  });
  insert(dealt.body, dealt.body.size() - 1,
         {Node{Declare{"part_of_b"}}, perform("load_part", {element("part_of_b"), row, element("columns")})});
  return dealt;
}

}  // namespace

LoopNest vectorize(const LoopNest& nest, const Vectorize& directive) {
  ThreadNest parts = take_apart(nest, directive);
  refuse_if(nest.vectors, directive, "the columns of a lane are already moved at once", "vectorize once");
  const std::size_t place = find_place(parts.body, Role::reduction);
  refuse_if(nest.find_array("sums") == nullptr || place == parts.body.size(), directive,
            "the sums are not in registers", "accumulate the sums first");
  const auto first_column = std::ranges::find_if(parts.body, [&](const Node& node) {
    const auto* defined = action<Define>(node);
    return defined != nullptr && defined->name == directive.loop && defined->value == first_column_of_lane();
  });
  refuse_if(first_column == parts.body.end(), directive,
            fmt::format("'{}' does not run over the columns of a lane", directive.loop),
            "name the loop over columns of C, once it is mapped");
  const std::size_t clamped = static_cast<std::size_t>(first_column - parts.body.begin()) + 1;
  parts.body[place] = Node{load_parts(nest, std::get<Loop>(parts.body[place].content))};
  parts.body = rewrite(parts.body, {.around = [&](const Node& node) { return widen(nest, node); }});
  insert(parts.body, clamped,
         {Node{Declare{"columns"}}, perform("clamp_columns", {element("columns"), index(directive.loop), index("N")})});

  LoopNest result = put_together(nest, parts);
  result.vectors = true;
  result.arrays.push_back({"columns", {Affine::of("vector_width")}, ArrayRole::registers, ScalarType::u32});
  result.arrays.back().holds_columns = true;
  result.arrays.push_back({"part_of_b", {Affine::of("vector_width")}, ArrayRole::registers, nest.element(), "Part"});
  return result;
}

}  // namespace esc

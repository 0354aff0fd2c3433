#include "generator/lower/canonicalize.h"

#include <map>
#include <string>

#include "generator/ir/rewrite.h"
#include "generator/support/error.h"

namespace esc {
namespace {

using Names = std::map<std::string, std::string>;

Affine rename(const Affine& affine, const Names& names) {
  Affine renamed(affine.constant());
  for (const Affine::Term& term : affine.terms()) {
    const auto found = names.find(term.name);
    renamed = renamed + Affine::of(found == names.end() ? term.name : found->second, term.coefficient);
  }
  return renamed;
}

/// The three loops of a perfect nest, by role, and the statement inside.
struct Product {
  Loop row;
  Loop reduction;
  Loop column;
  Statement statement;
};

Product take_apart(const LoopNest& nest) {
  Product product;
  const Block* block = &nest.body;
  int loops = 0;
  while (block->size() == 1 && std::holds_alternative<Loop>(block->front().content)) {
    const Loop& loop = std::get<Loop>(block->front().content);
    ESC_CHECK(loop.role != Role::none && loop.mapping == Mapping::sequential, "a loop of the product");
    Loop& place = loop.role == Role::row         ? product.row
                  : loop.role == Role::reduction ? product.reduction
                                                 : product.column;
    ESC_CHECK(place.iterator.empty(), "one loop of each role");
    place = {loop.iterator, loop.lower, loop.upper, loop.step, loop.role, loop.mapping, {}};
    block = &loop.body;
    ++loops;
  }
  ESC_CHECK(loops == 3 && block->size() == 1, "three loops around one statement");
  product.statement = std::get<Statement>(block->front().content);
  return product;
}

/// The canonical name of the size that a loop of this role runs to.
Affine size_of(Role role) { return Affine::of(role == Role::row ? "M" : role == Role::reduction ? "K" : "N"); }

}  // namespace

LoopNest canonicalize(const LoopNest& nest) {
  Product product = take_apart(nest);
  const Names indices{{product.row.iterator, "i"}, {product.reduction.iterator, "k"}, {product.column.iterator, "j"}};
  const Names arrays{{nest.array(ArrayRole::sparse).name, "A"},
                     {nest.array(ArrayRole::dense).name, "B"},
                     {nest.array(ArrayRole::output).name, "C"}};

  const Rewrite renaming{.affine = [&](const Affine& affine) { return rename(affine, indices); },
                         .access = [&](const Access& access) { return Access{arrays.at(access.array), access.subscripts}; }};
  Statement statement = rewrite(product.statement, renaming);
  if (statement.guard.empty()) {
    statement.guard = {is_nonzero(factors(std::get<Update>(statement.action).value).front())};
  }

  LoopNest canonical;
  canonical.arrays = {{"A", {size_of(Role::row), size_of(Role::reduction)}, ArrayRole::sparse, nest.element()},
                      {"B", {size_of(Role::reduction), size_of(Role::column)}, ArrayRole::dense, nest.element()},
                      {"C", {size_of(Role::row), size_of(Role::column)}, ArrayRole::output, nest.element()}};
  const auto wrap = [&](Loop loop, Node body) {
    loop.iterator = indices.at(loop.iterator);
    loop.upper = size_of(loop.role);
    loop.body = {std::move(body)};
    return Node{std::move(loop)};
  };
  canonical.body = {wrap(product.row, wrap(product.column, wrap(product.reduction, Node{std::move(statement)})))};
  return canonical;
}

}  // namespace esc

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

void name_size(const Affine& extent, const std::string& canonical, Names& names) {
  if (extent.terms().size() == 1) {
    names[extent.terms().front().name] = canonical;
  }
}

}  // namespace

LoopNest canonicalize(const LoopNest& nest) {
  Product product = take_apart(nest);
  Names indices{{product.row.iterator, "i"}, {product.reduction.iterator, "k"}, {product.column.iterator, "j"}};
  name_size(product.row.upper, "M", indices);
  name_size(product.reduction.upper, "K", indices);
  name_size(product.column.upper, "N", indices);
  const Names arrays{{nest.array(ArrayRole::sparse).name, "A"},
                     {nest.array(ArrayRole::dense).name, "B"},
                     {nest.array(ArrayRole::output).name, "C"}};

  const Rewrite renaming{.affine = [&](const Affine& affine) { return rename(affine, indices); },
                         .access = [&](const Access& access) { return Access{arrays.at(access.array), access.subscripts}; },
                         .operand = {},
                         .definition = {}};
  Statement statement = rewrite(product.statement, renaming);
  if (statement.guard.empty()) {
    statement.guard = {NonZero{std::get<Access>(std::get<Update>(statement.action).factors.front())}};
  }

  LoopNest canonical;
  canonical.element = nest.element;
  for (const ArrayRole role : {ArrayRole::sparse, ArrayRole::dense, ArrayRole::output}) {
    ArrayDeclaration declaration = nest.array(role);
    declaration.name = arrays.at(declaration.name);
    for (Affine& extent : declaration.extents) {
      extent = rename(extent, indices);
    }
    canonical.arrays.push_back(std::move(declaration));
  }
  const auto wrap = [&](Loop loop, Node body) {
    loop.iterator = indices.at(loop.iterator);
    loop.upper = rename(loop.upper, indices);
    loop.body = {std::move(body)};
    return Node{std::move(loop)};
  };
  canonical.body = {wrap(product.row, wrap(product.column, wrap(product.reduction, Node{std::move(statement)})))};
  return canonical;
}

}  // namespace esc

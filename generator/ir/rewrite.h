// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

#include "generator/ir/loop_nest.h"

namespace esc {

/// What to change in a block, wherever it occurs. A function that is empty changes nothing.
struct Rewrite {
  std::function<Affine(const Affine&)> affine = {};  ///< every affine expression: bounds, subscripts, values
  std::function<Access(const Access&)> access = {};  ///< every access, after its affine parts were rewritten
  std::function<Expression(const Expression&)> expression = {};    ///< every expression, after its parts were rewritten
  std::function<std::string(const std::string&)> definition = {};  ///< the name that a definition gives
  std::function<Block(const Statement&)> statement =
      {};                                        ///< what stands for a statement, after its parts were rewritten
  std::function<Node(const Node&)> around = {};  ///< a node with others inside, after those were rewritten
};

/// The block with every part rewritten, inner parts first.
Block rewrite(const Block& block, const Rewrite& how);
Statement rewrite(const Statement& statement, const Rewrite& how);
Expression rewrite(const Expression& expression, const Rewrite& how);
Guard rewrite(const Guard& guard, const Rewrite& how);

/// The block with `replacement` for every use of the index variable `name`.
Block substitute(const Block& block, const std::string& name, const Affine& replacement);
Statement substitute(const Statement& statement, const std::string& name, const Affine& replacement);

/// The block with `change` made to every update, at any depth, and to its guard.
Block change_updates(const Block& block, const std::function<void(Guard&, Update&)>& change);

/// The action of a node, or null where it is no such statement.
template <typename Action>
const Action* action(const Node& node) {
  const auto* statement = std::get_if<Statement>(&node.content);
  return statement == nullptr ? nullptr : std::get_if<Action>(&statement->action);
}

/// What is alone inside a loop or a nest, or null where there is none, or something else.
template <typename Inner, typename Outer>
const Inner* only(const Outer* outer) {
  return outer != nullptr && outer->body.size() == 1 ? std::get_if<Inner>(&outer->body.front().content) : nullptr;
}

/// The first sequential loop with this iterator, in lexicographic order, or null.
const Loop* find_loop(const Block& block, const std::string& iterator);

/// The first sequential loop of this role, or null.
const Loop* find_loop(const Block& block, Role role);

/// The block with the loop over `iterator` replaced, by `change` of it or by a node. Throws Defect when it is not
/// there.
Block replace_loop(const Block& block, const std::string& iterator, const std::function<Block(const Loop&)>& change);
Block replace_loop(const Block& block, const std::string& iterator, const Node& replacement);

/// The iterators of all loops, outermost first: what an error lists when a name is not found.
std::string list_iterators(const Block& block);

/// Whether the block reads the index variable.
bool mentions(const Block& block, const std::string& name);

}  // namespace esc

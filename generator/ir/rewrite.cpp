// SPDX-License-Identifier: Apache-2.0
#include "generator/ir/rewrite.h"

#include <algorithm>
#include <iterator>

#include "generator/support/error.h"

namespace esc {
namespace {

Affine rewrite_affine(const Affine& affine, const Rewrite& how) { return how.affine ? how.affine(affine) : affine; }

Access rewrite_access(const Access& access, const Rewrite& how) {
  Access result = access;
  for (Subscript& subscript : result.subscripts) {
    subscript.affine = rewrite_affine(subscript.affine, how);
  }
  return how.access ? how.access(result) : result;
}

std::vector<Expression> rewrite_all(const std::vector<Expression>& expressions, const Rewrite& how) {
  std::vector<Expression> result;
  result.reserve(expressions.size());
  for (const Expression& expression : expressions) {
    result.push_back(rewrite(expression, how));
  }
  return result;
}

Expression rewrite_parts(const Expression& expression, const Rewrite& how) {
  if (const Affine* affine = expression.affine()) {
    return rewrite_affine(*affine, how);
  }
  if (const Access* access = expression.access()) {
    return rewrite_access(*access, how);
  }
  if (const auto* operation = std::get_if<Operation>(&expression.content)) {
    return Operation{operation->op, rewrite_all(operation->operands, how)};
  }
  if (const auto* call = std::get_if<Call>(&expression.content)) {
    return Call{call->function, rewrite_all(call->arguments, how)};
  }
  if (const auto* convert = std::get_if<Convert>(&expression.content)) {
    return Convert{convert->type, rewrite_all(convert->operand, how)};
  }
  if (const auto* at = std::get_if<ColumnAt>(&expression.content)) {
    return ColumnAt{at->set, rewrite_affine(at->position, how)};
  }
  return expression;
}

std::string rewrite_definition(const std::string& name, const Rewrite& how) {
  return how.definition ? how.definition(name) : name;
}

Node rewrite_inside(const Node& node, const Rewrite& how) {
  if (const auto* loop = std::get_if<Loop>(&node.content)) {
    return Node{Loop{loop->iterator, rewrite_affine(loop->lower, how), rewrite_affine(loop->upper, how),
                     rewrite_affine(loop->step, how), loop->role, loop->mapping, rewrite(loop->body, how)}};
  }
  if (const auto* loop = std::get_if<ColumnLoop>(&node.content)) {
    return Node{ColumnLoop{loop->iterator, loop->set, rewrite(loop->body, how)}};
  }
  if (const auto* branch = std::get_if<Branch>(&node.content)) {
    return Node{Branch{rewrite(branch->condition, how), rewrite(branch->then, how), rewrite(branch->otherwise, how)}};
  }
  Switch choice = std::get<Switch>(node.content);
  if (auto* pattern = std::get_if<ColumnPattern>(&choice.subject)) {
    pattern->first_row = rewrite_affine(pattern->first_row, how);
    pattern->column = rewrite_affine(pattern->column, how);
  }
  for (Case& one : choice.cases) {
    one.body = rewrite(one.body, how);
  }
  return Node{std::move(choice)};
}

Block rewrite_node(const Node& node, const Rewrite& how) {
  if (const auto* statement = std::get_if<Statement>(&node.content)) {
    const Statement result = rewrite(*statement, how);
    return how.statement ? how.statement(result) : Block{Node{result}};
  }
  if (std::holds_alternative<Barrier>(node.content) || std::holds_alternative<Note>(node.content) ||
      std::holds_alternative<Declare>(node.content)) {
    return {node};
  }
  const Node result = rewrite_inside(node, how);
  return {how.around ? how.around(result) : result};
}

/// The block inside a node that may hold loops; a switch is left alone: each of its cases has loops of its own.
const Block* inner_block(const Node& node) {
  if (const auto* loop = std::get_if<Loop>(&node.content)) {
    return &loop->body;
  }
  if (const auto* loop = std::get_if<ColumnLoop>(&node.content)) {
    return &loop->body;
  }
  return nullptr;
}

const Loop* find_sequential(const Block& block, const std::function<bool(const Loop&)>& wanted) {
  for (const Node& node : block) {
    const auto* loop = std::get_if<Loop>(&node.content);
    if (loop != nullptr && loop->mapping == Mapping::sequential && wanted(*loop)) {
      return loop;
    }
    if (const Block* inner = inner_block(node)) {
      if (const Loop* found = find_sequential(*inner, wanted)) {
        return found;
      }
    }
  }
  return nullptr;
}

bool replace_in(Block& block, const std::string& iterator, const std::function<Block(const Loop&)>& change) {
  for (auto node = block.begin(); node != block.end(); ++node) {
    if (auto* loop = std::get_if<Loop>(&node->content)) {
      if (loop->iterator == iterator && loop->mapping == Mapping::sequential) {
        Block changed = change(*loop);
        node = block.erase(node);
        block.insert(node, std::make_move_iterator(changed.begin()), std::make_move_iterator(changed.end()));
        return true;
      }
      if (replace_in(loop->body, iterator, change)) {
        return true;
      }
    }
  }
  return false;
}

}  // namespace

Expression rewrite(const Expression& expression, const Rewrite& how) {
  const Expression result = rewrite_parts(expression, how);
  return how.expression ? how.expression(result) : result;
}

Guard rewrite(const Guard& guard, const Rewrite& how) { return rewrite_all(guard, how); }

Statement rewrite(const Statement& statement, const Rewrite& how) {
  Statement result{rewrite(statement.guard, how), statement.action};
  if (auto* define = std::get_if<Define>(&result.action)) {
    *define = {define->type, rewrite_definition(define->name, how), rewrite(define->value, how), define->moves};
  } else if (auto* store = std::get_if<Store>(&result.action)) {
    *store = {rewrite_access(store->target, how), rewrite(store->value, how)};
  } else if (auto* copy = std::get_if<Copy>(&result.action)) {
    *copy = {rewrite_access(copy->target, how), rewrite_access(copy->source, how)};
  } else if (auto* perform = std::get_if<Perform>(&result.action)) {
    perform->arguments = rewrite_all(perform->arguments, how);
  } else {
    auto& update = std::get<Update>(result.action);
    update = {rewrite(update.target, how), rewrite(update.value, how), update.atomic};
  }
  return result;
}

Block rewrite(const Block& block, const Rewrite& how) {
  Block result;
  result.reserve(block.size());
  for (const Node& node : block) {
    Block rewritten = rewrite_node(node, how);
    std::ranges::move(rewritten, std::back_inserter(result));
  }
  return result;
}

Block change_updates(const Block& block, const std::function<void(Guard&, Update&)>& change) {
  return rewrite(block, {.statement = [&](Statement statement) {
                   if (auto* update = std::get_if<Update>(&statement.action)) {
                     change(statement.guard, *update);
                   }
                   return Block{Node{std::move(statement)}};
                 }});
}

Block substitute(const Block& block, const std::string& name, const Affine& replacement) {
  return rewrite(block, {.affine = [&](const Affine& affine) { return affine.substitute(name, replacement); }});
}

Statement substitute(const Statement& statement, const std::string& name, const Affine& replacement) {
  return rewrite(statement, {.affine = [&](const Affine& affine) { return affine.substitute(name, replacement); }});
}

const Loop* find_loop(const Block& block, const std::string& iterator) {
  return find_sequential(block, [&](const Loop& loop) { return loop.iterator == iterator; });
}

const Loop* find_loop(const Block& block, Role role) {
  return find_sequential(block, [&](const Loop& loop) { return loop.role == role; });
}

Block replace_loop(const Block& block, const std::string& iterator, const std::function<Block(const Loop&)>& change) {
  Block result = block;
  ESC_CHECK(replace_in(result, iterator, change), "no loop over " + iterator);
  return result;
}

Block replace_loop(const Block& block, const std::string& iterator, const Node& replacement) {
  return replace_loop(block, iterator, [&](const Loop&) { return Block{replacement}; });
}

std::string list_iterators(const Block& block) {
  std::string names;
  for (const Node& node : block) {
    if (const auto* loop = std::get_if<Loop>(&node.content)) {
      const std::string inner = list_iterators(loop->body);
      names += (names.empty() ? "" : ", ") + loop->iterator + (inner.empty() ? "" : ", " + inner);
    }
  }
  return names;
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
                      }});
  return found;
}

}  // namespace esc

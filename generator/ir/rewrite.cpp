#include "generator/ir/rewrite.h"

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

Operand rewrite_operand(const Operand& operand, const Rewrite& how) {
  Operand result = operand;
  if (const auto* access = std::get_if<Access>(&operand)) {
    result = rewrite_access(*access, how);
  }
  return how.operand ? how.operand(result) : result;
}

IndexExpression rewrite_index(const IndexExpression& expression, const Rewrite& how) {
  if (const auto* affine = std::get_if<Affine>(&expression)) {
    return rewrite_affine(*affine, how);
  }
  if (const auto* access = std::get_if<Access>(&expression)) {
    return rewrite_access(*access, how);
  }
  if (const auto* at = std::get_if<ColumnAt>(&expression)) {
    return ColumnAt{at->set, rewrite_affine(at->position, how)};
  }
  if (const auto* minimum = std::get_if<Minimum>(&expression)) {
    return Minimum{rewrite_affine(minimum->left, how), rewrite_affine(minimum->right, how)};
  }
  return expression;
}

std::string rewrite_definition(const std::string& name, const Rewrite& how) {
  return how.definition ? how.definition(name) : name;
}

Node rewrite_node(const Node& node, const Rewrite& how) {
  if (const auto* statement = std::get_if<Statement>(&node.content)) {
    return Node{rewrite(*statement, how)};
  }
  if (const auto* loop = std::get_if<Loop>(&node.content)) {
    return Node{Loop{loop->iterator, rewrite_affine(loop->lower, how), rewrite_affine(loop->upper, how), loop->step,
                     loop->role, loop->mapping, rewrite(loop->body, how), loop->multiple}};
  }
  if (const auto* loop = std::get_if<ColumnLoop>(&node.content)) {
    return Node{ColumnLoop{loop->iterator, loop->set, rewrite(loop->body, how)}};
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

Guard rewrite(const Guard& guard, const Rewrite& how) {
  Guard result;
  result.reserve(guard.size());
  for (const Condition& condition : guard) {
    if (const auto* less = std::get_if<Less>(&condition)) {
      result.push_back(Less{rewrite_affine(less->left, how), rewrite_affine(less->right, how)});
    } else {
      result.push_back(NonZero{rewrite_access(std::get<NonZero>(condition).access, how)});
    }
  }
  return result;
}

Statement rewrite(const Statement& statement, const Rewrite& how) {
  Statement result{rewrite(statement.guard, how), statement.action};
  if (auto* index = std::get_if<DefineIndex>(&result.action)) {
    *index = {rewrite_definition(index->name, how), rewrite_index(index->value, how)};
  } else if (auto* element = std::get_if<DefineElement>(&result.action)) {
    *element = {rewrite_definition(element->name, how), rewrite_operand(element->value, how)};
  } else if (auto* store = std::get_if<Store>(&result.action)) {
    *store = {rewrite_access(store->target, how), rewrite_operand(store->value, how)};
  } else {
    auto& update = std::get<Update>(result.action);
    update.target = rewrite_operand(update.target, how);
    for (Operand& factor : update.factors) {
      factor = rewrite_operand(factor, how);
    }
  }
  return result;
}

Block rewrite(const Block& block, const Rewrite& how) {
  Block result;
  result.reserve(block.size());
  for (const Node& node : block) {
    result.push_back(rewrite_node(node, how));
  }
  return result;
}

Block substitute(const Block& block, const std::string& name, const Affine& replacement) {
  return rewrite(block, {.affine = [&](const Affine& affine) { return affine.substitute(name, replacement); },
                         .access = {},
                         .operand = {},
                         .definition = {}});
}

Statement substitute(const Statement& statement, const std::string& name, const Affine& replacement) {
  return rewrite(statement, {.affine = [&](const Affine& affine) { return affine.substitute(name, replacement); },
                             .access = {},
                             .operand = {},
                             .definition = {}});
}

const Loop* find_loop(const Block& block, const std::string& iterator) {
  for (const Node& node : block) {
    const auto* loop = std::get_if<Loop>(&node.content);
    if (loop != nullptr && loop->iterator == iterator && loop->mapping == Mapping::sequential) {
      return loop;
    }
    if (const Block* inner = inner_block(node)) {
      if (const Loop* found = find_loop(*inner, iterator)) {
        return found;
      }
    }
  }
  return nullptr;
}

Block replace_loop(const Block& block, const std::string& iterator, const std::function<Block(const Loop&)>& change) {
  Block result = block;
  ESC_CHECK(replace_in(result, iterator, change), "no loop over " + iterator);
  return result;
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

}  // namespace esc

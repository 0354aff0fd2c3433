#include "generator/frontend/read_nest.h"

#include <clang/AST/Decl.h>
#include <clang/AST/Expr.h>
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "generator/frontend/number_type.h"
#include "generator/ir/build.h"

namespace esc::frontend {
namespace {

/// Puts the nest together, action after action.
class NestReader {
 public:
  NestReader(const std::vector<Action>& actions, clang::SourceLocation function) : actions_(actions) {
    result_.places[{}] = {function};
  }

  WrittenNest read() {
    for (const Action& action : actions_) {
      add(action);
    }
    std::ranges::stable_sort(result_.nest.arrays, {}, [this](const ArrayDeclaration& array) { return place_of_parameter(array.name); });
    return std::move(result_);
  }

 private:
  using Path = std::vector<std::size_t>;

  /// Of the function's parameters; what is no parameter comes behind them.
  unsigned place_of_parameter(const std::string& array) const {
    const auto* parameter = clang::dyn_cast<clang::ParmVarDecl>(arrays_.at(array));
    return parameter == nullptr ? std::numeric_limits<unsigned>::max() : parameter->getFunctionScopeIndex();
  }

  /// Opens the loops that the action does not share with the one before it.
  void add(const Action& action) {
    const Loops& loops = action.scope.loops;
    const auto unshared = std::ranges::mismatch(loops, open_).in1;
    open_ = loops;
    Path path;
    Block* block = &result_.nest.body;
    for (auto loop = loops.begin(); loop != loops.end(); ++loop) {
      const WrittenLoop& written = **loop;
      if (loop >= unshared) {
        block->push_back(sequential_loop(written.iterator, 0, written.upper, 1, Role::none, {}));
      }
      path.push_back(block->size() - 1);
      result_.places[{path}] = {written.place};
      block = &std::get<Loop>(block->back().content).body;
    }
    path.push_back(block->size());
    result_.places[{path}] = {action.place};
    block->push_back(Node{read_statement(action, path)});
  }

  Statement read_statement(const Action& action, const Path& path) {
    Statement statement;
    if (const auto* gather = std::get_if<Gather>(&action.content)) {
      std::vector<Expression> factors;
      for (const ArrayElement& factor : gather->factors) {
        factors.emplace_back(add_element(factor, {path, NestPart::Element::factor, factors.size()}));
      }
      statement.action = Update{add_target(gather->target, action.scope, path), product(factors)};
    } else {
      statement.action = read_assignment(std::get<Assign>(action.content), action.scope, path);
    }
    for (const WrittenGuard& guard : action.scope.guards) {
      const NestPart part{path, NestPart::Element::guard, statement.guard.size()};
      if (guard.element) {
        add_element(*guard.element, part);
      } else {
        result_.places[part] = place_of(*guard.source);
      }
      statement.guard.push_back(guard.condition);
    }
    return statement;
  }

  decltype(Statement::action) read_assignment(const Assign& assign, const Scope& scope, const Path& path) {
    add_operands(assign.value, path);
    if (const auto* local = std::get_if<const clang::VarDecl*>(&assign.target)) {
      return Define{number_type((*local)->getType()).value_or(ScalarType::f64), scope.variables->name_of(**local), assign.value.expression};
    }
    const Expression target = add_target(assign.target, scope, path);
    if (assign.adds) {
      return Update{target, assign.value.expression};
    }
    return Store{*target.access(), assign.value.expression};
  }

  Expression add_target(const Target& target, const Scope& scope, const Path& path) {
    const auto* element = std::get_if<ArrayElement>(&target);
    if (element == nullptr) {
      return Name{scope.variables->name_of(*std::get<const clang::VarDecl*>(target))};
    }
    return add_element(*element, {path, NestPart::Element::target});
  }

  Access add_element(const ArrayElement& element, const NestPart& part) {
    add_array(element);
    result_.places[part] = place_of(*element.source);
    return element.access;
  }

  void add_operands(const WrittenValue& value, const Path& path) {
    for (std::size_t number = 0; number < value.operands.size(); ++number) {
      const WrittenOperand& operand = value.operands[number];
      if (operand.element) {
        add_array(*operand.element);
      }
      result_.places[{path, NestPart::Element::operand, number}] = place_of(*operand.source);
    }
  }

  /// Declares the element's array where it is new.
  void add_array(const ArrayElement& element) {
    const std::string& name = element.access.array;
    if (const auto [known, is_new] = arrays_.emplace(name, element.array); is_new) {
      result_.nest.arrays.push_back({name, element.extents, ArrayRole::unknown, element.type});
    } else if (known->second != element.array) {
      refuse(*element.source, fmt::format("{} stands for two things here: expected different names", name));
    }
  }

  const std::vector<Action>& actions_;
  Loops open_;
  std::map<std::string, const clang::VarDecl*> arrays_;
  WrittenNest result_;
};

}  // namespace

WrittenNest read_nest(const std::vector<Action>& actions, clang::SourceLocation function) {
  return NestReader(actions, function).read();
}

}  // namespace esc::frontend

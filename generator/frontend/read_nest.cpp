// SPDX-License-Identifier: Apache-2.0
#include "generator/frontend/read_nest.h"

#include <clang/AST/Decl.h>
#include <clang/AST/Expr.h>
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>

#include "generator/frontend/number_type.h"
#include "generator/frontend/refusal.h"
#include "generator/ir/build.h"
#include "generator/ir/print.h"
#include "generator/ir/rewrite.h"

namespace esc::frontend {
namespace {

/// The names that indices are made of in the parts of an action, in the order of the text.
class IndexNames {
 public:
  void add(const Affine& affine) {
    std::ranges::transform(affine.terms(), std::back_inserter(names_), &Affine::Term::name);
  }
  void add(const Expression& expression) {
    rewrite(expression, {.affine = [this](const Affine& affine) {
              add(affine);
              return affine;
            }});
  }
  void add(const Target& target) {
    if (const auto* element = std::get_if<ArrayElement>(&target)) {
      add(Expression(element->access));
    }
  }
  void add(const Action& action) {
    if (const auto* gather = std::get_if<Gather>(&action.content)) {
      add(gather->target);
      for (const ArrayElement& factor : gather->factors) {
        add(Expression(factor.access));
      }
    } else if (const auto* assign = std::get_if<Assign>(&action.content)) {
      add(assign->target);
      add(assign->value.expression);
    }
  }

  const std::vector<std::string>& names() const { return names_; }

 private:
  std::vector<std::string> names_;
};

/// Throws where the extents that are numbers make the array larger than memory can be addressed: no compiler takes its
/// declaration.
void require_addressable(const ArrayElement& element) {
  constexpr std::int64_t most = std::int64_t{1} << 44;  // elements, of eight bytes in an address space of 47 bits
  std::int64_t elements = 1;
  for (const Affine& extent : element.extents) {
    const std::int64_t count = extent.is_constant() ? std::max<std::int64_t>(extent.constant(), 1) : 1;
    if (count > most / elements) {
      refuse(*element.source,
             fmt::format("{} has more than {} elements: expected at most so many", element.access.array, most));
    }
    elements *= count;
  }
}

Guard conditions(const Scope& scope, std::size_t count) {
  Guard result;
  std::ranges::transform(scope.guards.begin(), scope.guards.begin() + static_cast<std::ptrdiff_t>(count),
                         std::back_inserter(result), &WrittenGuard::condition);
  return result;
}

/// Puts the nest together, action after action. What is loaded is defined before the loop or statement that uses
/// it, or where the function has a local for it.
class NestReader {
 public:
  NestReader(const std::vector<Action>& actions, clang::SourceLocation function) : actions_(actions) {
    result_.places[{}] = {function};
  }

  WrittenNest read() {
    for (const Action& action : actions_) {
      add(action);
    }
    std::ranges::stable_sort(result_.nest.arrays, {},
                             [this](const ArrayDeclaration& array) { return place_of_parameter(array.name); });
    return std::move(result_);
  }

 private:
  using Path = std::vector<std::size_t>;

  /// Of the function's parameters; what is no parameter comes after them.
  unsigned place_of_parameter(const std::string& array) const {
    const auto* parameter = clang::dyn_cast<clang::ParmVarDecl>(arrays_.at(array));
    return parameter == nullptr ? std::numeric_limits<unsigned>::max() : parameter->getFunctionScopeIndex();
  }

  /// Opens the loops that the action does not share with the one before it.
  void add(const Action& action) {
    const Scope& scope = action.scope;
    const auto* index = std::get_if<Index>(&action.content);
    const Load* local = index != nullptr ? scope.variables->find_load(*index->local) : nullptr;
    if (index != nullptr && local == nullptr) {
      return;
    }
    const Loops& loops = scope.loops;
    const auto unshared = std::ranges::mismatch(loops, open_).in1;
    open_ = loops;
    loaded_.resize(static_cast<std::size_t>(unshared - loops.begin()) + 1);
    Path path;
    Block* block = &result_.nest.body;
    for (auto loop = loops.begin(); loop != loops.end(); ++loop) {
      const WrittenLoop& written = **loop;
      if (loop >= unshared) {
        IndexNames bounds;
        bounds.add(written.lower);
        bounds.add(written.upper);
        define_loads(bounds, {scope, written.guards, written.place}, path, *block);
        block->push_back(sequential_loop(written.iterator, written.lower, written.upper, 1, Role::none, {}));
        loaded_.emplace_back();
      }
      path.push_back(block->size() - 1);
      result_.places[{path}] = {written.place};
      block = &std::get<Loop>(block->back().content).body;
    }
    if (local != nullptr) {
      define_load(*local, {scope, scope.guards.size(), action.place}, path, *block);
      return;
    }
    for (std::size_t guard = 0; guard < scope.guards.size(); ++guard) {
      IndexNames compared;
      compared.add(scope.guards[guard].condition);
      define_loads(compared, {scope, guard, action.place}, path, *block);
    }
    IndexNames used;
    used.add(action);
    define_loads(used, {scope, scope.guards.size(), action.place}, path, *block);
    path.push_back(block->size());
    result_.places[{path}] = {action.place};
    block->push_back(Node{read_statement(action, path)});
  }

  /// Where indices are used: under so many of the scope's guards, by what is at the place.
  struct Use {
    const Scope& scope;
    std::size_t guards;
    clang::SourceLocation place;
  };

  /// Appends the definitions of those names that are loaded and have none here, to the block at this path.
  void define_loads(const IndexNames& names, const Use& use, const Path& path, Block& block) {
    for (const std::string& name : names.names()) {
      if (const Load* load = use.scope.variables->find_load(name)) {
        define_load(*load, use, path, block);
      }
    }
  }

  void define_load(const Load& load, const Use& use, Path path, Block& block) {
    const auto& [scope, guards, place] = use;
    const Guard guard = conditions(scope, guards);
    for (const auto& loaded : loaded_) {
      if (const auto known = loaded.find(load.name); known != loaded.end()) {
        const bool holds_here = std::ranges::mismatch(known->second, guard).in1 == known->second.end();
        if (!holds_here) {
          refuse(*load.element.source,
                 fmt::format(
                     "{} is loaded under one condition and used under another: expected a local before both, const "
                     "int index = {}",
                     print(load.element.access), print(load.element.access)));
        }
        return;
      }
    }
    IndexNames inner;
    inner.add(Expression(load.element.access));
    define_loads(inner, use, path, block);
    path.push_back(block.size());
    add_element(load.element, {path, NestPart::Element::operand});
    result_.places[{path}] = placed_.insert(load.name).second ? place_of(*load.element.source) : Place{place};
    for (std::size_t number = 0; number < guards; ++number) {
      result_.places[{path, NestPart::Element::guard, number}] = place_of(*scope.guards[number].source);
    }
    block.push_back(Node{Statement{guard, Define{load.element.type, load.name, load.element.access}}});
    loaded_.back().emplace(load.name, guard);
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
      return Define{number_type((*local)->getType()).value_or(ScalarType::f64), scope.variables->name_of(**local),
                    assign.value.expression};
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
      require_addressable(element);
      ArrayDeclaration array{name, element.extents, ArrayRole::unknown, element.type};
      array.values = element.values;
      result_.nest.arrays.push_back(std::move(array));
    } else if (known->second != element.array) {
      refuse(*element.source, fmt::format("{} stands for two things here: expected different names", name));
    }
  }

  const std::vector<Action>& actions_;
  Loops open_;
  std::set<std::string> placed_;                         // loads that have had a definition
  std::vector<std::map<std::string, Guard>> loaded_{1};  // in the block of each open loop, and under which guards
  std::map<std::string, const clang::VarDecl*> arrays_;
  WrittenNest result_;
};

}  // namespace

WrittenNest read_nest(const std::vector<Action>& actions, clang::SourceLocation function) {
  return NestReader(actions, function).read();
}

}  // namespace esc::frontend

#include "generator/frontend/read_nest.h"

#include <clang/AST/Decl.h>
#include <clang/AST/Expr.h>
#include <fmt/format.h>

#include <algorithm>

#include "generator/frontend/output_target.h"
#include "generator/ir/build.h"

namespace esc::frontend {
namespace {

/// Puts the nest together, update after update.
class NestReader {
 public:
  NestReader(const std::vector<Action>& actions, clang::SourceLocation function) : actions_(actions) {
    result_.places[{}] = {function};
  }

  WrittenNest read() {
    const auto is_update = [](const Action& action) { return std::holds_alternative<Accumulate>(action.content); };
    const auto updates = std::ranges::count_if(actions_, is_update);
    for (std::size_t index = 0; index < actions_.size(); ++index) {
      if (is_update(actions_[index])) {
        // Of others nothing is left out: assign_roles refuses them whatever else there is.
        const bool sole = updates == 1 && actions_[index].scope.loops.size() == 3;
        add_update(actions_[index],
                   sole ? output_target(actions_, index) : std::get<Accumulate>(actions_[index].content).target);
      }
    }
    return std::move(result_);
  }

 private:
  /// Opens the loops that the update does not share with the one before it.
  void add_update(const Action& action, const Target& target) {
    const Loops& loops = action.scope.loops;
    const auto unshared = std::ranges::mismatch(loops, open_).in1;
    open_ = loops;
    std::vector<std::size_t> path;
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
    block->push_back(Node{read_update(action, target, path)});
  }

  Statement read_update(const Action& action, const Target& target, const std::vector<std::size_t>& path) {
    const Loops& loops = action.scope.loops;
    Statement statement;
    std::vector<Expression> factors;
    for (const MatrixElement& factor : std::get<Accumulate>(action.content).factors) {
      factors.emplace_back(add_element(factor, loops, {path, NestPart::Element::factor, factors.size()}));
    }
    for (const WrittenGuard& guard : action.scope.guards) {
      statement.guard.push_back(
          is_nonzero(add_element(guard.element, loops, {path, NestPart::Element::guard, statement.guard.size()})));
    }
    const auto* element = std::get_if<MatrixElement>(&target);
    statement.action =
        Update{element != nullptr ? Expression(add_element(*element, loops, {path, NestPart::Element::target}))
                                  : Name{std::get<const clang::VarDecl*>(target)->getNameAsString()},
               product(factors)};
    return statement;
  }

  Access add_element(const MatrixElement& element, const Loops& loops, const NestPart& part) {
    const std::string name = element.array->getNameAsString();
    const auto extent = [&](const std::string& iterator) {
      return (*std::ranges::find(loops, iterator, [](const auto& loop) { return loop->iterator; }))->upper;
    };
    if (const auto [array, is_new] = arrays_.emplace(name, element.array); is_new) {
      result_.nest.arrays.push_back(
          {name, {extent(element.row), extent(element.column)}, ArrayRole::unknown, element.type});
    } else if (array->second != element.array) {
      refuse(*element.source, fmt::format("{} stands for two things here: expected different names", name));
    }
    result_.places[part] = place_of(*element.source);
    return esc::element(name, {Affine::of(element.row), Affine::of(element.column)});
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

#include "generator/frontend/output_target.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/Decl.h>
#include <fmt/format.h>

#include <algorithm>

#include "generator/frontend/refusal.h"

namespace esc::frontend {
namespace {

bool shares_loop(const Loops& loops, const std::shared_ptr<const WrittenLoop>& loop) {
  return std::find(loops.begin(), loops.end(), loop) != loops.end();
}

const WrittenLoop& loop_of(const Loops& loops, const std::string& iterator) {
  return **std::find_if(loops.begin(), loops.end(), [&](const auto& loop) { return loop->iterator == iterator; });
}

/// A local that gathers: set to zero, added to in the innermost loop and stored, all in the two loops around that one.
class Gathering {
 public:
  Gathering(const std::vector<Action>& actions, std::size_t update, const clang::VarDecl& local)
      : actions_(actions), update_(update), local_(local) {}

  MatrixElement stored_target() const {
    const auto& factors = std::get<Accumulate>(actions_[update_].content).factors;
    const unsigned needed = factors.front().type == ScalarType::f64 ? 64 : 32;
    if (local_.getASTContext().getTypeSize(local_.getType()) < needed) {
      refuse(local_.getLocation(),
             fmt::format("{} is narrower than the elements it gathers: expected {} bits", name(), needed));
    }
    const Action* zero = nullptr;
    const Action* store = nullptr;
    for (std::size_t index = 0; index < actions_.size(); ++index) {
      const Action& action = actions_[index];
      if (index < update_ && sets_to_zero(action)) {
        zero = &action;
      } else if (index > update_ && stores(action) && store == nullptr) {
        store = &action;
      } else if (sets_to_zero(action) || stores(action)) {
        refuse(action.place,
               fmt::format("{0} is expected to be set to 0 before the innermost loop and stored once after "
                           "it",
                           name()));
      }
    }
    require_around_innermost(zero, "set to 0 before");
    require_around_innermost(store, "stored to the output after");
    return std::get<Store>(store->content).target;
  }

 private:
  std::string name() const { return local_.getNameAsString(); }

  bool sets_to_zero(const Action& action) const {
    const auto* content = std::get_if<SetToZero>(&action.content);
    return content != nullptr && same_target(content->target, &local_);
  }

  bool stores(const Action& action) const {
    const auto* content = std::get_if<Store>(&action.content);
    return content != nullptr && content->local == &local_;
  }

  void require_around_innermost(const Action* action, const char* what) const {
    const Action& update = actions_[update_];
    const Loops around(update.scope.loops.begin(), update.scope.loops.end() - 1);
    if (action == nullptr || action->scope.loops != around || !action->scope.guards.empty()) {
      refuse(action != nullptr ? action->place : update.place,
             fmt::format("{} is expected to be {} the innermost loop, in the two loops around it", name(), what));
    }
  }

  const std::vector<Action>& actions_;
  std::size_t update_;
  const clang::VarDecl& local_;
};

/// C set to zero: every element of it, none after it has been added to.
void require_initialisation(const Action& action, const MatrixElement& zeroed, const MatrixElement& target,
                            const Loops& nest, bool before) {
  const Loops& loops = action.scope.loops;
  if (zeroed.array != target.array) {
    refuse(action.place, fmt::format("{} is set to 0, but only the output {} may be", zeroed.array->getNameAsString(),
                                     target.array->getNameAsString()));
  }
  if (!before || !action.scope.guards.empty() || loops.size() != 2) {
    refuse(action.place, fmt::format("{} is expected to be set to 0 once per element, before the reduction loop and "
                                     "without a guard",
                                     target.array->getNameAsString()));
  }
  const auto covers = [&](const std::string& own, const std::string& of_nest) {
    const auto loop = std::find_if(loops.begin(), loops.end(), [&](const auto& one) { return one->iterator == own; });
    return (shares_loop(nest, *loop) ? own == of_nest : (*loop)->upper == loop_of(nest, of_nest).upper);
  };
  if (!covers(zeroed.row, target.row) || !covers(zeroed.column, target.column)) {
    refuse(action.place, fmt::format("{} is expected to be set to 0 over the same rows and columns as it is added to",
                                     target.array->getNameAsString()));
  }
}

}  // namespace

MatrixElement output_target(const std::vector<Action>& actions, std::size_t update) {
  const Target& added_to = std::get<Accumulate>(actions[update].content).target;
  const auto* gathered = std::get_if<const clang::VarDecl*>(&added_to);
  const MatrixElement target =
      gathered != nullptr ? Gathering(actions, update, **gathered).stored_target() : std::get<MatrixElement>(added_to);
  const Loops& nest = actions[update].scope.loops;
  for (std::size_t index = 0; index < actions.size(); ++index) {
    const Action& action = actions[index];
    if (const auto* zero = std::get_if<SetToZero>(&action.content)) {
      if (const auto* element = std::get_if<MatrixElement>(&zero->target)) {
        require_initialisation(action, *element, target, nest, index < update);
      } else if (gathered == nullptr || !same_target(zero->target, added_to)) {
        refuse(action.place, "this local has no part in the product");
      }
    } else if (const auto* store = std::get_if<Store>(&action.content)) {
      if (gathered == nullptr || store->local != *gathered) {
        refuse(action.place, "what is stored here is not gathered by the update");
      }
    }
  }
  return target;
}

}  // namespace esc::frontend

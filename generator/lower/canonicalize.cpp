#include "generator/lower/canonicalize.h"

#include <array>
#include <map>
#include <string>

#include "generator/ir/rewrite.h"
#include "generator/support/error.h"

namespace esc {
namespace {

using Names = std::map<std::string, std::string>;

/// How a loop is called, and the size that it runs to.
struct Canonical {
  Role role;
  const char* iterator;
  const char* size;
};

/// Outermost first.
constexpr std::array order{Canonical{Role::row, "i", "M"}, Canonical{Role::column, "j", "N"},
                           Canonical{Role::reduction, "k", "K"}};

Affine rename(const Affine& affine, const Names& names) {
  Affine renamed(affine.constant());
  for (const Affine::Term& term : affine.terms()) {
    const auto found = names.find(term.name);
    renamed = renamed + Affine::of(found == names.end() ? term.name : found->second, term.coefficient);
  }
  return renamed;
}

}  // namespace

LoopNest canonicalize(const LoopNest& nest) {
  std::map<Role, Loop> loops;
  const Block* inner = &nest.body;
  for (const auto* loop = only<Loop>(&nest); loop != nullptr; loop = only<Loop>(loop)) {
    ESC_CHECK(loop->role != Role::none && loop->mapping == Mapping::sequential, "a loop of the product");
    ESC_CHECK(loops.emplace(loop->role, *loop).second, "one loop of each role");
    inner = &loop->body;
  }
  ESC_CHECK(loops.size() == order.size() && inner->size() == 1, "three loops around one statement");

  Names indices;
  for (const Canonical& one : order) {
    indices[loops.at(one.role).iterator] = one.iterator;
  }
  const Names arrays{{nest.array(ArrayRole::sparse).name, "A"},
                     {nest.array(ArrayRole::dense).name, "B"},
                     {nest.array(ArrayRole::output).name, "C"}};
  Statement statement = rewrite(std::get<Statement>(inner->front().content),
                                {.affine = [&](const Affine& affine) { return rename(affine, indices); },
                                 .access =
                                     [&](const Access& access) {
                                       return Access{arrays.at(access.array), access.subscripts};
                                     }});
  if (statement.guard.empty()) {
    statement.guard = {is_nonzero(factors(std::get<Update>(statement.action).value).front())};
  }

  LoopNest canonical = spmm_nest(nest.element());
  canonical.body = {Node{std::move(statement)}};
  for (auto one = order.rbegin(); one != order.rend(); ++one) {
    Loop loop = loops.at(one->role);
    loop.iterator = one->iterator;
    loop.upper = Affine::of(one->size);
    loop.body = std::move(canonical.body);
    canonical.body = {Node{std::move(loop)}};
  }
  return canonical;
}

}  // namespace esc

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

std::string rename(const std::string& name, const Names& names) {
  const auto found = names.find(name);
  return found == names.end() ? name : found->second;
}

Affine rename(const Affine& affine, const Names& names) {
  Affine renamed(affine.constant());
  for (const Affine::Term& term : affine.terms()) {
    renamed = renamed + Affine::of(rename(term.name, names), term.coefficient);
  }
  return renamed;
}

/// A name of the user's own, which no pass and no instruction has.
std::string own_name(const std::string& name) { return name + "_"; }

/// By how an operand is indexed, its extents are M and N, also where both of the nest's sizes have one name.
std::map<std::string, std::vector<Affine>> extents_of_operands(const Epilogue& epilogue) {
  std::map<std::string, std::vector<Affine>> extents;
  const Rewrite visit{.access = [&](const Access& access) {
    std::vector<Affine>& found = extents[access.array];
    found.clear();
    for (const Subscript& subscript : access.subscripts) {
      found.push_back(Affine::of(subscript.affine.is_name(epilogue.row) ? "M" : "N"));
    }
    return access;
  }};
  for (const Define& step : epilogue.steps) {
    rewrite(step.value, visit);
  }
  rewrite(epilogue.value, visit);
  return extents;
}

/// The epilogue in canonical names, with its operands as further arrays of the nest.
void add_epilogue(LoopNest& canonical, const LoopNest& nest, Names names) {
  const Epilogue& given = *nest.epilogue;
  const auto own = [&](const std::string& name) { return names[name] = own_name(name); };
  Epilogue epilogue{"i", "j", own(given.sum), {}, {}};
  names[given.row] = epilogue.row;
  names[given.column] = epilogue.column;
  const std::map<std::string, std::vector<Affine>> extents = extents_of_operands(given);
  for (ArrayDeclaration operand : operands_of(nest)) {
    operand.extents = extents.at(operand.name);
    operand.name = own(operand.name);
    canonical.arrays.push_back(std::move(operand));
  }
  const Rewrite renamed{.affine = [&](const Affine& affine) { return rename(affine, names); },
                        .access = [&](const Access& access) { return Access{rename(access.array, names), access.subscripts}; },
                        .expression =
                            [&](const Expression& expression) {
                              const auto* name = std::get_if<Name>(&expression.content);
                              return name == nullptr ? expression : Expression(Name{rename(name->name, names)});
                            }};
  for (const Define& step : given.steps) {
    const Expression value = rewrite(step.value, renamed);
    epilogue.steps.push_back({step.type, own(step.name), value});
  }
  epilogue.value = rewrite(given.value, renamed);
  canonical.epilogue = std::move(epilogue);
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
  if (nest.epilogue) {
    add_epilogue(canonical, nest, indices);
  }
  return canonical;
}

}  // namespace esc

// SPDX-License-Identifier: Apache-2.0
#include "generator/ir/print.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "generator/ir/expression_printer.h"
#include "generator/ir/rewrite.h"

namespace esc {
namespace {

/// Makes one visitor out of several lambdas.
template <typename... Visitors>
struct Overloaded : Visitors... {
  using Visitors::operator()...;
};
template <typename... Visitors>
Overloaded(Visitors...) -> Overloaded<Visitors...>;

std::string print(const ColumnSet& set) {
  return fmt::format("columns({}, {}{})", set.first_row, set.membership == Membership::any ? "any of " : "",
                     esc::print(set.pattern));
}

std::string print(const Update& update) {
  const std::string target = esc::print(update.target);
  const std::string value = esc::print(update.value);
  return update.atomic ? fmt::format("atomicAdd(&{}, {});", target, value) : fmt::format("{} += {};", target, value);
}

std::string print(const Store& store) {
  return fmt::format("{} = {};", esc::print(store.target), esc::print(store.value));
}

std::string print(const Copy& copy) {
  return fmt::format("{} = {};", esc::print(copy.target), esc::print(copy.source));
}

std::string print(const Perform& perform) {
  std::string arguments;
  for (const Expression& argument : perform.arguments) {
    arguments += (arguments.empty() ? "" : ", ") + esc::print(argument);
  }
  return fmt::format("{}{}{}({});", fmt::join(perform.results, ", "), perform.results.empty() ? "" : " = ",
                     perform.instruction, arguments);
}

std::string print(const Statement& statement) {
  const std::string guard = esc::print(statement.guard);
  if (const auto* define = std::get_if<Define>(&statement.action)) {
    const std::string value = esc::print(define->value);
    return fmt::format("{} {} = {};", c_name(define->type), define->name,
                       guard.empty() ? value : fmt::format("{} ? {} : 0", guard, value));
  }
  const std::string action = std::visit(
      Overloaded{[](const Define&) { return std::string(); }, [](const auto& other) { return print(other); }},
      statement.action);
  return guard.empty() ? action : fmt::format("if ({}) {}", guard, action);
}

std::string loop_head(const Loop& loop) {
  const std::string advance = loop.step == 1 ? fmt::format("{}++", loop.iterator)
                                             : fmt::format("{} += {}", loop.iterator, esc::print(loop.step));
  const std::string range = fmt::format("({0} = {1}; {0} < {2}; {3})", loop.iterator, esc::print(loop.lower),
                                        esc::print(loop.upper), advance);
  switch (loop.mapping) {
    case Mapping::grid:
      return fmt::format("grid {}  // {} = blockIdx.x", range, loop.iterator);
    case Mapping::grid_y:
      return fmt::format("grid {}  // {} = blockIdx.y", range, loop.iterator);
    case Mapping::cluster:
      return fmt::format("cluster {}  // {} = a digit of blockIdx.x, the lowest", range, loop.iterator);
    case Mapping::warps:
      return fmt::format("warps {}  // {} = threadIdx.x / 32", range, loop.iterator);
    case Mapping::lanes:
      return fmt::format("lanes {}  // {} = threadIdx.x % 32", range, loop.iterator);
    case Mapping::warp_digit:
      return fmt::format("warps {}  // {} = a digit of threadIdx.x / 32", range, loop.iterator);
    case Mapping::lane_digit:
      return fmt::format("lanes {}  // {} = a digit of threadIdx.x % 32", range, loop.iterator);
    case Mapping::threads:
      return fmt::format("threads {}  // {} = threadIdx.x", range, loop.iterator);
    case Mapping::unrolled:
      return fmt::format("for {}  // unrolled", range);
    case Mapping::sequential:
      break;
  }
  return "for " + range;
}

void print_nodes(const Block& block, int level, std::string& text);

void print_line(const std::string& line, int level, std::string& text) {
  text.append(static_cast<std::size_t>(2 * level), ' ');
  text += line + "\n";
}

/// A head with its body: braces only where the body is more than one node.
void print_nested(const std::string& head, const Block& body, int level, std::string& text) {
  const bool braces = body.size() != 1;
  const auto comment = head.find("  // ");
  const std::string opening = !braces                        ? head
                              : comment == std::string::npos ? head + " {"
                                                             : head.substr(0, comment) + " {" + head.substr(comment);
  print_line(opening, level, text);
  print_nodes(body, level + 1, text);
  if (braces) {
    print_line("}", level, text);
  }
}

void print_switch(const Switch& choice, int level, std::string& text) {
  std::string subject;
  if (const auto* pattern = std::get_if<ColumnPattern>(&choice.subject)) {
    const std::string row = esc::print(pattern->first_row);
    subject = pattern->height == 1
                  ? fmt::format("pattern(A[{}][{}])", row, esc::print(pattern->column))
                  : fmt::format("pattern(A[{}..{}][{}])", row, esc::print(pattern->first_row + (pattern->height - 1)),
                                esc::print(pattern->column));
  } else {
    subject = std::get<std::string>(choice.subject);
  }
  print_line(fmt::format("switch ({}) {{", subject), level, text);
  for (const Case& one : choice.cases) {
    const std::string label = std::holds_alternative<Pattern>(one.label)
                                  ? esc::print(std::get<Pattern>(one.label))
                                  : fmt::format("{}", std::get<std::int64_t>(one.label));
    print_line(fmt::format("case {}: {{", label), level + 1, text);
    print_nodes(one.body, level + 2, text);
    print_line("} break;", level + 1, text);
  }
  print_line("}", level, text);
}

void print_branch(const Branch& branch, int level, std::string& text) {
  print_line(fmt::format("if ({}) {{", esc::print(branch.condition)), level, text);
  print_nodes(branch.then, level + 1, text);
  if (!branch.otherwise.empty()) {
    print_line("} else {", level, text);
    print_nodes(branch.otherwise, level + 1, text);
  }
  print_line("}", level, text);
}

const char* scope_name(Scope scope) {
  switch (scope) {
    case Scope::cluster:
      return "cluster";
    case Scope::block:
      return "block";
    case Scope::consumer_group:
      return "consumer_group";
    case Scope::warp:
      return "warp";
    case Scope::thread:
      break;
  }
  return "thread";
}

void print_nodes(const Block& block, int level, std::string& text) {
  for (const Node& node : block) {
    std::visit(
        Overloaded{[&](const Statement& statement) { print_line(print(statement), level, text); },
                   [&](const Loop& loop) { print_nested(loop_head(loop), loop.body, level, text); },
                   [&](const ColumnLoop& loop) {
                     print_nested(fmt::format("for ({} : {})", loop.iterator, print(loop.set)), loop.body, level, text);
                   },
                   [&](const Switch& choice) { print_switch(choice, level, text); },
                   [&](const Branch& branch) { print_branch(branch, level, text); },
                   [&](const Barrier& barrier) {
                     print_line(fmt::format("barrier;  // of the {}", scope_name(barrier.scope)), level, text);
                   },
                   [&](const Note& note) { print_line("// " + note.text, level, text); },
                   [&](const Declare& declare) {
                     print_line(fmt::format("registers {}{};", declare.array, declare.zero ? " = 0" : ""), level, text);
                   }},
        node.content);
  }
}

const char* role_name(Role role) {
  switch (role) {
    case Role::row:
      return "row";
    case Role::reduction:
      return "reduction";
    case Role::column:
      return "column";
    case Role::group:
      return "group";
    case Role::none:
      break;
  }
  return "none";
}

/// "A(i, k) = [{i: 1}, {k: 1}]": the dictionary of each dimension, with the constant where it is not zero.
std::string print_access_function(const Access& access) {
  std::string dimensions;
  for (const Subscript& subscript : access.subscripts) {
    std::string entries;
    for (const Affine::Term& term : subscript.affine.terms()) {
      entries += fmt::format("{}{}: {}", entries.empty() ? "" : ", ", term.name, term.coefficient);
    }
    if (subscript.affine.constant() != 0) {
      entries += fmt::format("{}1: {}", entries.empty() ? "" : ", ", subscript.affine.constant());
    }
    dimensions += fmt::format("{}{{{}}}", dimensions.empty() ? "" : ", ", entries);
  }
  return fmt::format("{} -> [{}]", access.array, dimensions);
}

/// "// shared_sums[8][2][32]: shared memory of a block" for an array that every cluster, block or thread has of its
/// own, else nothing.
std::string print_local(const ArrayDeclaration& array) {
  const std::string owner = array.role == ArrayRole::registers ? "registers of a thread"
                            : array.role == ArrayRole::shared  ? "shared memory of a block"
                            : array.role == ArrayRole::cluster ? "shared memory of the blocks of a cluster"
                                                               : "";
  if (owner.empty()) {
    return "";
  }
  std::string extents;
  for (const Affine& extent : array.extents) {
    extents += fmt::format("[{}]", esc::print(extent));
  }
  return fmt::format("// {}{}: {}\n", array.name, extents, owner);
}

/// "// thread = threadIdx.x" where the body reads that name, which no loop gives it, else nothing.
std::string print_thread(const Block& body, const std::string& name, const std::string& value) {
  const std::string iterators = ", " + list_iterators(body) + ",";
  const bool has_loop = iterators.find(", " + name + ",") != std::string::npos;
  return mentions(body, name) && !has_loop ? fmt::format("// {} = {}\n", name, value) : "";
}

void print_space(const Block& block, std::vector<const Loop*>& around, std::string& text) {
  for (const Node& node : block) {
    if (const auto* loop = std::get_if<Loop>(&node.content)) {
      around.push_back(loop);
      print_space(loop->body, around, text);
      around.pop_back();
    } else if (const auto* statement = std::get_if<Statement>(&node.content)) {
      std::string iterators;
      std::string bounds;
      for (const Loop* one : around) {
        iterators += (iterators.empty() ? "" : ", ") + one->iterator;
        bounds += fmt::format("{}{} <= {} < {}", bounds.empty() ? "" : ", ", esc::print(one->lower), one->iterator,
                              esc::print(one->upper));
      }
      text += fmt::format("scope {}: {}\n", around.size(), print(*statement));
      text += fmt::format("  iteration space {{ ({}) : {} }}\n  roles ", iterators, bounds);
      for (const Loop* one : around) {
        text += fmt::format("{}{} {}", one == around.front() ? "" : ", ", one->iterator, role_name(one->role));
      }
      text += "\n";
      if (const auto* update = std::get_if<Update>(&statement->action)) {
        if (const Access* target = update->target.access()) {
          text += "  access " + print_access_function(*target) + "\n";
        }
        for (const Expression& factor : factors(update->value)) {
          if (const Access* access = factor.access()) {
            text += "  access " + print_access_function(*access) + "\n";
          }
        }
      }
    }
  }
}

}  // namespace

std::string print(const Access& access) { return ExpressionPrinter().access(access); }

std::string print(const Expression& expression) { return ExpressionPrinter().print(expression); }

std::string print(const Guard& guard) {
  std::string text;
  for (const Expression& condition : guard) {
    text += (text.empty() ? "" : " && ") + print(condition);
  }
  return text;
}

std::string print(const Block& block, int level) {
  std::string text;
  print_nodes(block, level, text);
  return text;
}

std::string print(const LoopNest& nest) {
  std::string text;
  for (const DerivedSize& size : nest.derived_sizes) {
    const bool sum = size.numerator.terms().size() > 1;
    text += fmt::format("// {} = ceil({}{}{} / {})\n", size.name, sum ? "(" : "", print(size.numerator), sum ? ")" : "",
                        size.divisor);
  }
  for (const NamedConstant& constant : nest.constants) {
    text += fmt::format("// {} = {}\n", constant.name, print(constant.value));
  }
  for (const ArrayDeclaration& array : nest.arrays) {
    text += print_local(array);
  }
  text += print_thread(nest.body, "warp", "threadIdx.x / 32") + print_thread(nest.body, "thread", "threadIdx.x");
  return text + print(nest.body) + (nest.epilogue ? print(nest_of_epilogue(nest).body) : "");
}

std::string print_iteration_space(const LoopNest& nest) {
  std::string text;
  std::vector<const Loop*> around;
  print_space(nest.body, around, text);
  return text;
}

}  // namespace esc

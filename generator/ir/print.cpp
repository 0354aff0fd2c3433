#include "generator/ir/print.h"

#include <fmt/format.h>

namespace esc {
namespace {

/// Makes one visitor out of several lambdas.
template <typename... Visitors>
struct Overloaded : Visitors... {
  using Visitors::operator()...;
};
template <typename... Visitors>
Overloaded(Visitors...) -> Overloaded<Visitors...>;

std::string print(const Subscript& subscript) {
  if (subscript.offset.empty()) {
    return esc::print(subscript.affine);
  }
  if (subscript.affine == Affine()) {
    return subscript.offset;
  }
  return subscript.offset + " + " + esc::print(subscript.affine);
}

std::string print(const ColumnSet& set) {
  return fmt::format("columns({}, {}{})", set.first_row, set.membership == Membership::any ? "any of " : "",
                     esc::print(set.pattern));
}

std::string print(const Condition& condition) {
  if (const auto* less = std::get_if<Less>(&condition)) {
    return fmt::format("{} < {}", esc::print(less->left), esc::print(less->right));
  }
  return fmt::format("{} != 0", esc::print(std::get<NonZero>(condition).access));
}

std::string print(const Update& update) {
  std::string product;
  for (const Operand& factor : update.factors) {
    product += (product.empty() ? "" : " * ") + esc::print(factor);
  }
  const std::string target = esc::print(update.target);
  return update.atomic ? fmt::format("atomicAdd(&{}, {});", target, product) : fmt::format("{} += {};", target, product);
}

std::string print(const Store& store) {
  return fmt::format("{} = {};", esc::print(store.target), esc::print(store.value));
}

std::string print(const Statement& statement) {
  return std::visit(
      Overloaded{
          [&](const DefineIndex& define) {
            const std::string value = esc::print(define.value);
            return statement.guard.empty()
                       ? fmt::format("int {} = {};", define.name, value)
                       : fmt::format("int {} = {} ? {} : 0;", define.name, esc::print(statement.guard), value);
          },
          [&](const DefineElement& define) {
            const std::string value = esc::print(define.value);
            return statement.guard.empty()
                       ? fmt::format("float {} = {};", define.name, value)
                       : fmt::format("float {} = {} ? {} : 0;", define.name, esc::print(statement.guard), value);
          },
          [&](const auto& write) {
            return statement.guard.empty() ? print(write)
                                           : fmt::format("if ({}) {}", esc::print(statement.guard), print(write));
          }},
      statement.action);
}

std::string loop_head(const Loop& loop) {
  const std::string advance =
      loop.step == 1 ? fmt::format("{}++", loop.iterator) : fmt::format("{} += {}", loop.iterator, loop.step);
  const std::string range = fmt::format("({0} = {1}; {0} < {2}; {3})", loop.iterator, esc::print(loop.lower),
                                        esc::print(loop.upper), advance);
  switch (loop.mapping) {
    case Mapping::grid:
      return fmt::format("grid {}  // {} = blockIdx.x", range, loop.iterator);
    case Mapping::grid_y:
      return fmt::format("grid {}  // {} = blockIdx.y", range, loop.iterator);
    case Mapping::warps:
      return fmt::format("warps {}  // {} = threadIdx.x / 32", range, loop.iterator);
    case Mapping::lanes:
      return fmt::format("lanes {}  // {} = threadIdx.x % 32", range, loop.iterator);
    case Mapping::warp_digit:
      return fmt::format("warps {}  // {} = a digit of threadIdx.x / 32", range, loop.iterator);
    case Mapping::lane_digit:
      return fmt::format("lanes {}  // {} = a digit of threadIdx.x % 32", range, loop.iterator);
    case Mapping::sequential:
      break;
  }
  return loop.multiple == 1 ? "for " + range
                            : fmt::format("for {}  // {} = a multiple of {}", range,
                                          esc::print(loop.upper - loop.lower), loop.multiple);
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

void print_nodes(const Block& block, int level, std::string& text) {
  for (const Node& node : block) {
    std::visit(Overloaded{[&](const Statement& statement) { print_line(print(statement), level, text); },
                          [&](const Loop& loop) { print_nested(loop_head(loop), loop.body, level, text); },
                          [&](const ColumnLoop& loop) {
                            print_nested(fmt::format("for ({} : {})", loop.iterator, print(loop.set)), loop.body, level,
                                         text);
                          },
                          [&](const Switch& choice) { print_switch(choice, level, text); }},
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

/// "// warp_sums[8][2][32]: shared memory of a block" for an array that every block has of its own, else nothing.
std::string print_local(const ArrayDeclaration& array) {
  if (array.role != ArrayRole::registers && array.role != ArrayRole::shared) {
    return "";
  }
  std::string extents;
  for (const Affine& extent : array.extents) {
    extents += fmt::format("[{}]", esc::print(extent));
  }
  return fmt::format("// {}{}: {} of a block\n", array.name, extents,
                     array.role == ArrayRole::shared ? "shared memory" : "registers");
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
        text += "  access " + print_access_function(std::get<Access>(update->target)) + "\n";
        for (const Operand& factor : update->factors) {
          if (const auto* access = std::get_if<Access>(&factor)) {
            text += "  access " + print_access_function(*access) + "\n";
          }
        }
      }
    }
  }
}

}  // namespace

std::string print(const Access& access) {
  std::string text = access.array;
  for (const Subscript& subscript : access.subscripts) {
    text += "[" + print(subscript) + "]";
  }
  return text;
}

std::string print(const Operand& operand) {
  return std::visit(Overloaded{[](const Access& access) { return print(access); },
                               [](const std::string& scalar) { return scalar; },
                               [](double constant) { return fmt::format("{}", constant); }},
                    operand);
}

std::string print(const IndexExpression& expression) {
  return std::visit(
      Overloaded{[](const Affine& affine) { return print(affine); },
                 [](const Access& access) { return print(access); },
                 [](const Quotient& quotient) { return fmt::format("{} / {}", quotient.numerator, quotient.divisor); },
                 [](const Remainder& rest) { return fmt::format("{} % {}", rest.numerator, rest.divisor); },
                 [](const RoundDown& round) { return fmt::format("{0} - {0} % {1}", round.value, round.multiple); },
                 [](const PopulationCount& count) { return fmt::format("popcount({})", count.mask); },
                 [](const LowestSetBit& bit) { return fmt::format("lowest_bit({})", bit.mask); },
                 [](const ClearLowestSetBit& clear) { return fmt::format("{0} & ({0} - 1)", clear.mask); },
                 [](const ColumnCount& count) { return fmt::format("size({})", print(count.set)); },
                 [](const ColumnAt& at) { return fmt::format("{}[{}]", print(at.set), print(at.position)); },
                 [](const Minimum& least) { return fmt::format("min({}, {})", print(least.left), print(least.right)); }},
      expression);
}

std::string print(const Guard& guard) {
  std::string text;
  for (const Condition& condition : guard) {
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
  for (const ArrayDeclaration& array : nest.arrays) {
    text += print_local(array);
  }
  return text + print(nest.body);
}

std::string print_iteration_space(const LoopNest& nest) {
  std::string text;
  std::vector<const Loop*> around;
  print_space(nest.body, around, text);
  return text;
}

}  // namespace esc

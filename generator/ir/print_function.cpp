#include "generator/ir/print_function.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <vector>

#include "generator/ir/expression_printer.h"
#include "generator/ir/math_function.h"
#include "generator/ir/print.h"
#include "generator/ir/rewrite.h"
#include "generator/support/error.h"

namespace esc {
namespace {

/// The names that the extents are made of, each once.
std::vector<std::string> size_names(const LoopNest& nest) {
  std::vector<std::string> names;
  for (const ArrayDeclaration& array : nest.arrays) {
    for (const Affine& extent : array.extents) {
      for (const Affine::Term& term : extent.terms()) {
        if (std::ranges::find(names, term.name) == names.end()) {
          names.push_back(term.name);
        }
      }
    }
  }
  return names;
}

std::string parameter(const ArrayDeclaration& array) {
  std::string extents;
  for (const Affine& extent : array.extents) {
    extents += fmt::format("[{}]", print(extent));
  }
  return fmt::format("{}{} {}{}", array.role == ArrayRole::output ? "" : "const ", c_name(array.type), array.name, extents);
}

/// Expressions in which functions have the names that they have for the nest's type.
class FunctionText : public ExpressionPrinter {
 public:
  explicit FunctionText(ScalarType type) : type_(type) {}

  std::string function(const std::string& name) const override { return type_ == ScalarType::f64 ? name : name + "f"; }

 private:
  ScalarType type_;
};

std::string statement_text(const Statement& statement, const FunctionText& expressions) {
  const std::string guard = statement.guard.empty() ? "" : fmt::format("if ({}) ", expressions.print(all_of(statement.guard)));
  if (const auto* define = std::get_if<Define>(&statement.action)) {
    return fmt::format("{} {} = {};", c_name(define->type), define->name, expressions.print(define->value));
  }
  if (const auto* update = std::get_if<Update>(&statement.action)) {
    return fmt::format("{}{} += {};", guard, expressions.print(update->target), expressions.print(update->value));
  }
  const auto* store = std::get_if<Store>(&statement.action);
  ESC_CHECK(store != nullptr, "an input nest has updates and an epilogue");
  return fmt::format("{} = {};", expressions.access(store->target), expressions.print(store->value));
}

std::string body(const Block& block, int level, const FunctionText& expressions) {
  std::string text;
  for (const Node& node : block) {
    const auto* loop = std::get_if<Loop>(&node.content);
    if (loop == nullptr) {
      text += fmt::format("{:{}}{}\n", "", 2 * level, statement_text(std::get<Statement>(node.content), expressions));
      continue;
    }
    ESC_CHECK(loop->step == 1 && !is_mapped(loop->mapping), "the loops of an input nest are plain");
    const bool braces = loop->body.size() != 1;
    text += fmt::format("{:{}}for (int {} = {}; {} < {}; {}++){}\n{}", "", 2 * level, loop->iterator, print(loop->lower),
                        loop->iterator, print(loop->upper), loop->iterator, braces ? " {" : "",
                        body(loop->body, level + 1, expressions));
    if (braces) {
      text += fmt::format("{:{}}}}\n", "", 2 * level);
    }
  }
  return text;
}

/// The loops of the epilogue, in which the element of the output stands for the sum.
Block epilogue_body(const LoopNest& nest) {
  if (!nest.epilogue) {
    return {};
  }
  Block result = nest_of_epilogue(nest).body;
  auto& columns = std::get<Loop>(std::get<Loop>(result.front().content).body.front().content);
  const Access element = std::get<Store>(std::get<Statement>(columns.body.back().content).action).target;
  columns.body.erase(columns.body.begin());
  columns.body = rewrite(columns.body, {.expression = [&](const Expression& expression) {
                           return expression == Expression(Name{nest.epilogue->sum}) ? Expression(element) : expression;
                         }});
  return result;
}

/// Declarations of the functions that are called, for a text without headers.
std::string declarations(const Block& block, ScalarType type) {
  std::set<std::string> called;
  rewrite(block, {.expression = [&](const Expression& expression) {
            if (const auto* call = std::get_if<Call>(&expression.content)) {
              called.insert(call->function);
            }
            return expression;
          }});
  std::string text;
  for (const std::string& name : called) {
    const MathFunction* function = find_math_function(name);
    ESC_CHECK(function != nullptr, "a function of the mathematics library: " + name);
    const char* const element = c_name(type);
    text += fmt::format("{0} {1}({0}{2});\n", element, FunctionText(type).function(name),
                        function->arity() == 2 ? fmt::format(", {}", element) : "");
  }
  return text;
}

}  // namespace

std::string print_function(const LoopNest& nest) {
  std::vector<std::string> parameters;
  for (const std::string& size : size_names(nest)) {
    parameters.push_back("int " + size);
  }
  for (const ArrayDeclaration& array : nest.arrays) {
    parameters.push_back(parameter(array));
  }
  const Block epilogue = epilogue_body(nest);
  const FunctionText expressions(nest.element());
  return fmt::format("{}void product({}) {{\n{}{}}}\n", declarations(epilogue, nest.element()), fmt::join(parameters, ", "),
                     body(nest.body, 1, expressions), body(epilogue, 1, expressions));
}

}  // namespace esc

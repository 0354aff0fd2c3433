// SPDX-License-Identifier: Apache-2.0
#include "generator/ir/print_function.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
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

/// The arrays that the statements change.
void find_changed(const Block& block, std::set<std::string>& changed) {
  for (const Node& node : block) {
    if (const auto* loop = std::get_if<Loop>(&node.content)) {
      find_changed(loop->body, changed);
    } else if (const auto* statement = std::get_if<Statement>(&node.content)) {
      const auto* update = std::get_if<Update>(&statement->action);
      const auto* store = std::get_if<Store>(&statement->action);
      const Access* target = update != nullptr ? update->target.access() : store != nullptr ? &store->target : nullptr;
      if (target != nullptr) {
        changed.insert(target->array);
      }
    }
  }
}

/// "[M][8]"; of the outermost dimension, [] where its extent is not known.
std::string extents_text(const ArrayDeclaration& array) {
  std::string extents;
  for (const Affine& extent : array.extents) {
    extents += extents.empty() && extent == 0 ? "[]" : fmt::format("[{}]", print(extent));
  }
  return extents;
}

std::string parameter(const ArrayDeclaration& array, bool is_changed) {
  const std::string extents = extents_text(array);
  return fmt::format("{}{} {}{}", is_changed ? "" : "const ", nest_name(array.type), array.name, extents);
}

std::string body(const Block& block, int level) {
  std::string text;
  for (const Node& node : block) {
    const auto* loop = std::get_if<Loop>(&node.content);
    if (loop == nullptr) {
      text += print(Block{node}, level);
      continue;
    }
    ESC_CHECK(loop->step == 1 && !is_mapped(loop->mapping), "the loops of an input nest are plain");
    const bool braces = loop->body.size() != 1;
    text += fmt::format("{:{}}for (int {} = {}; {} < {}; {}++){}\n{}", "", 2 * level, loop->iterator,
                        print(loop->lower), loop->iterator, print(loop->upper), loop->iterator, braces ? " {" : "",
                        body(loop->body, level + 1));
    text += braces ? fmt::format("{:{}}}}\n", "", 2 * level) : "";
  }
  return text;
}

/// Numbers are printed as such: 2 would be an integer, and 1 / 2 a division of integers.
class ValuePrinter : public ExpressionPrinter {
  std::string constant(double value) const override {
    ESC_CHECK(std::isfinite(value), "the numbers of an input nest are finite");
    const std::string text = fmt::format("{}", value);
    return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
  }
};

/// What nest_of_epilogue says, as statements. The locals are not const: the value of a constant would be read in its
/// place.
std::string body(const Epilogue& epilogue, const ArrayDeclaration& output) {
  const ValuePrinter printer;
  const auto loop = [](const std::string& iterator, const Affine& extent) {
    return fmt::format("for (int {0} = 0; {0} < {1}; {0}++)", iterator, print(extent));
  };
  std::string element = output.name;
  std::string loops;
  std::size_t depth = 0;
  for (const std::string& subscript : epilogue.subscripts) {
    element += fmt::format("[{}]", subscript);
    loops +=
        fmt::format("{}{:{}}{}", depth == 0 ? "" : "\n", "", 2 * depth + 2, loop(subscript, output.extents.at(depth)));
    ++depth;
  }
  std::string text = fmt::format("{} {{\n", loops);
  const auto line = [&](const std::string& statement) {
    text += fmt::format("{:{}}{};\n", "", 2 * depth + 2, statement);
  };
  line(fmt::format("{} {} = {}", nest_name(sum_type(output.type)), epilogue.sum, element));
  for (const Define& step : epilogue.steps) {
    line(fmt::format("{} {} = {}", nest_name(step.type), step.name, printer.print(step.value)));
  }
  line(fmt::format("{} = {}", element, printer.print(epilogue.value)));
  return text + fmt::format("{:{}}}}\n", "", 2 * depth);
}

/// The functions of C's mathematics library that the expression calls.
void find_calls(const Expression& expression, std::set<std::string>& functions) {
  rewrite(expression, {.expression = [&](const Expression& part) {
            if (const auto* call = std::get_if<Call>(&part.content)) {
              functions.insert(call->function);
            }
            return part;
          }});
}

/// Their declarations: a header would bring more than them.
std::string declared_functions(const Epilogue& epilogue) {
  std::set<std::string> functions;
  for (const Define& step : epilogue.steps) {
    find_calls(step.value, functions);
  }
  find_calls(epilogue.value, functions);
  std::string text;
  for (const std::string& name : functions) {
    const MathFunction* function = find_math_function(name);
    ESC_CHECK(function != nullptr, "the function " + name + " is known");
    text += fmt::format("double {}({});\n", name, function->arity() == 1 ? "double" : "double, double");
  }
  return text;
}

/// Tables of constants, which are before the function. Braces around a part of the numbers may be left out.
std::string tables_text(const LoopNest& nest) {
  std::string text;
  for (const ArrayDeclaration& array : nest.arrays) {
    std::string values;
    for (const double value : array.values) {
      values +=
          (values.empty() ? "" : ", ") +
          (is_index(array.type) ? fmt::format("{}", static_cast<std::int64_t>(value)) : ValuePrinter().print(value));
    }
    if (!array.values.empty()) {
      text += fmt::format("static const {} {}{} = {{{}}};\n", nest_name(array.type), array.name, extents_text(array),
                          values);
    }
  }
  return text;
}

}  // namespace

std::string print_function(const LoopNest& nest_with_roles) {
  const LoopNest& nest = nest_with_roles.written.empty() ? nest_with_roles : nest_with_roles.written.front();
  std::vector<std::string> parameters;
  for (const std::string& size : size_names(nest)) {
    parameters.push_back("int " + size);
  }
  std::set<std::string> changed;
  find_changed(nest.body, changed);
  for (const ArrayDeclaration& array : nest.arrays) {
    if (array.values.empty()) {
      parameters.push_back(parameter(array, changed.contains(array.name)));
    }
  }
  std::string functions = tables_text(nest);
  std::string statements = body(nest.body, 1);
  if (nest.epilogue) {
    functions += declared_functions(*nest.epilogue);
    statements += body(*nest.epilogue, nest.array(ArrayRole::output));
  }
  return fmt::format("{}void product({}) {{\n{}}}\n", functions, fmt::join(parameters, ", "), statements);
}

}  // namespace esc

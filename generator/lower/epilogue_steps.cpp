// SPDX-License-Identifier: Apache-2.0
#include "generator/lower/epilogue_steps.h"

#include <fmt/format.h>

#include "generator/ir/math_function.h"
#include "generator/ir/rewrite.h"

namespace esc {

void for_each_operand(const Expression& expression, const std::function<void(const Expression&)>& visit) {
  rewrite(expression, {.expression = [&](const Expression& part) {
            if (part.access() != nullptr || name_in(part) != nullptr) {
              visit(part);
            }
            return part;
          }});
}

EpilogueSteps::EpilogueSteps(const LoopNest& nest, const std::vector<NestedStatement>& statements) {
  for (const MathFunction& function : math_functions()) {
    taken_.emplace(function.name);
  }
  for (const ArrayDeclaration& array : nest.arrays) {
    taken_.insert(array.name);
  }
  for (const NestedStatement& statement : statements) {
    for (const Loop* loop : statement.loops) {
      taken_.insert(loop->iterator);
      for (const Affine::Term& term : loop->upper.terms()) {
        taken_.insert(term.name);
      }
    }
  }
}

Expression EpilogueSteps::named(const std::string& local, const Expression& value) {
  if (name_in(value) == nullptr) {
    return add(local, value);
  }
  if (value == Expression(the_sum) && sum_.empty()) {
    sum_ = fresh(local);
  }
  return value;
}

Expression EpilogueSteps::add(const std::string& name, const Expression& value) {
  const std::string step = fresh(name);
  if (depends_on_sum(value)) {
    made_of_sum_.insert(step);
  }
  steps_.push_back({.name = step, .value = value});
  return Name{step};
}

std::string EpilogueSteps::fresh(const std::string& name) {
  std::string result = name;
  for (int number = 2; !taken_.insert(result).second; ++number) {
    result = fmt::format("{}_{}", name, number);
  }
  return result;
}

bool EpilogueSteps::depends_on_sum(const Expression& value) const {
  bool depends = false;
  for_each_operand(value, [&](const Expression& operand) {
    const Name* name = name_in(operand);
    depends = depends || (name != nullptr && (*name == the_sum || made_of_sum_.contains(name->name)));
  });
  return depends;
}

Epilogue EpilogueSteps::finish(const std::vector<std::string>& subscripts, const Expression& value, ScalarType type) {
  if (sum_.empty()) {
    sum_ = fresh("sum");
  }
  const auto with_sum = [&](const Expression& given) {
    return rewrite(given, {.expression = [&](const Expression& part) {
                     return part == Expression(the_sum) ? Expression(Name{sum_}) : part;
                   }});
  };
  Epilogue epilogue{subscripts, sum_, used_by(value), with_sum(value)};
  for (Define& step : epilogue.steps) {
    step.type = type;
    step.value = with_sum(step.value);
  }
  return epilogue;
}

std::vector<Define> EpilogueSteps::used_by(const Expression& value) const {
  std::set<std::string> used;
  const auto use = [&](const Expression& operand) {
    if (const Name* name = name_in(operand)) {
      used.insert(name->name);
    }
  };
  for_each_operand(value, use);
  std::vector<Define> steps;
  for (auto step = steps_.rbegin(); step != steps_.rend(); ++step) {
    if (used.contains(step->name)) {
      for_each_operand(step->value, use);
      steps.insert(steps.begin(), *step);
    }
  }
  return steps;
}

}  // namespace esc

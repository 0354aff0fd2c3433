// SPDX-License-Identifier: Apache-2.0
#include "generator/ir/math_function.h"

#include <algorithm>
#include <cmath>

namespace esc {
namespace {

constexpr MathFunction of_one(std::string_view name, double (*function)(double), double ulps) {
  return {name, function, nullptr, ulps};
}
constexpr MathFunction of_two(std::string_view name, double (*function)(double, double), double ulps) {
  return {name, nullptr, function, ulps};
}

}  // namespace

const std::vector<MathFunction>& math_functions() {
  static const std::vector<MathFunction> functions{
      of_one("ceil", std::ceil, 0), of_one("cos", std::cos, 2),     of_one("erf", std::erf, 2),
      of_one("exp", std::exp, 2),   of_one("exp2", std::exp2, 2),   of_one("expm1", std::expm1, 1),
      of_one("fabs", std::fabs, 0), of_one("floor", std::floor, 0), of_two("fmax", std::fmax, 0),
      of_two("fmin", std::fmin, 0), of_one("log", std::log, 1),     of_one("log1p", std::log1p, 1),
      of_one("log2", std::log2, 1), of_two("pow", std::pow, 4),     of_one("rint", std::rint, 0),
      of_one("sin", std::sin, 2),   of_one("sqrt", std::sqrt, 0.5), of_one("tanh", std::tanh, 2)};
  return functions;
}

const MathFunction* find_math_function(std::string_view name) {
  const auto found = std::ranges::find(math_functions(), name, &MathFunction::name);
  return found == math_functions().end() ? nullptr : &*found;
}

}  // namespace esc

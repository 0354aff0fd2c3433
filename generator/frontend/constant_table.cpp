// SPDX-License-Identifier: Apache-2.0
#include "generator/frontend/constant_table.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/Decl.h>
#include <clang/AST/Expr.h>

#include <algorithm>
#include <cmath>

#include "generator/lower/table_line.h"

namespace esc::frontend {
namespace {

/// The constants of a table are printed with the nest, and a kernel has them in memory of its own.
constexpr std::size_t most_elements = 1024;

/// Appends the numbers that the value is made of; false where some are none.
bool append_numbers(const clang::APValue& value, std::vector<double>& numbers) {
  if (value.isArray()) {
    for (unsigned at = 0; at < value.getArraySize() && numbers.size() <= most_elements; ++at) {
      if (!append_numbers(
              at < value.getArrayInitializedElts() ? value.getArrayInitializedElt(at) : value.getArrayFiller(),
              numbers)) {
        return false;
      }
    }
    return true;
  }
  if (value.isInt() && value.getInt().isRepresentableByInt64()) {
    numbers.push_back(static_cast<double>(value.getInt().getExtValue()));
    return static_cast<std::int64_t>(numbers.back()) == value.getInt().getExtValue();
  }
  if (value.isFloat()) {
    llvm::APFloat number = value.getFloat();
    bool loses = false;
    number.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &loses);
    numbers.push_back(number.convertToDouble());
    return std::isfinite(numbers.back());
  }
  return false;
}

/// Between which values the index stays; nothing where loops have no numbers for bounds, or something else is in it.
std::optional<IndexRange> range_in(const Affine& index, const Scope& scope) {
  for (const Affine::Term& term : index.terms()) {
    const auto loop = std::ranges::find(scope.loops, term.name, [](const auto& one) { return one->iterator; });
    if (loop == scope.loops.end() || !(*loop)->upper.is_constant() || term.coefficient < 0) {
      return std::nullopt;
    }
  }
  return range_of(index, [&](const std::string& iterator) {
    return (*std::ranges::find(scope.loops, iterator, [](const auto& one) { return one->iterator; }))->upper.constant();
  });
}

}  // namespace

bool is_table(const clang::VarDecl& variable) {
  return variable.getType()->isArrayType() && !clang::isa<clang::ParmVarDecl>(variable) &&
         variable.getAnyInitializer() != nullptr;
}

bool is_of_table(const clang::Expr& element) {
  const clang::Expr* array = element.IgnoreParenImpCasts();
  while (const auto* part = clang::dyn_cast<clang::ArraySubscriptExpr>(array)) {
    array = part->getBase()->IgnoreParenImpCasts();
  }
  const clang::VarDecl* variable = named_variable(*array);
  return variable != nullptr && is_table(*variable);
}

std::vector<double> table_values(const clang::VarDecl& array, const clang::ASTContext& ast) {
  const clang::ArrayType* type = ast.getAsArrayType(array.getType());
  if (type == nullptr || !ast.getBaseElementType(array.getType()).isConstQualified() ||
      array.getAnyInitializer() == nullptr) {
    return {};
  }
  const clang::APValue* value = array.evaluateValue();
  std::vector<double> numbers;
  const bool are_known =
      value != nullptr && value->isArray() && append_numbers(*value, numbers) && numbers.size() <= most_elements;
  return are_known ? numbers : std::vector<double>();
}

std::optional<Polynomial> line_of_table(const std::vector<double>& values, const Polynomial& index,
                                        const Scope& scope) {
  const std::optional<Affine> affine = index.affine();
  const std::optional<IndexRange> range = affine ? range_in(*affine, scope) : std::nullopt;
  const std::optional<Line> line = range ? line_through(values, *range) : std::nullopt;
  const auto scaled = line ? index.times(line->step) : std::nullopt;
  return scaled ? scaled->plus(line->start) : std::nullopt;
}

}  // namespace esc::frontend

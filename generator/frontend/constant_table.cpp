#include "generator/frontend/constant_table.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/Decl.h>
#include <clang/AST/Expr.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "generator/frontend/refusal.h"
#include "generator/lower/index_range.h"

namespace esc::frontend {
namespace {

/// Index arrays of sparse matrices are what is loaded as a rule.
constexpr const char* no_index_arrays =
    "expected sums of iterators times numbers, and sizes that are parameters. A sparse matrix is written whole, C[i][j] += A[i][k] * "
    "B[k][j] under if (A[i][k] != 0), in whatever form it is given: only its non-zeros are stored and multiplied";

/// The constants that the array has; nothing where they may change, or are no integers of 64 bits.
std::optional<std::vector<std::int64_t>> values_of(const clang::VarDecl& array, const clang::ASTContext& ast) {
  const clang::ArrayType* type = ast.getAsArrayType(array.getType());
  if (type == nullptr || !type->getElementType().isConstQualified() || array.getAnyInitializer() == nullptr) {
    return std::nullopt;
  }
  const clang::APValue* value = array.evaluateValue();
  if (value == nullptr || !value->isArray()) {
    return std::nullopt;
  }
  std::vector<std::int64_t> values;
  for (unsigned at = 0; at < value->getArraySize(); ++at) {
    const clang::APValue& one =
        at < value->getArrayInitializedElts() ? value->getArrayInitializedElt(at) : value->getArrayFiller();
    if (!one.isInt() || !one.getInt().isRepresentableByInt64()) {
      return std::nullopt;
    }
    values.push_back(one.getInt().getExtValue());
  }
  return values;
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

/// The affine function that the values are between these places; nothing where they are none.
std::optional<std::pair<std::int64_t, std::int64_t>> line_through(const std::vector<std::int64_t>& values, std::int64_t least, std::int64_t most) {
  const auto value = [&](std::int64_t at) { return values[static_cast<std::size_t>(at)]; };
  std::int64_t step = 0;
  std::int64_t back = 0;
  std::int64_t start = 0;
  if ((most > least && __builtin_sub_overflow(value(least + 1), value(least), &step)) || __builtin_mul_overflow(step, least, &back) ||
      __builtin_sub_overflow(value(least), back, &start)) {
    return std::nullopt;
  }
  for (std::int64_t at = least; at < most; ++at) {
    if (std::int64_t difference = 0; __builtin_sub_overflow(value(at + 1), value(at), &difference) || difference != step) {
      return std::nullopt;
    }
  }
  return std::pair(start, step);
}

}  // namespace

bool is_table(const clang::VarDecl& variable) {
  return variable.getType()->isArrayType() && !clang::isa<clang::ParmVarDecl>(variable) && variable.getAnyInitializer() != nullptr;
}

bool is_of_table(const clang::Expr& element) {
  const clang::Expr* array = element.IgnoreParenImpCasts();
  while (const auto* part = clang::dyn_cast<clang::ArraySubscriptExpr>(array)) {
    array = part->getBase()->IgnoreParenImpCasts();
  }
  const clang::VarDecl* variable = named_variable(*array);
  return variable != nullptr && is_table(*variable);
}

Polynomial read_table(const clang::ArraySubscriptExpr& element, const Polynomial& written, const Scope& scope) {
  const clang::VarDecl* array = named_variable(*element.getBase());
  if (array == nullptr) {
    refuse(element, fmt::format("this is loaded from memory: {}", no_index_arrays));
  }
  const std::string name = array->getNameAsString();
  const auto values = values_of(*array, scope.variables->ast());
  if (!values) {
    refuse(element, fmt::format("{}[{}] is loaded from memory: {}", name, print(written), no_index_arrays));
  }
  const std::optional<Affine> index = written.affine();
  const std::optional<IndexRange> range = index ? range_in(*index, scope) : std::nullopt;
  if (!range) {
    refuse(element, fmt::format("which elements of the table {} are meant is not known at [{}]: expected iterators of loops with numbers for bounds, "
                                "times numbers; {}",
                                name, print(written), size_remedy));
  }
  if (range->least < 0 || range->most >= std::ssize(*values)) {
    refuse(element, fmt::format("{}[{}] goes from {} to {}, but the table has {} elements", name, print(written), range->least, range->most,
                                values->size()));
  }
  const auto line = line_through(*values, range->least, range->most);
  const auto scaled = line ? written.times(line->second) : std::nullopt;
  const auto result = scaled ? scaled->plus(line->first) : std::nullopt;
  if (!result) {
    refuse(element, fmt::format("the values of the table {}, {}, do not follow from the index {} by one number times it plus another: expected them "
                                "evenly spaced, or a nest for each part that is",
                                name, fmt::join(*values, ", "), print(written)));
  }
  return *result;
}

}  // namespace esc::frontend

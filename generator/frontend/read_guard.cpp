// SPDX-License-Identifier: Apache-2.0
#include "generator/frontend/read_guard.h"

#include <clang/AST/Expr.h>
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "generator/frontend/read_element.h"
#include "generator/frontend/read_index.h"
#include "generator/frontend/refusal.h"

namespace esc::frontend {
namespace {

constexpr const char* expected_guard =
    "expected A[i][k] != 0 on the sparse matrix, the bounds of an index as in h >= 0 && h < H, or no guard; what "
    "becomes of C may be a choice, condition ? x : y";

/// A condition on one element: it holds exactly where the element is zero, or exactly where it is not.
struct ZeroTest {
  ArrayElement element;
  bool holds_at_zero = false;
};

ZeroTest read_zero_test(const clang::Expr& condition, const Scope& scope);

[[noreturn]] void refuse_comparison(const clang::Expr& comparison) {
  refuse(comparison, fmt::format("a guard may leave out zeros only, and all of them: {}", expected_guard));
}

/// A condition without the casts that only make it a truth value.
const clang::Expr& without_truth_casts(const clang::Expr& condition) {
  const clang::Expr* inner = &without_value_casts(condition);
  while (const auto* cast = clang::dyn_cast<clang::CastExpr>(inner)) {
    const bool keeps =
        cast->getCastKind() == clang::CK_FloatingToBoolean || cast->getCastKind() == clang::CK_IntegralToBoolean ||
        (cast->getCastKind() == clang::CK_IntegralCast && cast->getSubExpr()->isKnownToHaveBooleanValue());
    if (!keeps) {
      break;
    }
    inner = &without_value_casts(*cast->getSubExpr());
  }
  return *inner;
}

ZeroTest read_equality(const clang::BinaryOperator& comparison, const Scope& scope) {
  if (!comparison.isEqualityOp()) {
    refuse_comparison(comparison);
  }
  const bool zero_first = is_zero(*comparison.getLHS());
  if (!zero_first && !is_zero(*comparison.getRHS())) {
    refuse(comparison, fmt::format("the guard does not compare with 0: {}", expected_guard));
  }
  ZeroTest test = read_zero_test(zero_first ? *comparison.getRHS() : *comparison.getLHS(), scope);
  if (comparison.getOpcode() == clang::BO_EQ) {
    test.holds_at_zero = !test.holds_at_zero;
  }
  return test;
}

ZeroTest read_zero_test(const clang::Expr& condition, const Scope& scope) {
  const clang::Expr& inner = without_truth_casts(condition);
  if (is_element(inner)) {
    return {read_own_element(inner, scope), false};
  }
  if (const clang::VarDecl* variable = variable_of(inner)) {
    if (const auto definition = scope.variables->definition(*variable)) {
      return read_zero_test(*definition->value, definition->scope);
    }
  }
  if (const auto* unary = clang::dyn_cast<clang::UnaryOperator>(&inner);
      unary && unary->getOpcode() == clang::UO_LNot) {
    ZeroTest test = read_zero_test(*unary->getSubExpr(), scope);
    test.holds_at_zero = !test.holds_at_zero;
    return test;
  }
  if (const auto* binary = clang::dyn_cast<clang::BinaryOperator>(&inner); binary && binary->isComparisonOp()) {
    return read_equality(*binary, scope);
  }
  refuse(inner, fmt::format("this is not a guard on one element: {}", expected_guard));
}

/// One side of a comparison of indices.
struct Side {
  Affine value;
  bool runs = false;  ///< with an iterator
};

Side read_side(const clang::Expr& expression, const clang::Expr& comparison, const Scope& scope) {
  const Polynomial written = read_index(expression, scope);
  const std::optional<Affine> value = written.affine();
  if (!value) {
    refuse(expression,
           fmt::format("this compares {}, which is not affine: expected sums of iterators times numbers; {}",
                       print(written), size_remedy));
  }
  constexpr std::int64_t most = std::int64_t{1} << 62;  // so that differences of two fit
  if (value->constant() <= -most || value->constant() >= most) {
    refuse(expression, "the constants in this expression leave 64 bits");
  }
  // Compared as unsigned numbers, an index below zero is a large one.
  const bool stays_above = value->constant() >= 0 && std::ranges::all_of(value->terms(), [](const Affine::Term& term) {
                             return term.coefficient > 0;
                           });
  if (expression.getType()->isUnsignedIntegerType() && !stays_above) {
    refuse(comparison,
           fmt::format("{} wraps around below zero, because it is compared unsigned: expected int", print(written)));
  }
  const bool runs = scope.variables->is_loaded(*value) ||
                    std::ranges::any_of(scope.loops, [&](const auto& loop) { return value->mentions(loop->iterator); });
  return {*value, runs};
}

/// The comparison that holds exactly where the one between indices does, or does not: low <= index, index < high, or as
/// written where iterators are on both sides.
Expression read_bound(const clang::BinaryOperator& comparison, bool holds, const Scope& scope) {
  Side left = read_side(*comparison.getLHS(), comparison, scope);
  Side right = read_side(*comparison.getRHS(), comparison, scope);
  const clang::BinaryOperatorKind relation =
      holds ? comparison.getOpcode() : clang::BinaryOperator::negateComparisonOp(comparison.getOpcode());
  if (relation == clang::BO_GT || relation == clang::BO_GE) {
    std::swap(left, right);
  }
  const bool is_strict = relation == clang::BO_LT || relation == clang::BO_GT;
  if (!left.runs && !right.runs) {
    refuse_comparison(comparison);
  }
  if (!left.runs) {
    const Affine low = left.value + (is_strict ? 1 : 0);
    return Operation{Operator::at_most, {low - low.constant(), right.value - low.constant()}};
  }
  if (!right.runs) {
    return less(left.value, right.value + (is_strict ? 0 : 1));
  }
  return Operation{is_strict ? Operator::less : Operator::at_most, {left.value, right.value}};
}

bool compares_indices(const clang::BinaryOperator& comparison) {
  return comparison.isRelationalOp() && comparison.getLHS()->getType()->isIntegerType() &&
         comparison.getRHS()->getType()->isIntegerType();
}

class GuardReader {
 public:
  explicit GuardReader(bool skips) : skips_(skips) {}

  /// Adds what must be so for the condition to hold, or to fail.
  void read(const clang::Expr& condition, bool holds, const Scope& scope) { read(condition, condition, holds, scope); }

  std::vector<WrittenGuard> take_guards() { return std::move(guards_); }

 private:
  /// `source` is the condition as the if has it.
  void read(const clang::Expr& condition, const clang::Expr& source, bool holds, const Scope& scope) {
    const clang::Expr& inner = without_truth_casts(condition);
    const auto* binary = clang::dyn_cast<clang::BinaryOperator>(&inner);
    if (binary != nullptr && binary->getOpcode() == (holds ? clang::BO_LAnd : clang::BO_LOr)) {
      read(*binary->getLHS(), holds, scope);
      read(*binary->getRHS(), holds, scope);
    } else if (binary != nullptr && compares_indices(*binary)) {
      guards_.push_back({read_bound(*binary, holds, scope), std::nullopt, binary});
    } else if (const auto* unary = clang::dyn_cast<clang::UnaryOperator>(&inner);
               unary != nullptr && unary->getOpcode() == clang::UO_LNot) {
      read(*unary->getSubExpr(), source, !holds, scope);
    } else if (const auto definition = definition_of(inner, scope)) {
      read(*definition->value, source, holds, definition->scope);
    } else {
      read_zero_guard(condition, source, holds, scope);
    }
  }

  static std::optional<Definition> definition_of(const clang::Expr& expression, const Scope& scope) {
    const clang::VarDecl* variable = variable_of(expression);
    return variable != nullptr ? scope.variables->definition(*variable) : std::nullopt;
  }

  void read_zero_guard(const clang::Expr& condition, const clang::Expr& source, bool holds, const Scope& scope) {
    const ZeroTest test = read_zero_test(condition, scope);
    if (test.holds_at_zero == holds) {
      refuse(source, skips_ ? "this guard skips what is not zero: expected if (A[i][k] == 0) continue"
                            : "this guard keeps the zeros: expected if (A[i][k] != 0)");
    }
    guards_.push_back({is_nonzero(test.element.access), test.element, &source});
  }

  bool skips_;
  std::vector<WrittenGuard> guards_;
};

}  // namespace

bool is_zero(const clang::Expr& expression) {
  const clang::Expr* inner = expression.IgnoreParenCasts();
  while (const auto* sign = clang::dyn_cast<clang::UnaryOperator>(inner)) {
    if (sign->getOpcode() != clang::UO_Minus && sign->getOpcode() != clang::UO_Plus) {
      return false;
    }
    inner = sign->getSubExpr()->IgnoreParenCasts();
  }
  if (const auto* integer = clang::dyn_cast<clang::IntegerLiteral>(inner)) {
    return integer->getValue().isZero();
  }
  const auto* floating = clang::dyn_cast<clang::FloatingLiteral>(inner);
  return floating != nullptr && floating->getValue().isZero();
}

std::vector<WrittenGuard> read_guards(const clang::Expr& condition, bool skips, const Scope& scope) {
  GuardReader reader(skips);
  reader.read(condition, !skips, scope);
  return reader.take_guards();
}

}  // namespace esc::frontend

// SPDX-License-Identifier: Apache-2.0
#include "generator/frontend/read_loop.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/Expr.h>
#include <clang/AST/Stmt.h>
#include <fmt/format.h>

#include "generator/frontend/read_index.h"
#include "generator/frontend/refusal.h"
#include "generator/support/limits.h"

namespace esc::frontend {
namespace {

/// The first clause: which variable counts, from which value.
struct Start {
  const clang::VarDecl* variable = nullptr;
  const clang::Expr* value = nullptr;
};

Start read_start(const clang::ForStmt& source) {
  const clang::Stmt* const clause = source.getInit();
  Start start;
  if (const auto* declaration = clang::dyn_cast_or_null<clang::DeclStmt>(clause)) {
    if (declaration->isSingleDecl()) {
      start.variable = clang::dyn_cast<clang::VarDecl>(declaration->getSingleDecl());
      start.value = start.variable != nullptr ? start.variable->getInit() : nullptr;
    }
  } else if (const auto* assignment = clang::dyn_cast_or_null<clang::BinaryOperator>(clause)) {
    if (assignment->getOpcode() == clang::BO_Assign) {
      start = {named_variable(*assignment->getLHS()), assignment->getRHS()};
    }
  }
  if (start.variable == nullptr || start.value == nullptr) {
    refuse(clause != nullptr ? clause->getBeginLoc() : source.getForLoc(),
           "the loop is expected to start by setting one iterator: for (i = 0; i < size; i++)");
  }
  return start;
}

void require_integer(const clang::VarDecl& variable, const clang::ASTContext& ast) {
  const clang::QualType type = variable.getType();
  if (!type->isIntegerType() || type->isBooleanType() || ast.getIntWidth(type) < 32) {
    refuse(variable.getLocation(), fmt::format("iterator {} is {}: expected an integer of at least 32 bits",
                                               variable.getNameAsString(), type.getAsString()));
  }
}

/// By how much the third clause advances the variable, where that is a constant.
std::optional<std::int64_t> read_step(const clang::Expr& clause, const clang::VarDecl& variable,
                                      const clang::ASTContext& ast) {
  const clang::Expr& inner = *clause.IgnoreParens();
  const auto negated = [](std::optional<std::int64_t> value) {
    return value && *value != INT64_MIN ? std::optional(-*value) : std::nullopt;
  };
  if (const auto* unary = clang::dyn_cast<clang::UnaryOperator>(&inner)) {
    if (unary->isIncrementDecrementOp() && named_variable(*unary->getSubExpr()) == &variable) {
      return unary->isIncrementOp() ? 1 : -1;
    }
    return std::nullopt;
  }
  const auto* binary = clang::dyn_cast<clang::BinaryOperator>(&inner);
  if (binary == nullptr || named_variable(*binary->getLHS()) != &variable) {
    return std::nullopt;
  }
  switch (binary->getOpcode()) {
    case clang::BO_AddAssign:
      return constant_value(*binary->getRHS(), ast);
    case clang::BO_SubAssign:
      return negated(constant_value(*binary->getRHS(), ast));
    case clang::BO_Assign:
      break;
    default:
      return std::nullopt;
  }
  const auto* sum = clang::dyn_cast<clang::BinaryOperator>(binary->getRHS()->IgnoreParenCasts());
  if (sum == nullptr) {
    return std::nullopt;
  }
  if (named_variable(*sum->getLHS()) == &variable) {
    if (sum->getOpcode() == clang::BO_Add) {
      return constant_value(*sum->getRHS(), ast);
    }
    return sum->getOpcode() == clang::BO_Sub ? negated(constant_value(*sum->getRHS(), ast)) : std::nullopt;
  }
  const bool mirrored = sum->getOpcode() == clang::BO_Add && named_variable(*sum->getRHS()) == &variable;
  return mirrored ? constant_value(*sum->getLHS(), ast) : std::nullopt;
}

void require_unit_step(const clang::ForStmt& source, const clang::VarDecl& variable, const clang::ASTContext& ast) {
  const std::string name = variable.getNameAsString();
  if (source.getInc() == nullptr) {
    refuse(source.getForLoc(), fmt::format("loop {0} does not advance in its head: expected {0}++", name));
  }
  const std::optional<std::int64_t> step = read_step(*source.getInc(), variable, ast);
  if (!step) {
    refuse(*source.getInc(), fmt::format("loop {0} is expected to advance by a constant: {0}++", name));
  }
  if (*step < 0) {
    refuse(*source.getInc(), fmt::format("loop {0} counts down: expected {0}++, from 0 upwards", name));
  }
  if (*step != 1) {
    refuse(*source.getInc(), fmt::format("the step of loop {0} is {1}: expected {0}++", name, *step));
  }
}

/// The second clause with the iterator on the left: relation and what it is compared with.
struct Comparison {
  clang::BinaryOperatorKind relation;
  const clang::Expr* bound;
};

Comparison read_comparison(const clang::ForStmt& source, const clang::VarDecl& variable) {
  const auto mirrored = [](clang::BinaryOperatorKind relation) {
    switch (relation) {
      case clang::BO_GT:
        return clang::BO_LT;
      case clang::BO_GE:
        return clang::BO_LE;
      case clang::BO_LT:
        return clang::BO_GT;
      case clang::BO_LE:
        return clang::BO_GE;
      default:
        return relation;
    }
  };
  const std::string name = variable.getNameAsString();
  if (source.getCond() == nullptr) {
    refuse(source.getForLoc(), fmt::format("loop {0} has no end: expected {0} < size", name));
  }
  Comparison comparison{clang::BO_Comma, nullptr};
  if (const auto* binary = clang::dyn_cast<clang::BinaryOperator>(source.getCond()->IgnoreParenImpCasts())) {
    if (named_variable(*binary->getLHS()) == &variable) {
      comparison = {binary->getOpcode(), binary->getRHS()};
    } else if (named_variable(*binary->getRHS()) == &variable) {
      comparison = {mirrored(binary->getOpcode()), binary->getLHS()};
    }
  }
  if (comparison.relation != clang::BO_LT && comparison.relation != clang::BO_LE &&
      comparison.relation != clang::BO_NE) {
    refuse(*source.getCond(), fmt::format("the end of loop {0} is expected as {0} < size", name));
  }
  return comparison;
}

Polynomial read_bound(const clang::ForStmt& source, const clang::VarDecl& variable, const Scope& around) {
  const auto [relation, bound] = read_comparison(source, variable);
  const Polynomial written = read_index(*bound, around);
  if (relation != clang::BO_LE) {
    return written;
  }
  if (bound->getType()->isUnsignedIntegerType() && !written.is_constant()) {
    refuse(*source.getCond(), fmt::format("an unsigned {0} <= {1} wraps around where a size is 0: expected {0} < size",
                                          variable.getNameAsString(), print(written)));
  }
  const std::optional<Polynomial> exclusive = written.plus(1);
  if (!exclusive) {
    refuse(*bound, "the bound leaves 64 bits");
  }
  return *exclusive;
}

/// A bound is one size or a positive constant: then it is the extent of a dimension.
Affine require_extent(const Polynomial& bound, const clang::ForStmt& source, const std::string& name,
                      const Scope& around) {
  for (const auto& loop : around.loops) {
    if (bound.mentions(loop->iterator)) {
      refuse(*source.getCond(),
             fmt::format("the bound of loop {} depends on iterator {}: expected a size or a constant", name,
                         loop->iterator));
    }
  }
  const std::optional<Affine> affine = bound.affine();
  if (!affine) {
    refuse(*source.getCond(),
           fmt::format("loop {} runs to {}, which is not affine: expected a size or a constant", name, print(bound)));
  }
  if (affine->is_constant() ? affine->constant() <= 0 : !affine->is_name(affine->terms().front().name)) {
    refuse(*source.getCond(),
           fmt::format("loop {} runs to {}: expected one size or a positive constant", name, print(*affine)));
  }
  if (affine->is_constant() && affine->constant() > largest_dimension) {
    refuse(*source.getCond(),
           fmt::format("loop {} runs to {}: expected at most {}", name, affine->constant(), largest_dimension));
  }
  return *affine;
}

bool is_loaded(const Polynomial& bound, const Scope& around) {
  const std::optional<Affine> affine = bound.affine();
  return affine && around.variables->is_loaded(*affine);
}

/// Where one bound is loaded, the other one may be any affine one.
Affine require_segment_end(const Polynomial& bound, const clang::ForStmt& source, const std::string& name,
                           const Scope& around) {
  for (const auto& loop : around.loops) {
    if (bound.mentions(loop->iterator)) {
      refuse(*source.getCond(), fmt::format("the bound of loop {} depends on iterator {}: expected a size, a constant "
                                            "or what is loaded from an array",
                                            name, loop->iterator));
    }
  }
  const std::optional<Affine> affine = bound.affine();
  if (!affine) {
    refuse(*source.getCond(),
           fmt::format("loop {} runs to {}, which is not affine: expected what is loaded from an array", name,
                       print(bound)));
  }
  return *affine;
}

}  // namespace

WrittenLoop read_loop(const clang::ForStmt& source, const Scope& around) {
  const clang::ASTContext& ast = around.variables->ast();
  const Start start = read_start(source);
  const clang::VarDecl& variable = *start.variable;
  const std::string name = variable.getNameAsString();

  require_integer(variable, ast);
  for (const auto& loop : around.loops) {
    if (loop->iterator == name) {
      refuse(source.getForLoc(), fmt::format("a loop around already uses iterator {}: expected another name", name));
    }
  }
  if (const auto change = around.variables->change(variable)) {
    refuse(*change,
           fmt::format("iterator {0} is changed here: expected to be advanced only by the head of its loop", name));
  }
  require_unit_step(source, variable, ast);
  WrittenLoop loop{&variable, name, 0, source.getForLoc(), 0, false, around.guards.size()};
  const Polynomial lower = read_index(*start.value, around);
  if (lower != Polynomial(0) && !is_loaded(lower, around)) {
    refuse(*start.value, fmt::format("loop {} starts at {}: expected 0", name, print(lower)));
  }
  const Polynomial upper = read_bound(source, variable, around);
  loop.is_segment = is_loaded(lower, around) || is_loaded(upper, around);
  if (loop.is_segment) {
    loop.lower = *lower.affine();
    loop.upper = require_segment_end(upper, source, name, around);
  } else {
    loop.upper = require_extent(upper, source, name, around);
  }
  return loop;
}

}  // namespace esc::frontend

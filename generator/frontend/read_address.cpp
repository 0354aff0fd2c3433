// SPDX-License-Identifier: Apache-2.0
#include "generator/frontend/read_address.h"

#include <clang/AST/Expr.h>
#include <fmt/format.h>

#include <optional>

#include "generator/frontend/read_index.h"
#include "generator/frontend/refusal.h"

namespace esc::frontend {
namespace {

[[noreturn]] void refuse_base(const clang::Expr& expression) {
  refuse(expression, "the array is expected to be a parameter or a variable, an array or a pointer to its elements");
}

void advance(Address& address, const clang::Expr& distance, bool forwards, const Scope& scope) {
  if (address.subscripts.empty()) {
    refuse_base(distance);
  }
  const Polynomial value = read_index(distance, scope);
  WrittenSubscript& last = address.subscripts.back();
  const std::optional<Polynomial> sum = forwards ? last.value.plus(value) : last.value.minus(value);
  if (!sum) {
    refuse(distance, "the constants in this subscript leave 64 bits");
  }
  last = {*sum, &distance};
}

Address read_named_pointer(const clang::VarDecl& variable, const clang::Expr& use, const Scope& scope);

/// Where a pointer points: its last subscript counts in elements of what it points to.
Address read_pointer(const clang::Expr& expression, const Scope& scope) {
  const clang::Expr& inner = *expression.IgnoreParens();
  if (const auto* cast = clang::dyn_cast<clang::CastExpr>(&inner)) {
    const clang::Expr& under = *cast->getSubExpr();
    switch (cast->getCastKind()) {
      case clang::CK_NoOp:
        return read_pointer(under, scope);
      case clang::CK_LValueToRValue:
        if (const clang::VarDecl* variable = named_variable(under)) {
          return read_named_pointer(*variable, inner, scope);
        }
        [[fallthrough]];  // a table of pointers to rows
      case clang::CK_ArrayToPointerDecay: {
        Address address = read_location(under, scope);
        address.subscripts.push_back({});
        return address;
      }
      default:
        refuse_base(inner);
    }
  }
  if (const auto* sum = clang::dyn_cast<clang::BinaryOperator>(&inner); sum != nullptr && sum->isAdditiveOp()) {
    const bool pointer_first = sum->getLHS()->getType()->isPointerType();
    Address address = read_pointer(pointer_first ? *sum->getLHS() : *sum->getRHS(), scope);
    advance(address, pointer_first ? *sum->getRHS() : *sum->getLHS(), sum->getOpcode() == clang::BO_Add, scope);
    return address;
  }
  if (const auto* unary = clang::dyn_cast<clang::UnaryOperator>(&inner)) {
    if (unary->getOpcode() == clang::UO_AddrOf) {
      return read_location(*unary->getSubExpr(), scope);
    }
  }
  refuse_base(inner);
}

Address read_named_pointer(const clang::VarDecl& variable, const clang::Expr& use, const Scope& scope) {
  if (const auto definition = scope.variables->definition(variable)) {
    return read_pointer(*definition->value, definition->scope);
  }
  if (const auto change = scope.variables->change(variable)) {
    refuse(*change, fmt::format("{} is changed here: expected to point to the same array throughout",
                                variable.getNameAsString()));
  }
  if (variable.hasLocalStorage() && !clang::isa<clang::ParmVarDecl>(variable)) {
    refuse_base(use);
  }
  return {&variable, {{}}};
}

}  // namespace

Address read_location(const clang::Expr& expression, const Scope& scope) {
  const clang::Expr& inner = *expression.IgnoreParens();
  if (const auto* subscript = clang::dyn_cast<clang::ArraySubscriptExpr>(&inner)) {
    Address address = read_pointer(*subscript->getBase(), scope);
    advance(address, *subscript->getIdx(), true, scope);
    return address;
  }
  if (const auto* unary = clang::dyn_cast<clang::UnaryOperator>(&inner)) {
    if (unary->getOpcode() == clang::UO_Deref) {
      return read_pointer(*unary->getSubExpr(), scope);
    }
  }
  const clang::VarDecl* variable = named_variable(inner);
  if (variable == nullptr) {
    refuse_base(inner);
  }
  if (const auto definition = scope.variables->definition(*variable)) {
    return read_location(*definition->value, definition->scope);  // a reference to a row
  }
  return {variable, {}};
}

}  // namespace esc::frontend

// SPDX-License-Identifier: Apache-2.0
#include "generator/frontend/array_type.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/Decl.h>
#include <clang/AST/Expr.h>
#include <fmt/format.h>

#include "generator/frontend/number_type.h"
#include "generator/frontend/read_index.h"
#include "generator/frontend/refusal.h"

namespace esc::frontend {
namespace {

std::optional<Polynomial> declared_extent(const clang::ArrayType& type, const Variables& variables) {
  if (const auto* constant = clang::dyn_cast<clang::ConstantArrayType>(&type)) {
    return Polynomial(static_cast<std::int64_t>(constant->getZExtSize()));
  }
  const auto* variable = clang::dyn_cast<clang::VariableArrayType>(&type);
  if (variable == nullptr || variable->getSizeExpr() == nullptr) {
    return std::nullopt;
  }
  return read_index(*variable->getSizeExpr(), Scope{&variables, {}, {}});
}

ScalarType element_type(clang::QualType type, const clang::VarDecl& array, const clang::Expr& use, Elements elements) {
  if (elements == Elements::integers) {
    if (type->isIntegerType() && !type->isBooleanType()) {
      return ScalarType::i32;
    }
    refuse(use, fmt::format("the elements of {} are {}: expected integers, as indices are", array.getNameAsString(),
                            type.getUnqualifiedType().getAsString()));
  }
  if (const std::optional<ScalarType> number = number_type(type)) {
    return *number;
  }
  refuse(use, fmt::format("the elements of {} are {}: expected float, double, _Float16 or __bf16",
                          array.getNameAsString(), type.getUnqualifiedType().getAsString()));
}

}  // namespace

ArrayType read_array_type(const clang::VarDecl& array, const clang::Expr& use, const Variables& variables,
                          Elements elements) {
  // A parameter declared as an array has decayed to a pointer, which no longer knows the outermost extent.
  const auto* parameter = clang::dyn_cast<clang::ParmVarDecl>(&array);
  clang::QualType type = parameter != nullptr ? parameter->getOriginalType() : array.getType();
  type = type.getNonReferenceType();

  ArrayType result;
  while (true) {
    if (const clang::ArrayType* dimension = variables.ast().getAsArrayType(type)) {
      result.extents.push_back(declared_extent(*dimension, variables));
      type = dimension->getElementType();
    } else if (type->isPointerType()) {
      result.extents.push_back(std::nullopt);
      type = type->getPointeeType();
    } else {
      break;
    }
  }
  result.element = element_type(type, array, use, elements);
  return result;
}

}  // namespace esc::frontend

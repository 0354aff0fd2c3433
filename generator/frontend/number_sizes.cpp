// SPDX-License-Identifier: Apache-2.0
#include "generator/frontend/number_sizes.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/Decl.h>
#include <clang/AST/Expr.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "generator/frontend/read_index.h"
#include "generator/frontend/scope.h"
#include "generator/support/error.h"

namespace esc::frontend {
namespace {

bool is_size(const clang::VarDecl& parameter) { return parameter.getType().getNonReferenceType()->isIntegerType(); }

void require_parameters(const clang::FunctionDecl& function, const Environment& named) {
  std::vector<std::string> sizes;
  for (const clang::ParmVarDecl* parameter : function.parameters()) {
    if (is_size(*parameter)) {
      sizes.push_back(parameter->getNameAsString());
    }
  }
  for (const auto& [name, number] : named) {
    if (std::ranges::find(sizes, name) == sizes.end()) {
      throw UserError(fmt::format("--size {}={}", name, number),
                      fmt::format("names no integer parameter of the function {}", function.getNameAsString()),
                      sizes.empty() ? "leave it out: the function has none"
                                    : fmt::format("those it has are {}", fmt::join(sizes, ", ")));
    }
  }
}

/// The dimensions that the parameter is declared with, outermost first; null for a pointer.
std::vector<const clang::ArrayType*> dimensions_of(const clang::ParmVarDecl& parameter) {
  std::vector<const clang::ArrayType*> dimensions;
  clang::QualType type = parameter.getOriginalType().getNonReferenceType();
  while (true) {
    if (const clang::ArrayType* dimension = parameter.getASTContext().getAsArrayType(type)) {
      dimensions.push_back(dimension);
      type = dimension->getElementType();
    } else if (type->isPointerType()) {
      dimensions.push_back(nullptr);
      type = type->getPointeeType();
    } else {
      return dimensions;
    }
  }
}

/// The first parameter of so many dimensions; null where there is none.
const clang::ParmVarDecl* first_array(const clang::FunctionDecl& function, std::size_t dimensions) {
  for (const clang::ParmVarDecl* parameter : function.parameters()) {
    if (dimensions_of(*parameter).size() == dimensions) {
      return parameter;
    }
  }
  return nullptr;
}

/// The parameter that the extent is, alone; null where it is anything else.
const clang::VarDecl* size_of(const clang::ArrayType* dimension) {
  const auto* variable = clang::dyn_cast_or_null<clang::VariableArrayType>(dimension);
  const clang::VarDecl* size =
      variable != nullptr && variable->getSizeExpr() != nullptr ? named_variable(*variable->getSizeExpr()) : nullptr;
  return size != nullptr && clang::isa<clang::ParmVarDecl>(size) && is_size(*size) ? size : nullptr;
}

/// The number that the extent is by the declaration alone.
std::optional<std::int64_t> constant_of(const clang::ArrayType* dimension, const clang::ASTContext& ast) {
  if (const auto* constant = clang::dyn_cast_or_null<clang::ConstantArrayType>(dimension)) {
    return static_cast<std::int64_t>(constant->getZExtSize());
  }
  const auto* variable = clang::dyn_cast_or_null<clang::VariableArrayType>(dimension);
  return variable != nullptr && variable->getSizeExpr() != nullptr ? constant_value(*variable->getSizeExpr(), ast)
                                                                   : std::nullopt;
}

std::string shape_of(const std::vector<std::int64_t>& weights) { return fmt::format("{}", fmt::join(weights, " x ")); }

}  // namespace

Environment number_sizes(const clang::FunctionDecl& function, const GivenSizes& given) {
  require_parameters(function, given.named);
  Environment numbers = given.named;
  const clang::ParmVarDecl* weights = given.weights.empty() ? nullptr : first_array(function, given.weights.size());
  if (weights == nullptr) {
    return numbers;
  }
  const std::vector<const clang::ArrayType*> dimensions = dimensions_of(*weights);
  for (std::size_t number = 0; number < dimensions.size(); ++number) {
    const std::int64_t extent = given.weights[number];
    if (const clang::VarDecl* size = size_of(dimensions[number])) {
      const auto [known, is_new] = numbers.emplace(size->getNameAsString(), extent);
      if (!is_new && known->second != extent) {
        throw UserError(fmt::format("--size {}={}", known->first, known->second),
                        fmt::format("contradicts the weights, which are {}: in {} that makes {} {}",
                                    shape_of(given.weights), weights->getNameAsString(), known->first, extent),
                        "leave it out, or give the weights that it is meant for");
      }
    } else if (const auto constant = constant_of(dimensions[number], function.getASTContext());
               constant && *constant != extent) {
      throw UserError(
          weights->getNameAsString(),
          fmt::format("is declared with {} elements in dimension {}, but the weights are {}", *constant, number + 1,
                      shape_of(given.weights)),
          fmt::format("declare the first array of {} dimensions as the weights are stored", given.weights.size()));
    }
  }
  return numbers;
}

}  // namespace esc::frontend

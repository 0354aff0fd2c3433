// SPDX-License-Identifier: Apache-2.0
#include "generator/frontend/read_load.h"

#include <clang/AST/Decl.h>
#include <clang/AST/Expr.h>
#include <fmt/format.h>

#include "generator/frontend/array_type.h"
#include "generator/frontend/constant_table.h"
#include "generator/frontend/read_address.h"
#include "generator/frontend/refusal.h"

namespace esc::frontend {
namespace {

Affine affine_subscript(const WrittenSubscript& subscript, const clang::VarDecl& array, const clang::Expr& element) {
  const std::optional<Affine> affine = subscript.value.affine();
  if (!affine) {
    refuse(subscript.source != nullptr ? *subscript.source : element,
           fmt::format("subscript {} of {} is not affine: expected sums of iterators times numbers; {}",
                       print(subscript.value), array.getNameAsString(), size_remedy));
  }
  return *affine;
}

}  // namespace

Polynomial read_load(const clang::Expr& element, const Scope& scope, const clang::VarDecl* local) {
  const Address address = read_location(element, scope);
  const clang::VarDecl& array = *address.array;
  const std::string name = array.getNameAsString();
  const ArrayType type = read_array_type(array, element, *scope.variables, Elements::integers);
  if (address.subscripts.size() != type.extents.size()) {
    refuse(element, fmt::format("this is not an element of {}, which has {} dimensions", name, type.extents.size()));
  }
  ArrayElement load{&array, type.element, {}, {name, {}}, &element, {}};
  if (is_table(array)) {
    load.values = table_values(array, scope.variables->ast());
    const bool is_list = address.subscripts.size() == 1;
    if (const auto line =
            is_list ? line_of_table(load.values, address.subscripts.front().value, scope) : std::nullopt) {
      return *line;
    }
  }
  const bool may_change =
      is_table(array) ? load.values.empty() : array.hasLocalStorage() && !clang::isa<clang::ParmVarDecl>(array);
  if (may_change) {
    refuse(element, fmt::format("{} is an array whose elements may change, or more than 1024 constants: expected a "
                                "parameter of the function, or a "
                                "table of constants",
                                name));
  }
  for (std::size_t dimension = 0; dimension < type.extents.size(); ++dimension) {
    load.access.subscripts.push_back({"", affine_subscript(address.subscripts[dimension], array, element)});
    const std::optional<Affine> declared = type.extents[dimension] ? type.extents[dimension]->affine() : std::nullopt;
    load.extents.push_back(declared.value_or(0));
  }
  return Polynomial::of(scope.variables->note_load(load, local));
}

}  // namespace esc::frontend

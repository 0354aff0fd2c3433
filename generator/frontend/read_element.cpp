// SPDX-License-Identifier: Apache-2.0
#include "generator/frontend/read_element.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/Expr.h>
#include <fmt/format.h>

#include <algorithm>

#include "generator/frontend/array_type.h"
#include "generator/frontend/constant_table.h"
#include "generator/frontend/number_type.h"
#include "generator/frontend/read_address.h"
#include "generator/frontend/refusal.h"
#include "generator/ir/product_digits.h"
#include "generator/lower/nested_statement.h"

namespace esc::frontend {
namespace {

/// The loop around whose iterator the subscript is, exactly, and runs through a dimension; null where it is anything
/// else.
const WrittenLoop* sole_iterator(const Polynomial& subscript, const Scope& scope) {
  const auto found = std::find_if(scope.loops.begin(), scope.loops.end(), [&](const auto& loop) {
    return !loop->is_segment && subscript == Polynomial::of(loop->iterator);
  });
  return found != scope.loops.end() ? found->get() : nullptr;
}

/// The loops that index a row and a column.
struct Position {
  const WrittenLoop* row = nullptr;
  const WrittenLoop* column = nullptr;
};

/// Row * extent + column, with the extent of the column's loop.
Polynomial flattened(const WrittenLoop& row, const WrittenLoop& column) {
  const auto start = Polynomial::of(row.iterator).times(Polynomial(column.upper));
  return *start->plus(Polynomial::of(column.iterator));  // coefficients of 1 and of one extent: nothing to overflow
}

[[noreturn]] void refuse_flat(const WrittenSubscript& subscript, const std::string& array, const Scope& scope,
                              const clang::Expr& element) {
  const clang::Expr& place = subscript.source != nullptr ? *subscript.source : element;
  Loops used;
  std::copy_if(scope.loops.begin(), scope.loops.end(), std::back_inserter(used),
               [&](const auto& loop) { return subscript.value.mentions(loop->iterator); });
  if (used.size() < 2) {
    refuse(place, fmt::format("{} is indexed as one dimension, [{}]: expected a matrix, [row][column] or "
                              "[row * columns + column]",
                              array, print(subscript.value)));
  }
  for (const auto& row : used) {
    for (const auto& column : used) {
      const Polynomial stride = subscript.value.coefficient(row->iterator);
      const auto start = Polynomial::of(row->iterator).times(stride);
      if (row != column && start && subscript.value == start->plus(Polynomial::of(column->iterator))) {
        refuse(place, fmt::format("the rows of {0} are {1} elements apart here, but loop {2} runs to {3}: expected "
                                  "{0}[{4} * {3} + {2}]",
                                  array, print(stride), column->iterator, print(column->upper), row->iterator));
      }
    }
  }
  refuse(place, fmt::format("subscript {} of {}: expected row * columns + column of two loops' iterators",
                            print(subscript.value), array));
}

/// Row and column of a flat subscript; nothing where it is none of a matrix.
std::optional<Position> split_flat(const WrittenSubscript& subscript, const Scope& scope) {
  for (const auto& row : scope.loops) {
    for (const auto& column : scope.loops) {
      if (row != column && !row->is_segment && !column->is_segment && subscript.value == flattened(*row, *column)) {
        return Position{row.get(), column.get()};
      }
    }
  }
  return std::nullopt;
}

/// A dimension of an element's array: how it is indexed, by which loop where that is its iterator alone, and what its
/// extent was declared as.
struct Dimension {
  WrittenSubscript subscript;
  const WrittenLoop* loop = nullptr;
  std::optional<Polynomial> declared = std::nullopt;
};

/// An element as it is written, a flat one of a matrix with a dimension for its rows and one for its columns.
struct WrittenElement {
  const clang::VarDecl* array = nullptr;
  ScalarType type = ScalarType::f32;
  std::vector<Dimension> dimensions;
  const clang::Expr* source = nullptr;
  const Scope* scope = nullptr;
  std::vector<double> values = {};  // of a table

  std::string name() const { return array->getNameAsString(); }
  const clang::Expr& place_of(const Dimension& dimension) const {
    return dimension.subscript.source != nullptr ? *dimension.subscript.source : *source;
  }
};

/// What is multiplied by the extent of the columns, one size or a constant, in the start of a row; nothing where that
/// is more.
std::optional<Polynomial> row_in(const std::optional<Polynomial>& start, const Affine& columns) {
  if (!start) {
    return std::nullopt;
  }
  if (!columns.is_constant()) {
    const Polynomial row = start->coefficient(columns.terms().front().name);
    return start == row.times(Polynomial(columns)) ? std::optional(row) : std::nullopt;
  }
  const std::optional<Affine> affine = start->affine();
  const bool is_one_name =
      affine && affine->terms().size() == 1 && *affine == Affine::of(affine->terms().front().name, columns.constant());
  return is_one_name ? std::optional(Polynomial::of(affine->terms().front().name)) : std::nullopt;
}

/// Row and column of a flat subscript, one of which is loaded: index[p] * N + j, or t * K + index[p].
std::optional<std::vector<Dimension>> split_loaded(const WrittenSubscript& subscript, const Scope& scope) {
  const auto is_loaded = [&](const std::optional<Polynomial>& value) {
    const std::optional<Affine> affine = value ? value->affine() : std::nullopt;
    return affine && affine->terms().size() == 1 && scope.variables->is_loaded(*affine);
  };
  for (const auto& loop : scope.loops) {
    const auto iterator = Polynomial::of(loop->iterator);
    const Polynomial stride = subscript.value.coefficient(loop->iterator);
    if (loop->is_segment || stride == Polynomial(0)) {
      continue;
    }
    const auto start = iterator.times(stride);
    const auto rest = start ? subscript.value.minus(*start) : std::nullopt;
    if (stride != Polynomial(1) && is_loaded(rest)) {
      return std::vector<Dimension>{{{iterator, subscript.source}, loop.get()},
                                    {{*rest, subscript.source}, nullptr, stride}};
    }
    const auto row = stride == Polynomial(1) ? row_in(rest, loop->upper) : std::nullopt;
    if (is_loaded(row)) {
      return std::vector<Dimension>{{{*row, subscript.source}}, {{iterator, subscript.source}, loop.get()}};
    }
  }
  return std::nullopt;
}

/// Of a flat matrix, the declared extent must be the product of the loops' bounds.
void require_declared(const std::optional<Polynomial>& declared, const Position& position, const std::string& name,
                      const clang::Expr& element) {
  if (declared && declared != Polynomial(position.row->upper).times(Polynomial(position.column->upper))) {
    refuse(element, fmt::format("{} is declared with {} elements, but loops {} and {} run to {} and {}: expected "
                                "their product",
                                name, print(*declared), position.row->iterator, position.column->iterator,
                                print(position.row->upper), print(position.column->upper)));
  }
}

WrittenElement read_written(const clang::Expr& expression, const Scope& scope) {
  const Address address = read_location(expression, scope);
  const std::vector<double> values =
      is_table(*address.array) ? table_values(*address.array, scope.variables->ast()) : std::vector<double>();
  if (is_table(*address.array) && values.empty()) {
    refuse(expression,
           fmt::format(
               "{} has its elements in the text: expected a parameter of the function, so that a call hands them over",
               address.array->getNameAsString()));
  }
  const ArrayType type = read_array_type(*address.array, expression, *scope.variables);
  WrittenElement element{address.array, type.element, {}, &expression, &scope, values};
  if (address.subscripts.size() != type.extents.size()) {
    refuse(expression,
           fmt::format("this is not an element of {}, which has {} dimensions", element.name(), type.extents.size()));
  }
  if (const auto matrix = address.subscripts.size() == 1 ? split_flat(address.subscripts[0], scope) : std::nullopt) {
    require_declared(type.extents[0], *matrix, element.name(), expression);
    for (const WrittenLoop* loop : {matrix->row, matrix->column}) {
      element.dimensions.push_back({{Polynomial::of(loop->iterator), address.subscripts[0].source}, loop});
    }
    return element;
  }
  if (auto matrix = address.subscripts.size() == 1 ? split_loaded(address.subscripts[0], scope) : std::nullopt) {
    element.dimensions = std::move(*matrix);
    return element;
  }
  for (std::size_t number = 0; number < address.subscripts.size(); ++number) {
    const WrittenSubscript& subscript = address.subscripts[number];
    element.dimensions.push_back({subscript, sole_iterator(subscript.value, scope), type.extents[number]});
  }
  return element;
}

/// "rows": what there are as many of as the extent of the dimension says.
std::string counted(const WrittenElement& element, std::size_t number) {
  switch (element.dimensions.size()) {
    case 1:
      return "elements";
    case 2:
      return number == 0 ? "rows" : "columns";
    default:
      return fmt::format("elements in dimension {}", number + 1);
  }
}

/// Where an iterator runs through a dimension, its loop must run to the declared extent.
void require_bounds(const WrittenElement& element) {
  for (std::size_t number = 0; number < element.dimensions.size(); ++number) {
    const auto& [subscript, loop, declared] = element.dimensions[number];
    if (loop != nullptr && declared && *declared != Polynomial(loop->upper)) {
      refuse(*element.source,
             fmt::format("{} is declared with {} {}, but loop {} runs to {}: expected the same", element.name(),
                         print(*declared), counted(element, number), loop->iterator, print(loop->upper)));
    }
  }
}

/// No iterator may run through two dimensions.
void require_different_iterators(const WrittenElement& element) {
  for (auto one = element.dimensions.begin(); one != element.dimensions.end(); ++one) {
    const bool again =
        one->loop != nullptr &&
        std::any_of(one + 1, element.dimensions.end(), [&](const Dimension& other) { return other.loop == one->loop; });
    if (again) {
      refuse(*element.source,
             fmt::format("{} subscripts of {} are {}: expected two different iterators",
                         element.dimensions.size() == 2 ? "both" : "two", element.name(), one->loop->iterator));
    }
  }
}

/// Whether the subscript follows from arrays: it is loaded, or the iterator of a loop between loaded bounds.
bool is_indirect(const WrittenSubscript& subscript, const Scope& scope) {
  const std::optional<Affine> index = subscript.value.affine();
  return index && (scope.variables->is_loaded(*index) || std::ranges::any_of(scope.loops, [&](const auto& loop) {
                     return loop->is_segment && index->mentions(loop->iterator);
                   }));
}

/// Where the dimension is indexed by more than an iterator, its extent must be known from the declaration.
void require_known_extent(const WrittenElement& element, std::size_t number) {
  const auto& [subscript, loop, declared] = element.dimensions[number];
  if (loop != nullptr || is_indirect(subscript, *element.scope)) {
    return;
  }
  if (!declared) {
    refuse(*element.source, fmt::format("how many {} {} has is not known: expected it to be declared, as in X[8][32]",
                                        counted(element, number), element.name()));
  }
  const std::optional<Affine> extent = declared->affine();
  if (!extent || (extent->is_constant() && extent->constant() <= 0)) {
    refuse(*element.source, fmt::format("{} is declared with {} {}: expected a size or a positive constant; {}",
                                        element.name(), print(*declared), counted(element, number), size_remedy));
  }
}

/// What a factor is indexed by: iterators that are multiplied by numbers.
void require_known_index(const WrittenElement& element, const Dimension& dimension) {
  const std::optional<Affine> index = dimension.subscript.value.affine();
  const bool is_known =
      index && !index->is_constant() && std::ranges::all_of(index->terms(), [&](const Affine::Term& term) {
        return element.scope->variables->find_load(term.name) != nullptr ||
               std::ranges::find(element.scope->loops, term.name, [](const auto& loop) { return loop->iterator; }) !=
                   element.scope->loops.end();
      });
  if (!is_known) {
    refuse(element.place_of(dimension),
           fmt::format(
               "subscript {} of {}: expected the iterator of one loop, alone, or a sum of iterators times numbers; {}",
               print(dimension.subscript.value), element.name(), size_remedy));
  }
}

/// What an element of the output is indexed by, and one that is compared with zero: an iterator alone, or several that
/// count together through the whole dimension.
void require_counting_index(const WrittenElement& element, Dimension& dimension) {
  if (dimension.loop != nullptr) {
    return;
  }
  std::vector<Digit> iterators;
  std::ranges::transform(element.scope->loops, std::back_inserter(iterators),
                         [](const auto& loop) { return Digit{loop->iterator, loop->upper}; });
  const std::optional<Affine> index = dimension.subscript.value.affine();
  if (is_indirect(dimension.subscript, *element.scope)) {
    return;
  }
  const auto digits = index ? digits_of_index(*index, iterators) : std::nullopt;
  if (!digits) {
    refuse(element.place_of(dimension),
           fmt::format("subscript {} of {}: {}{}", print(dimension.subscript.value), element.name(), expected_subscript,
                       index ? "" : fmt::format("; {}", size_remedy)));
  }
  const Polynomial count(*count_of(*digits));
  if (dimension.declared && *dimension.declared != count) {
    refuse(element.place_of(dimension),
           fmt::format("subscript {} of {} counts to {}, but it is declared with {}: expected the same", print(*index),
                       element.name(), print(count), print(*dimension.declared)));
  }
  dimension.declared = count;
}

ArrayElement read(const WrittenElement& element) {
  ArrayElement result{element.array, element.type, {}, {element.name(), {}}, element.source, element.values};
  for (const Dimension& dimension : element.dimensions) {
    const std::optional<Affine> index = dimension.subscript.value.affine();
    if (!index) {
      refuse_flat(dimension.subscript, element.name(), *element.scope, *element.source);
    }
    const std::optional<Affine> declared = dimension.declared ? dimension.declared->affine() : std::nullopt;
    result.access.subscripts.push_back({"", *index});
    result.extents.push_back(dimension.loop != nullptr && element.values.empty() ? dimension.loop->upper
                                                                                 : declared.value_or(0));
  }
  return result;
}

/// Whether the subscript of a one-dimensional array may be that of a factor: several iterators run along it, as far as
/// it is declared.
bool is_overlapped(const WrittenElement& element) {
  const Dimension& only = element.dimensions.front();
  const std::optional<Affine> index = only.subscript.value.affine();
  return only.declared && index && index->terms().size() > 1;
}

}  // namespace

const clang::Expr& without_value_casts(const clang::Expr& expression) {
  const clang::Expr* inner = expression.IgnoreParens();
  while (const auto* cast = clang::dyn_cast<clang::CastExpr>(inner)) {
    const clang::Expr* under = cast->getSubExpr()->IgnoreParens();
    const auto is_double = [](const clang::Expr& one) {
      return one.getType()->isSpecificBuiltinType(clang::BuiltinType::Double);
    };
    const auto is_half_number = [](const clang::Expr& one) {
      const std::optional<ScalarType> type = number_type(one.getType());
      return type && is_half(*type);
    };
    const bool narrows =
        cast->getCastKind() == clang::CK_FloatingCast &&
        ((is_double(*under) && !is_double(*cast)) || (is_half_number(*cast) && !is_half_number(*under)));
    const bool keeps = cast->getCastKind() == clang::CK_NoOp || cast->getCastKind() == clang::CK_LValueToRValue ||
                       cast->getCastKind() == clang::CK_IntegralToFloating ||
                       (cast->getCastKind() == clang::CK_FloatingCast && !narrows);
    if (!keeps) {
      break;
    }
    inner = under;
  }
  return *inner;
}

ArrayElement read_element(const clang::Expr& expression, const Scope& scope) {
  const WrittenElement element = read_written(expression, scope);
  const ArrayElement result = read(element);
  if (element.values.empty()) {
    require_bounds(element);
  }
  return result;
}

ArrayElement read_factor(const clang::Expr& expression, const Scope& scope, bool lists) {
  const WrittenElement element = read_written(expression, scope);
  if (!element.values.empty()) {
    return read(element);
  }
  const bool is_list = lists && element.dimensions.size() == 1 && element.dimensions.front().loop != nullptr;
  if (!is_list && element.dimensions.size() == 1 && !is_overlapped(element) &&
      !is_indirect(element.dimensions.front().subscript, scope)) {
    refuse_flat(element.dimensions.front().subscript, element.name(), scope, expression);
  }
  for (const Dimension& dimension : element.dimensions) {
    require_known_index(element, dimension);
  }
  require_different_iterators(element);
  require_bounds(element);
  for (std::size_t number = 0; number < element.dimensions.size(); ++number) {
    require_known_extent(element, number);
  }
  return read(element);
}

ArrayElement read_own_element(const clang::Expr& expression, const Scope& scope) {
  WrittenElement element = read_written(expression, scope);
  if (!element.values.empty()) {
    return read(element);
  }
  if (element.dimensions.size() == 1 && !is_indirect(element.dimensions.front().subscript, scope)) {
    refuse_flat(element.dimensions.front().subscript, element.name(), scope, expression);
  }
  for (Dimension& dimension : element.dimensions) {
    require_counting_index(element, dimension);
  }
  require_different_iterators(element);
  require_bounds(element);
  return read(element);
}

}  // namespace esc::frontend

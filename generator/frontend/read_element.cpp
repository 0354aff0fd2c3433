#include "generator/frontend/read_element.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/Expr.h>
#include <fmt/format.h>

#include <algorithm>

#include "generator/frontend/array_type.h"
#include "generator/frontend/read_index.h"
#include "generator/frontend/refusal.h"

namespace esc::frontend {
namespace {

/// One subscript, with the expression to point at when it is refused.
struct WrittenSubscript {
  Polynomial value;
  const clang::Expr* source = nullptr;
};

/// An array and how far into it, one subscript per dimension that has been entered.
struct Address {
  const clang::VarDecl* array = nullptr;
  std::vector<WrittenSubscript> subscripts;
};

Address read_location(const clang::Expr& expression, const Scope& scope);

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

/// What an lvalue designates: an array, a row of one, or an element.
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

/// The loop around whose iterator the subscript is, exactly; null where it is anything else.
const WrittenLoop* sole_iterator(const Polynomial& subscript, const Scope& scope) {
  const auto found = std::find_if(scope.loops.begin(), scope.loops.end(),
                                  [&](const auto& loop) { return subscript == Polynomial::of(loop->iterator); });
  return found != scope.loops.end() ? found->get() : nullptr;
}

const WrittenLoop& require_iterator(const WrittenSubscript& subscript, const std::string& array, const Scope& scope,
                                    const clang::Expr& element) {
  const WrittenLoop* loop = sole_iterator(subscript.value, scope);
  if (loop == nullptr) {
    refuse(subscript.source != nullptr ? *subscript.source : element,
           fmt::format("subscript {} of {}: expected the iterator of one loop, alone", print(subscript.value), array));
  }
  return *loop;
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
      if (row != column && subscript.value == flattened(*row, *column)) {
        return Position{row.get(), column.get()};
      }
    }
  }
  return std::nullopt;
}

void require_extent(const std::optional<Polynomial>& declared, const WrittenLoop& loop, const char* what,
                    const std::string& array, const clang::Expr& element) {
  if (declared && *declared != Polynomial(loop.upper)) {
    refuse(element, fmt::format("{} is declared with {} {}, but loop {} runs to {}: expected the same", array,
                                print(*declared), what, loop.iterator, print(loop.upper)));
  }
}

/// An element with what its array was declared as, one subscript for each dimension.
struct Designated {
  Address address;
  ArrayType type;
};

Designated read_designated(const clang::Expr& expression, const Scope& scope) {
  Designated designated{read_location(expression, scope), {}};
  const clang::VarDecl& array = *designated.address.array;
  designated.type = read_array_type(array, expression, *scope.variables);
  if (designated.address.subscripts.size() != designated.type.extents.size()) {
    refuse(expression, fmt::format("this is not an element of {}, which has {} dimensions", array.getNameAsString(),
                                   designated.type.extents.size()));
  }
  return designated;
}

/// Of a matrix, also where it was declared flat, the declared extents must be the bounds of the loops.
void require_declared(const Designated& designated, const Position& position, const clang::Expr& element) {
  const std::string name = designated.address.array->getNameAsString();
  const std::vector<std::optional<Polynomial>>& extents = designated.type.extents;
  if (extents.size() == 2) {
    require_extent(extents[0], *position.row, "rows", name, element);
    require_extent(extents[1], *position.column, "columns", name, element);
  } else if (extents[0] && extents[0] != Polynomial(position.row->upper).times(Polynomial(position.column->upper))) {
    refuse(element, fmt::format("{} is declared with {} elements, but loops {} and {} run to {} and {}: expected "
                                "their product",
                                name, print(*extents[0]), position.row->iterator, position.column->iterator,
                                print(position.row->upper), print(position.column->upper)));
  }
}

}  // namespace

const clang::Expr& without_value_casts(const clang::Expr& expression) {
  const clang::Expr* inner = expression.IgnoreParens();
  while (const auto* cast = clang::dyn_cast<clang::CastExpr>(inner)) {
    const clang::Expr* under = cast->getSubExpr()->IgnoreParens();
    const auto is_double = [](const clang::Expr& one) {
      return one.getType()->isSpecificBuiltinType(clang::BuiltinType::Double);
    };
    const bool narrows = cast->getCastKind() == clang::CK_FloatingCast && is_double(*under) && !is_double(*cast);
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

bool is_element(const clang::Expr& expression) {
  if (const auto* unary = clang::dyn_cast<clang::UnaryOperator>(&expression)) {
    return unary->getOpcode() == clang::UO_Deref;
  }
  return clang::isa<clang::ArraySubscriptExpr>(expression);
}

MatrixElement read_element(const clang::Expr& expression, const Scope& scope) {
  const Designated designated = read_designated(expression, scope);
  const std::string name = designated.address.array->getNameAsString();
  const std::vector<WrittenSubscript>& subscripts = designated.address.subscripts;
  Position position;
  if (subscripts.size() == 1) {
    const auto split = split_flat(subscripts[0], scope);
    if (!split) {
      refuse_flat(subscripts[0], name, scope, expression);
    }
    position = *split;
  } else if (subscripts.size() == 2) {
    position = {&require_iterator(subscripts[0], name, scope, expression),
                &require_iterator(subscripts[1], name, scope, expression)};
  } else {
    refuse(expression, fmt::format("{} has {} dimensions: expected a matrix, of two", name, subscripts.size()));
  }
  if (position.row == position.column) {
    refuse(expression,
           fmt::format("both subscripts of {} are {}: expected two different iterators", name, position.row->iterator));
  }
  require_declared(designated, position, expression);
  return {designated.address.array, designated.type.element, position.row->iterator, position.column->iterator, &expression};
}

ReadOperand read_operand(const clang::Expr& expression, const Scope& scope) {
  const Designated designated = read_designated(expression, scope);
  const std::vector<WrittenSubscript>& subscripts = designated.address.subscripts;
  const std::string name = designated.address.array->getNameAsString();
  ReadOperand operand{designated.address.array, designated.type.element, {}, {name, {}}};
  const auto add = [&](const Affine& subscript, const Affine& extent) {
    operand.access.subscripts.push_back({"", subscript});
    operand.extents.push_back(extent);
  };
  if (const auto matrix = subscripts.size() == 1 ? split_flat(subscripts[0], scope) : std::nullopt) {
    require_declared(designated, *matrix, expression);
    add(Affine::of(matrix->row->iterator), matrix->row->upper);
    add(Affine::of(matrix->column->iterator), matrix->column->upper);
    return operand;
  }
  for (std::size_t dimension = 0; dimension < subscripts.size(); ++dimension) {
    const std::optional<Affine> subscript = subscripts[dimension].value.affine();
    if (!subscript) {
      refuse_flat(subscripts[dimension], name, scope, expression);
    }
    const WrittenLoop* loop = sole_iterator(subscripts[dimension].value, scope);
    if (loop != nullptr) {
      const char* const what = subscripts.size() == 1 ? "elements" : dimension == 0 ? "rows" : "columns";
      require_extent(designated.type.extents[dimension], *loop, what, name, expression);
    }
    add(*subscript, loop != nullptr ? loop->upper : Affine(0));
  }
  return operand;
}

}  // namespace esc::frontend

// SPDX-License-Identifier: Apache-2.0
#include "generator/emit/cuda_expressions.h"

#include <fmt/format.h>

#include <span>

#include "generator/emit/half_text.h"
#include "generator/emit/operand_text.h"
#include "generator/emit/shared_arrays.h"
#include "generator/support/error.h"

namespace esc {
namespace {

bool is_single_term(const Subscript& subscript) {
  return subscript.offset.empty() ? subscript.affine.constant() == 0 && subscript.affine.terms().size() == 1
                                  : subscript.affine == Affine();
}

std::string factor_text(const Subscript& subscript) {
  const std::string text = index_text(subscript);
  return is_single_term(subscript) ? text : "(" + text + ")";
}

/// Whether a thread has it in rows, of which instructions take whole ones.
bool has_rows_of_registers(const ArrayDeclaration& array) {
  return array.role == ArrayRole::registers && array.extents.size() > 1 && array.record.empty();
}

std::string in_brackets(const std::string& array, std::span<const Subscript> subscripts) {
  std::string text = array;
  for (const Subscript& subscript : subscripts) {
    text += "[" + index_text(subscript) + "]";
  }
  return text;
}

}  // namespace

const char* leading_dimension_of_given(const ArrayDeclaration& array) { return array.name == "A" ? "lda" : "ldc"; }

std::string index_text(const Subscript& subscript) {
  if (subscript.offset.empty()) {
    return print(subscript.affine);
  }
  return subscript.affine == Affine() ? subscript.offset : subscript.offset + " + " + print(subscript.affine);
}

std::string CudaExpressions::leading_dimension(const ArrayDeclaration& array) const {
  if (array.role == ArrayRole::dense) {
    return "ldb";
  }
  if (array.role == ArrayRole::operand) {
    return leading_dimension_of(array);
  }
  if (array.role == ArrayRole::output || array.role == ArrayRole::sparse) {
    return leading_dimension_of_given(array);
  }
  return esc::print(array.extents.back());
}

std::string CudaExpressions::position(const ArrayDeclaration& array, const Access& access) const {
  // A pointer is into the memory of the running block, which a store to another one knows by its rank.
  const std::span subscripts = std::span(access.subscripts).subspan(array.role == ArrayRole::cluster ? 1 : 0);
  const std::size_t dimensions = extents_in_block(array).size();
  ESC_CHECK(subscripts.size() <= 2, "an array of the kernel has one or two dimensions: " + access.array);
  if (subscripts.empty()) {
    return "";
  }
  const Subscript& row = subscripts.front();
  const Subscript& last = subscripts.back();
  if (array.layout) {
    ESC_CHECK(subscripts.size() == 2 && array.role != ArrayRole::dense,
              "an element of what is like C: " + access.array);
    return fmt::format("place_in_{}({}, {}, {})", array.name, index_text(row), index_text(last),
                       leading_dimension(array));
  }
  const bool is_element = subscripts.size() == dimensions;
  const std::string inner = !is_element || last == Subscript{} ? "" : index_text(last);
  if (is_element && (dimensions == 1 || row == Subscript{})) {
    return inner;
  }
  return fmt::format("{} * {}{}{}", factor_text(row), leading_dimension(array), inner.empty() ? "" : " + ", inner);
}

std::string CudaExpressions::access(const Access& access) const {
  const ArrayDeclaration* array = nest_.find_array(access.array);
  ESC_CHECK(array != nullptr, "an array of the nest: " + access.array);
  if (array->extents.empty()) {
    return access.array;
  }
  if (has_rows_of_registers(*array)) {
    return in_brackets(access.array, access.subscripts);
  }
  if (array->role == ArrayRole::dense && array->layout) {
    return fmt::format("element_of_B(row_of_B({}, ldb), column_of_B({}, {}, ldb))", index_text(access.subscripts.at(0)),
                       access.array, index_text(access.subscripts.at(1)));
  }
  const std::string at = position(*array, access);
  return fmt::format("{}{}[{}]", access.array, array->record.empty() ? "" : ".at", at.empty() ? "0" : at);
}

std::string CudaExpressions::pointer(const Access& access) const {
  const ArrayDeclaration* array = nest_.find_array(access.array);
  ESC_CHECK(array != nullptr, "an array of the nest: " + access.array);
  if (has_rows_of_registers(*array)) {
    const std::span subscripts(access.subscripts);
    return fmt::format("{} + {}", in_brackets(access.array, subscripts.first(subscripts.size() - 1)),
                       index_text(subscripts.back()));
  }
  const std::string at = position(*array, access);
  return at.empty() ? access.array : access.array + " + " + at;
}

std::string CudaExpressions::place_arguments(const Access& access) const {
  const ArrayDeclaration* array = nest_.find_array(access.array);
  ESC_CHECK(array != nullptr && access.subscripts.size() == 2, "an element of a matrix: " + access.array);
  return fmt::format("{}, {}, {}, {}", access.array, index_text(access.subscripts[0]), index_text(access.subscripts[1]),
                     leading_dimension(*array));
}

std::string CudaExpressions::argument(const Expression& expression, const Instruction::Parameter& parameter) const {
  if (!parameter.is_array()) {
    return print(expression);
  }
  const Access* part = expression.access();
  ESC_CHECK(part != nullptr, "an array for " + parameter.name);
  if (parameter.passing == Instruction::Passing::pointer) {
    return pointer(*part);
  }
  return in_brackets(part->array, part->subscripts);
}

std::string CudaExpressions::read(const Access& element) const {
  const ArrayDeclaration* array = nest_.find_array(element.array);
  ESC_CHECK(array != nullptr, "an array of the nest: " + element.array);
  return widened(array->type, access(element));
}

std::string CudaExpressions::constant(double value) const {
  const bool is_double = nest_.sum() == ScalarType::f64;
  // The shortest digits that give the number back.
  const std::string digits = is_double ? fmt::format("{}", value) : fmt::format("{}", static_cast<float>(value));
  const bool is_whole = digits.find_first_of(".e") == std::string::npos;
  return fmt::format("{}{}{}", digits, is_whole ? ".0" : "", is_double ? "" : "f");
}

std::string CudaExpressions::function(const std::string& name) const {
  return nest_.sum() == ScalarType::f64 ? name : name + "f";
}

std::string CudaExpressions::bits(Operator op, const std::string& operand) const {
  return op == Operator::population_count ? fmt::format("__popc({})", operand)
         : op == Operator::lowest_set_bit ? fmt::format("__ffs({}) - 1", operand)
                                          : fmt::format("{0} & ({0} - 1)", operand);
}

std::string CudaExpressions::minimum(const std::string& left, const std::string& right) const {
  return fmt::format("min({}, {})", left, right);
}

}  // namespace esc

// SPDX-License-Identifier: Apache-2.0
#include "generator/emit/operand_text.h"

#include <fmt/format.h>

#include <functional>
#include <sstream>

#include "generator/emit/half_text.h"
#include "generator/emit/layout_text.h"
#include "generator/ir/print.h"

namespace esc {
namespace {

constexpr std::size_t number = 0;
constexpr std::size_t matrix = 2;

/// What `text` says of each operand, one after the other.
std::string of_each(const LoopNest& nest, const std::function<std::string(const ArrayDeclaration&)>& text) {
  std::string all;
  for (const ArrayDeclaration& operand : operands_of(nest)) {
    all += text(operand);
  }
  return all;
}

std::string parameters(const LoopNest& nest, const char* unaliased, const char* integer,
                       const char* (*name_of_type)(ScalarType)) {
  return of_each(nest, [&](const ArrayDeclaration& operand) {
    const char* const type = name_of_type(operand.type);
    switch (operand.extents.size()) {
      case number:
        return fmt::format(", {} {}", type, operand.name);
      case matrix:
        return fmt::format(", const {}* {}, {} {}", type, operand.name, integer, leading_dimension_of(operand));
      default:
        return fmt::format(", const {}* {}{}", type, unaliased, operand.name);
    }
  });
}

/// What the operands are, as lines of a header's comment.
std::string operand_notes(const LoopNest& nest) {
  std::string tables;
  for (const ArrayDeclaration& array : nest.arrays) {
    if (array.role == ArrayRole::table) {
      tables += fmt::format("\n * {}: a number for each row of C, which the kernel has;", array.name);
    }
  }
  return tables + of_each(nest, [&](const ArrayDeclaration& operand) {
           switch (operand.extents.size()) {
             case number:
               return fmt::format("\n * {}: a number;", operand.name);
             case matrix:
               return operand.layout
                          ? fmt::format("\n * {}: an array like C's, {} is its leading dimension; it may be c;",
                                        operand.name, leading_dimension_of(operand))
                          : fmt::format("\n * {0}: a matrix like C, row i at {0} + i * {1}, {1} >= n; it may be c;",
                                        operand.name, leading_dimension_of(operand));
             default:
               return fmt::format("\n * {}: a number for each {} of C;", operand.name,
                                  goes_over_columns(nest, operand) ? "column" : "row");
           }
         });
}

}  // namespace

std::string leading_dimension_of(const ArrayDeclaration& operand) { return operand.name + "ld"; }

std::string operand_kernel_parameters(const LoopNest& nest) {
  return parameters(nest, "__restrict__ ", "long long", c_name);
}

std::string operand_parameters(const LoopNest& nest) { return parameters(nest, "", "int64_t", c_name); }

std::string declared_operands(const LoopNest& nest) { return parameters(nest, "", "int64_t", declared_name); }

std::string operand_arguments(const LoopNest& nest, const Environment& sizes, const std::string& done) {
  const std::int64_t columns = item_columns(nest);
  const std::string items = columns == 1 ? done : fmt::format("{} / {}", done, columns);
  return of_each(nest, [&](const ArrayDeclaration& operand) {
    // A launch for later columns begins further on.
    const std::string distance = operand.extents.size() == matrix
                                     ? distance_of_items(operand, sizes, items, leading_dimension_of(operand))
                                     : done;
    const bool moves = !operand.extents.empty() && goes_over_columns(nest, operand);
    const std::string place = operand.name + (moves ? " + " + distance : "");
    return operand.extents.size() == matrix
               ? fmt::format(", {}, static_cast<long long>({})", place, leading_dimension_of(operand))
               : ", " + place;
  });
}

std::string operand_names(const LoopNest& nest) {
  return of_each(nest, [](const ArrayDeclaration& operand) {
    return ", " + operand.name + (operand.extents.size() == matrix ? ", " + leading_dimension_of(operand) : "");
  });
}

std::string operand_rows(const LoopNest& nest) {
  return of_each(nest, [&](const ArrayDeclaration& operand) {
    const std::size_t dimensions = operand.extents.size();
    const char* const form = dimensions == number               ? "number"
                             : dimensions == matrix             ? "matrix"
                             : goes_over_columns(nest, operand) ? "columns"
                                                                : "rows";
    return fmt::format("{{\"{}\", \"{}\", \"{}\"}},\n", operand.name, name_of(operand.type), form);
  });
}

std::string operand_values(const LoopNest& nest) {
  std::size_t at = 0;
  return of_each(nest, [&](const ArrayDeclaration& operand) {
    const std::size_t dimensions = operand.extents.size();
    const std::string place =
        fmt::format("static_cast<const {}*>(arguments[{}].data)", declared_name(operand.type), at);
    const std::string ld = dimensions == matrix ? fmt::format(", arguments[{}].ld", at) : "";
    ++at;
    return (dimensions == number ? ", *" : ", ") + place + ld;
  });
}

std::string operand_refusals(const LoopNest& nest, const Environment& sizes) {
  return of_each(nest, [&](const ArrayDeclaration& operand) {
    const std::string null = fmt::format(" || {} == nullptr", operand.name);
    switch (operand.extents.size()) {
      case number:
        return std::string();
      case matrix:
        return fmt::format("{} || {} < {}", null, leading_dimension_of(operand),
                           least_leading_dimension(operand, sizes, "n"));
      default:
        return null;
    }
  });
}

std::string epilogue_notes(const LoopNest& nest) {
  std::string text = "\n *\n * C is what the epilogue makes of the elements of A x B:";
  std::istringstream lines(print(nest_of_epilogue(nest).body));
  for (std::string line; std::getline(lines, line);) {
    text += "\n *   " + line;
  }
  if (const std::string operands = operand_notes(nest); !operands.empty()) {
    text += "\n * It reads, vectors and matrices in device memory:" + operands;
    text.back() = '.';
  }
  return text;
}

}  // namespace esc

// SPDX-License-Identifier: Apache-2.0
#include "generator/emit/layout_class.h"

#include <fmt/format.h>

#include <algorithm>

#include "generator/emit/manifest.h"
#include "generator/lower/canonicalize.h"

namespace esc {
namespace {

const Digit* find(const std::vector<Digit>& digits, const std::string& name) {
  const auto found = std::ranges::find(digits, name, &Digit::name);
  return found == digits.end() || found->extent == Affine(1) ? nullptr : &*found;
}

/// What runs over the dimension: "2nk"; empty where a single index is.
std::string print_dimension(const StoredDimension& dimension, const Layout& layout, char row) {
  std::string columns;
  std::string rows;
  for (const Affine::Term& term : dimension.index.terms()) {
    if (find(layout.column, term.name) != nullptr) {
      columns += (term.coefficient == 1 ? "" : fmt::format("{}", term.coefficient)) + "n";
    } else if (find(layout.row, term.name) != nullptr) {
      rows += row;
    }
  }
  return columns + rows;
}

std::string print_matrix(const ArrayDeclaration& array, char row) {
  if (!array.layout) {
    return fmt::format("{}_n", row);
  }
  std::string text;
  for (const StoredDimension& dimension : array.layout->dimensions) {
    const std::string one = print_dimension(dimension, *array.layout, row);
    text += one.empty() ? "" : (text.empty() ? "" : "_") + one;
  }
  return text;
}

}  // namespace

std::string layout_class(const LoopNest& nest) {
  const LoopNest canonical = canonicalize(nest);
  const std::string known = layout_of(canonical);
  return known != "nest" ? known
                         : print_matrix(canonical.array(ArrayRole::dense), 'k') + "." +
                               print_matrix(canonical.array(ArrayRole::output), 'm');
}

}  // namespace esc

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "generator/ir/memory.h"

namespace esc {

/// An element of the output, with what may go into it: the complete sum and the elements of operands that belong to it.
struct OutputElement {
  double sum = 0;
  std::size_t row = 0;
  std::size_t column = 0;
  const Memory* memory = nullptr;

  double number(const std::string& name) const { return at(name, 0); }
  double of_row(const std::string& name) const { return at(name, row); }
  double of_column(const std::string& name) const { return at(name, column); }
  double of_matrix(const std::string& name) const {
    return at(name, row * static_cast<std::size_t>(memory->arrays.at(name).extents.at(1)) + column);
  }

 private:
  double at(const std::string& name, std::size_t place) const { return memory->arrays.at(name).elements.at(place); }
};

/// A text of a product with what follows it, how its epilogue is printed, and the same computed by hand.
struct EpilogueVariant {
  const char* name;
  std::string source;
  /// Steps and the new element, a line each; empty: there is no epilogue.
  std::string printed;
  std::function<double(const OutputElement&)> expected;
  const char* file = "layer.c";
};

inline void PrintTo(const EpilogueVariant& variant, std::ostream* out) { *out << variant.name; }

/// Epilogues that are accepted: of A (M x K), B (K x N) and C (M x N), and of operands.
std::vector<EpilogueVariant> accepted_epilogues();

}  // namespace esc

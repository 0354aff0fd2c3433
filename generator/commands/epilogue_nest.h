// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "generator/commands/nest_layout.h"

namespace esc {

/// One of the shipped parts that --epilogue puts together.
struct EpiloguePart {
  const char* name;        ///< "bias"
  const char* parameters;  ///< what it reads, as C: "const float bias[M]"; empty: nothing
  const char* value;       ///< what it makes of x: "x + bias[i]"
  const char* meaning;     ///< "adds a number to each row of C"
};

/// All of them, in the order of the documentation.
const std::vector<EpiloguePart>& epilogue_parts();

/// Their names: "bias, bias_column, relu, ...".
std::string epilogue_names();

/// The C text of the sparse-dense product with these parts one after the other: "bias+relu". In layout nk matrices of
/// the parts are transposed as C is. Throws UserError for a part that does not exist
/// or is named twice.
std::string nest_with_epilogue(const std::string& parts, NestLayout layout = NestLayout::kn);

}  // namespace esc

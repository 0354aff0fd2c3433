// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "generator/emit/layer.h"

namespace esc {

/// A number of a packed matrix, or several of a kind, that a kernel which layers share is told by its caller. In the
/// kernel of one layer it is a constant of the text.
struct RuntimeParameter {
  std::string type;
  std::string name;
  std::vector<std::uint64_t> values;
  bool is_list = false;
  std::string why = {};
};

/// What the kernel reads its packed matrix by. Nothing for the kernel of one layer.
std::vector<RuntimeParameter> runtime_parameters(const Layer& layer);

/// Whether the layer's kernel is told its numbers.
bool is_shape_generic(const Layer& layer);

/// The kernel's first parameter as its functions have it: "struct PackedMatrix {...};".
std::string packed_matrix_text(const std::vector<RuntimeParameter>& numbers);

/// The layer with a kernel that is told its numbers.
Layer shape_generic_layer(Layer layer);

}  // namespace esc

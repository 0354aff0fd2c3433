// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "generator/commands/layer_request.h"
#include "generator/commands/model_request.h"
#include "generator/model/model.h"

namespace esc {

/// The element type that kernels have where nobody names one, with what a user should know of it.
struct DefaultElement {
  std::optional<ScalarType> element;  ///< none: that of the loop nest, float32 for the shipped one
  std::string note = {};
};

/// The type of a file of 16 bits, for a request that names none and has no loop nest of its own.
std::optional<ScalarType> element_of(const LayerRequest& request);

/// The same of a model: the 16 bits that all its matrices which are asked for have.
DefaultElement element_of(const Model& model, const ModelRequest& request);

/// What is to be said of a file whose elements have another type than the kernel; empty where they have the same, or
/// are words of a text.
std::string type_note(std::optional<ScalarType> stored, ScalarType kernel);

}  // namespace esc

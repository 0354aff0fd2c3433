// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "generator/ir/loop_nest.h"
#include "generator/matrix/sparse_matrix.h"

namespace esc {

/// The element type that an option names. Throws UserError for one that kernels are not printed for.
ScalarType parse_element(const std::string& dtype);

/// A valid name of a bundle made of a layer's: "ffn-1.smtx" -> "ffn_1", "time.npy" -> "layer_time",
/// "model.safetensors:h.0.up_proj.weight" -> "h_0_up_proj".
std::string default_name(const std::string& matrix_file);

/// Throws UserError when the name cannot be the prefix of C symbols, or when NAME.h or the CMake target NAME would hide
/// one that others need.
void check_name(const std::string& name);

/// Throws UserError for a number of columns that a kernel cannot be made for.
void check_bcol(std::int64_t bcol);

/// Whether the text stands for a schedule that is found for the layer, in place of being one.
bool is_looked_up(const std::string& schedule);

/// The name of a layer's bundle for one bCol: "ffn1", and where it gets one for each of several, "ffn1_n64".
std::string bundle_name(const std::string& layer, std::int64_t bcol, bool one_of_several);

/// The last part of a layer's path as plain text, with the tensor's name after it where it is one of a model.
std::string printable_file_name(const std::string& path);

}  // namespace esc

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace esc {

/// What is wrong with a tensor's name; empty for one that may be in messages, in comments and in the names of files.
/// Names are what a file from elsewhere says.
std::string name_problem(std::string_view name);

/// Whether the numbers in the names count as numbers when they are put into an order: "layers.2" before "layers.10".
bool is_before(std::string_view one, std::string_view other);

/// The module that a tensor is in, and its own name there: "h.0.up" and "weight" of "h.0.up.weight". A slash parts
/// names, too.
std::string_view module_of(std::string_view name);
std::string_view leaf_of(std::string_view name);

/// The words of a name in small letters: {"weight", "scale", "inv"} of "weight_scale_inv".
std::vector<std::string> words_of(std::string_view name);

}  // namespace esc

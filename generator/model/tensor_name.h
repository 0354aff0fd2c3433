// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace esc {

/// What is wrong with a tensor's name; empty for one that may stand in messages, in comments and in the names of files. Names are what a file from
/// elsewhere says.
std::string name_problem(std::string_view name);

/// Whether the numbers in the names count as numbers when they are put into an order: "layers.2" before "layers.10".
bool is_before(std::string_view one, std::string_view other);

}  // namespace esc

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "generator/emit/layer.h"

namespace esc {

/// The C functions NAME_unpack and NAME_values, whose launches are that of the product as its holes have it; empty
/// where there are none.
std::string unpack_functions(const Layer& layer, const std::map<std::string, std::string>& launcher);

/// What the header says of them.
std::string unpack_declarations(const Layer& layer);

/// The same functions of a layer whose kernel is `told` by them what `numbers`, a definition, has.
std::string shape_generic_unpack_functions(const Layer& layer, const std::string& told, const std::string& numbers);

}  // namespace esc

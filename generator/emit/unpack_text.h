// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "generator/emit/layer.h"

namespace esc {

/// The C function NAME_unpack, whose launch is that of the product as its holes have it; empty where there is none.
std::string unpack_function(const Layer& layer, const std::map<std::string, std::string>& launcher);

/// What the header says of it.
std::string unpack_declaration(const Layer& layer);

}  // namespace esc

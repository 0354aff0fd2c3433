// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "generator/emit/layer.h"

namespace esc {

/// What the launcher in templates/kernel.cu.in has in its holes: the launch plan of the layer, for any N, variant of
/// the kernel and place of B and C.
std::map<std::string, std::string> launcher_holes(const Layer& layer);

}  // namespace esc

#pragma once

#include <string>

#include "generator/emit/layer.h"

namespace esc {

/// NAME.cu of a layer of family atomic, printed from its lowered nest. The matrix has a non-zero.
std::string atomic_kernel_source(const Layer& layer);

}  // namespace esc

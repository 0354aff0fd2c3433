// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "generator/emit/layer.h"

namespace esc {

/// The texts of a bundle, before they are formatted. Each is self-contained; equal layers give equal texts.
std::string kernel_source(const Layer& layer);       ///< NAME.cu
std::string transformer_source(const Layer& layer);  ///< NAME_transformer.cpp
std::string header_source(const Layer& layer);       ///< NAME.h
std::string cmake_source(const Layer& layer);        ///< CMakeLists.txt

}  // namespace esc

#pragma once

#include <string>

#include "generator/emit/layer.h"

namespace esc {

/// The texts of a bundle, before they are formatted. Each is self-contained; equal layers give equal texts.
std::string kernel_source(const Layer& layer);       ///< NAME.cu
/// A part of NAME.cu that has the kernels and compiles by itself where the CUDA runtime's names are known, as NVRTC's text.
std::string device_source(const Layer& layer);
std::string transformer_source(const Layer& layer);  ///< NAME_transformer.cpp
std::string header_source(const Layer& layer);       ///< NAME.h
std::string cmake_source(const Layer& layer);        ///< CMakeLists.txt

}  // namespace esc

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "generator/emit/layer.h"

namespace esc {

/// A kernel as the layers of a model share it. Layers of one shape, type and schedule have the same one, as long as
/// nothing in its text must be a constant of the matrix.
struct SharedKernel {
  std::string name;                    ///< of its file and its functions, with a digest of its text
  std::string text;                    ///< NAME.cu, not yet formatted
  std::vector<std::uint64_t> numbers;  ///< what the layer tells it
};

/// The kernel of the layer in the model's bundle of this name. The layer has a kernel.
SharedKernel shared_kernel(const Layer& layer, const std::string& bundle);

/// The text of such a kernel, laid out or not, as that of the layer's own bundle: its kernels with the layer's name,
/// and after it NAME_prepare and NAME_spmm, and where there are such NAME_unpack and NAME_values, which tell it the
/// layer's numbers.
std::string as_layer_text(std::string text, const Layer& layer, const SharedKernel& kernel);

}  // namespace esc

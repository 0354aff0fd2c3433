#pragma once

#include <string>

#include "transformer/packed.h"

namespace esc::transformer {

/// The packer's own text, for generated transformers: the format, the panel sources, the packing and the pattern
/// digests, as C++17 definitions without a namespace around them. Needs <stddef.h>, <stdint.h> and <string.h>.
std::string packing_text(const PackedFormat& format);

/// The definition of layer_format in a generated transformer, from the numbers of its description.
std::string layer_format_text(const PackedFormat& format);

}  // namespace esc::transformer

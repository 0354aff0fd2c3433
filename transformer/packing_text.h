#pragma once

#include <string>

namespace esc::transformer {

/// The packer's own text, for generated transformers: the format, the panel sources, the packing and the pattern
/// digests, as C++17 definitions without a namespace around them. Needs <stddef.h>, <stdint.h> and <string.h>.
std::string packing_text();

}  // namespace esc::transformer

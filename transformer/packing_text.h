#pragma once

#include <string>

#include "transformer/packed_format.h"
#include "transformer/region_format.h"
#include "transformer/task_format.h"

namespace esc::transformer {

/// The packer's own text, for generated transformers: the format of lists, of regions or of tasks, the panel
/// sources, the packing and the pattern digests, as C++17 definitions without a namespace around them. Needs <stddef.h>,
/// <stdint.h> and <string.h>.
std::string list_packing_text();
std::string region_packing_text();
std::string task_packing_text();

/// The definitions of layer_shape, layer_counts and layer_format in a generated transformer, from which it derives the rest.
std::string layer_format_text(const PackedFormat& format);
std::string layer_format_text(const RegionFormat& format);
std::string layer_format_text(const TaskFormat& format);

}  // namespace esc::transformer

#pragma once

#include <string>

#include "generator/emit/layer.h"

namespace esc {

/// NAME.cu of a layer of family panel: the constant text with the schedule's constants, and the parts that the schedule's
/// directives stage and reduce choose. The matrix has a non-zero.
std::string panel_kernel_source(const Layer& layer);

/// The part of it that runs on the GPU. The places of the panels are constants in it: as arguments they would have to be
/// read before anything else can be.
std::string panel_device_source(const Layer& layer);

/// Bytes of dynamic shared memory of a block.
std::uint64_t panel_shared_bytes(const PanelSchedule& schedule, const transformer::RegionFormat& format);

}  // namespace esc

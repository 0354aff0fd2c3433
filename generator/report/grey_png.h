// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "generator/matrix/density_raster.h"

namespace esc {

/// The raster as the bytes of a PNG of 8 bits of grey, a pixel for each cell: white where nothing is, black at the
/// raster's densest cell.
std::string grey_png(const DensityRaster& raster);

/// Bytes as base64.
std::string base64(const std::string& bytes);

}  // namespace esc

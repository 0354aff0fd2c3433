// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "generator/emit/model_bundle.h"
#include "generator/matrix/density_raster.h"
#include "generator/report/measured_times.h"

namespace esc {

/// One self-contained HTML page about the bundle of a model: bytes, speed and replaced layers in three figures first,
/// then bytes and times by layer, pictures of the patterns that there are, kernels and what has none. The same bundle
/// gives the same bytes.
std::string model_page(const ModelBundle& model, const std::map<std::string, DensityRaster>& patterns,
                       const MeasuredTimes& times);

}  // namespace esc

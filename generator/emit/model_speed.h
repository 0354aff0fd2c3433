// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "generator/emit/model_bundle.h"

namespace esc {

/// Sums over layers, by the device that was measured on, such as "NVIDIA H200", and bCol.
using ModelSpeed = std::map<std::pair<std::string, std::int64_t>, ExpectedTimes>;

/// Adds what the layer's kernels are expected to take; nothing for those of which that is not known.
void add_expected_times(ModelSpeed& sums, const ModelLayer& layer);

/// Whether kernels of the layer are made for several capabilities.
bool has_several_capabilities(const ModelLayer& layer);

/// "1: 1.42 x, 16: 1.10 x", how many times as fast as libraries kernels are expected to be for each bCol, with the
/// capability in front where there are several; empty where that is not known.
std::string speed_over_libraries(const ModelLayer& layer);

}  // namespace esc

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "generator/schedule/measured_ratios.h"

namespace esc {

/// As manifests and --json have it: over_exact, over_tf32, exact_microseconds, where and device, and
/// expected_microseconds, which follows from them; what was not measured is left out. `measured` has over_exact.
nlohmann::json measured_json(const MeasuredRatios& measured);

/// What was written so; throws nlohmann::json::exception for anything else.
MeasuredRatios measured_ratios(const nlohmann::json& entry);

}  // namespace esc

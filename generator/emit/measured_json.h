// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "generator/schedule/dense_comparison.h"
#include "generator/schedule/measured_ratios.h"

namespace esc {

/// As manifests and --json have it: over_exact, over_tf32, exact_microseconds, where and device, and
/// expected_microseconds, which follows from them; what was not measured is left out. `measured` has over_exact.
nlohmann::json measured_json(const MeasuredRatios& measured);

/// What was written so; throws nlohmann::json::exception for anything else.
MeasuredRatios measured_ratios(const nlohmann::json& entry);

/// Key "predicted": microseconds, dense_microseconds and device.
nlohmann::json comparison_json(const DenseComparison& comparison);

/// What is so among the keys of an entry, if anything does.
std::optional<DenseComparison> dense_comparison(const nlohmann::json& entry);

}  // namespace esc

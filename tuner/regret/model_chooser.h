// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "tuner/regret/choosers.h"

namespace esc::tuning {

/// The schedule that is predicted to be the fastest (`predicted_cost`), whatever was measured.
std::unique_ptr<Chooser> model_chooser();

/// The same with predictions corrected by what was measured of the other layers among these items, on the same device,
/// in the same element type, layout and family: of the layer itself it knows nothing.
std::unique_ptr<Chooser> corrected_chooser(const std::vector<MeasuredItem>& items);

}  // namespace esc::tuning

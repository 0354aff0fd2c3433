// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "generator/commands/model_request.h"
#include "generator/model/model.h"
#include "generator/schedule/database_files.h"

namespace esc {

/// Says of each matrix of a model what a product with it would read as dense, as CSR and as `auto` packs it, how long
/// that takes at least, what was measured of such layers against libraries, and whether `generate` would make it, by
/// what decides there. The request says for which columns, device, type and layout; where it names no GPU, the one
/// that is measured best counts. `own` is what the user has measured.
ExitStatus estimate_model(const Model& model, const ModelRequest& request, const UserMeasurements& own, bool as_json,
                          const Console& console);

}  // namespace esc

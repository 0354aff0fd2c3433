// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "generator/commands/layer_request.h"
#include "generator/model/model.h"

namespace esc {

/// Says of each matrix of a model what a product with it would read as dense, as CSR and as `auto` packs it, how long
/// that takes at least, and what was measured of such layers against libraries. The request says for which columns,
/// device, type and layout.
ExitStatus estimate_model(const Model& model, const LayerRequest& request, bool as_json, const Console& console);

}  // namespace esc

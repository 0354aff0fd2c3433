// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "generator/commands/model_request.h"
#include "generator/emit/model_bundle.h"

namespace esc {

// Bundles that would be refused in the end are refused before the work: what is in a bundle's place is compared with
// what is known of the new one by then. Each throws UserError where something else is there, or, where nothing is to be
// replaced, another bundle.

/// Of a layer that was read.
void refuse_taken_place(const LayerRequest& request, const GenerateMode& mode, const LoopNest& nest,
                        const SparseMatrix& matrix);

/// Of a layer that was made and not verified.
void refuse_taken_place(const GeneratedLayer& generated, const KernelBundle& bundle, const GenerateMode& mode);

/// Of a model of which nothing was read; `on_disk` is the bundle in its place.
void refuse_taken_place(const ModelRequest& request, const GenerateMode& mode,
                        const std::optional<ModelBundle>& on_disk);

}  // namespace esc

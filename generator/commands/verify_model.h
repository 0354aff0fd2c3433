// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "generator/commands/console.h"
#include "generator/support/error.h"

namespace esc {

/// Whether the folder holds the bundle of a model, by what its manifest says of itself.
bool is_model_bundle(const std::string& folder);

/// Checks the bundle of a model. All its files must be those that are generated for what its manifest says and its
/// packed matrices hold, byte for byte; each kernel is run on the emulated grid, or on this machine's GPU, with the
/// first layer that has it. Throws UserError for a bundle that is not what it says.
ExitStatus verify_model_bundle(const std::string& folder, bool on_gpu, bool as_json, const Console& console);

}  // namespace esc

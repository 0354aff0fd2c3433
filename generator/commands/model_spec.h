// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "generator/commands/model_request.h"
#include "generator/schedule/known_devices.h"

namespace esc {

/// What a spec says of a model. What it does not say is as where nothing is on the command line.
struct ModelSpec {
  ModelRequest request;  ///< its name is empty where the spec has none
  std::optional<PackedLimit> max_packed;
  std::string database;
};

/// The spec of a model: {"model": FILE, "bcol": N or [N, ...], ...} with the keys of model_form; none where the text is
/// no object with "model". Relative files are looked for beside the spec, and GPUs among `devices`. Throws UserError,
/// with the place in the file, for anything that is wrong with it.
std::optional<ModelSpec> parse_model_spec(const std::string& text, const std::string& file,
                                          const KnownDevices& devices = shipped_devices());

/// What a spec of a model says of "database", looked for beside the spec: before the rest is read, for it says what
/// GPUs are known. Empty where it says nothing or names a schedule, and of other specs.
std::string database_in_spec(const std::string& text, const std::string& file);

}  // namespace esc

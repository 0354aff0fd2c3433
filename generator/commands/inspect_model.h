#pragma once

#include <string>

#include "generator/commands/console.h"
#include "generator/support/error.h"

namespace esc {

/// Whether `inspect` lists the tensors of what is named, in place of looking at one matrix: a model without a tensor's name, but for a .npz file that
/// is one matrix of SciPy.
bool is_listed(const std::string& name);

/// Lists the tensors of a model with what their values are like, as a table or as JSON.
ExitStatus inspect_model(const std::string& path, bool as_json, const Console& console);

}  // namespace esc

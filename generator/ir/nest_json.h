// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "generator/ir/loop_nest.h"

namespace esc {

/// A nest as the front end reads it, without its C: one line of JSON, for programs that do not read C. Equal nests have
/// equal texts. Throws Defect for a nest that a step has changed.
std::string nest_json(const LoopNest& nest);

/// The nest of such a text: parse_nest_json(nest_json(nest), ..) == nest. Throws UserError, with `place`, for any other
/// text.
LoopNest parse_nest_json(const std::string& text, const std::string& place);

}  // namespace esc

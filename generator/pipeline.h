// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "generator/ir/loop_nest.h"
#include "generator/schedule/directive.h"

namespace esc {

/// One step of the transformation: what was applied, and the nest it left.
struct LoweredStep {
  std::string
      name;  ///< "input", "dense subscripts" where the input loads some, "canonicalize", or the directive's text
  LoopNest nest;
};

/// The nest after every step of the transformation, the input first and the final form last. `patterns` are the
/// patterns that the matrix has (absent: all, which families panel and rows ask for). Throws UserError (ScheduleError)
/// when a directive is illegal.
std::vector<LoweredStep> lower_by_steps(const LoopNest& nest, const std::vector<Directive>& directives,
                                        const std::optional<std::vector<Pattern>>& patterns = std::nullopt);

/// The final form alone.
LoopNest lower(const LoopNest& nest, const std::vector<Directive>& directives,
               const std::optional<std::vector<Pattern>>& patterns = std::nullopt);

}  // namespace esc

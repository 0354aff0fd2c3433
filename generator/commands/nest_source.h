// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "generator/commands/nest_layout.h"
#include "generator/frontend/given_sizes.h"

namespace esc {

/// Where the input loop nest comes from: a C file or, where none is named, the shipped product with an epilogue of
/// shipped parts.
struct NestSource {
  std::string file;                       ///< empty: the shipped SpMM
  std::string epilogue;                   ///< "bias+relu"; empty: C is the sums
  GivenSizes sizes = {};                  ///< the parameters that are numbers
  std::optional<NestLayout> layout = {};  ///< of the shipped product; none: kn, or what the file says
};

}  // namespace esc

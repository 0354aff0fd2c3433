// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "generator/ir/affine.h"

namespace esc {

/// The most that a size may be.
inline constexpr std::int64_t most_size = 2147483647;

/// Adds a size to those that are known. Throws UserError for a text that is no name of C, a number outside 0 to
/// `most_size`, and a name that has a number already.
void add_size(Environment& sizes, const std::string& name, std::int64_t number);

/// {stride: 2, pad: 1} for "stride=2,pad=1", or for the two apart. Throws UserError for anything else than different
/// names with numbers.
Environment parse_sizes(const std::vector<std::string>& texts);

}  // namespace esc

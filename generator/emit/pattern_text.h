// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "transformer/packed.h"
#include "transformer/pattern_check.h"

namespace esc {

/// What a transformer packs beside its own matrix: other values in the same pattern, which it knows by its digests; or
/// any pattern whose packed tiles the kernel has room for.
struct TakenPatterns {
  std::vector<transformer::PatternDigest> digests;
  std::string kernel_shape = {};  ///< of a kernel that takes any pattern, in C++: what it has room for
};

/// The holes of the transformer's template that follow from that: PATTERN, PATTERN_STATUS, PACK_LAYER and
/// MORE_FUNCTIONS. `others` are the template's other holes, which these texts have, too.
std::map<std::string, std::string> pattern_holes(const TakenPatterns& patterns,
                                                 const std::map<std::string, std::string>& others);

/// Those of the header's template: PATTERN_RULE, PATTERN_REFUSED, MORE_FUNCTIONS, HOST_FUNCTIONS and FAILED. `argument`
/// is what a caller has for an element.
std::map<std::string, std::string> header_pattern_holes(bool any_pattern, const std::string& name,
                                                        const std::string& argument);

}  // namespace esc

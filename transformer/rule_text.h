// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "transformer/description.h"

namespace esc::transformer {

/// Says that a number is none of those that its rule allows.
std::string broken_rule(const char* name, std::uint64_t number, const Rule& rule);

}  // namespace esc::transformer

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "generator/commands/nest_source.h"
#include "generator/ir/scalar_type.h"

namespace esc {

/// Layers of one loop nest, with the numbers of items that each is tuned for.
struct LayerGroup {
  NestSource nest;
  std::optional<ScalarType> element = {};  ///< none: what the nest has
  std::vector<std::string> files;  ///< each once, in the order in which they were named
  std::map<std::string, std::set<std::int64_t>> bcols;  ///< by file
};

/// Those of a spec as escgen generate takes it. What says how a bundle is made - names, schedules, devices, values - does not matter here. Throws
/// UserError as read_spec does.
std::vector<LayerGroup> groups_of_spec(const std::string& file);

}  // namespace esc

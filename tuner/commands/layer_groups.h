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
  std::optional<ScalarType> element = {};               ///< none: what the nest has
  std::vector<std::string> files;                       ///< each once, in the order in which they were named
  std::set<std::string> of_models = {};                 ///< those that stand for a whole model
  std::map<std::string, std::set<std::int64_t>> bcols;  ///< by file
};

/// Those of a spec as escgen generate takes it. What says how a bundle is made - names, schedules, devices, values -
/// does not matter here. Throws UserError as read_spec does.
std::vector<LayerGroup> groups_of_spec(const std::string& file);

/// The type that a file's layer is tuned in: the one that is asked for or, where a file of 16 bits has the shipped
/// nest, that of the file; none: what the nest has. Files that cannot be read say so where they are read.
std::optional<ScalarType> element_for(const std::string& file, const NestSource& nest, std::optional<ScalarType> asked);

/// The groups, divided where their files have different types by that.
std::vector<LayerGroup> divided_by_element(const std::vector<LayerGroup>& groups);

}  // namespace esc

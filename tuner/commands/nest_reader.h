// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "generator/commands/nest_source.h"
#include "tuner/run/tuning_run.h"

namespace esc {

/// The loop nests of a run. Programs in C are read by escgen, which is beside this program; the shipped product
/// without an epilogue, in either layout, and nests that escgen nest printed into a file that ends in .json, need none.
class NestReader {
 public:
  /// The nest for a matrix, whose file may give sizes, with elements of this type; none: the nest's own, f32 for the
  /// shipped ones. Throws UserError as escgen does, and status missing_tool where that is needed and not there.
  const tuning::TunedNest& read(const NestSource& source, const std::string& matrix,
                                std::optional<ScalarType> element = std::nullopt);

 private:
  std::map<std::vector<std::string>, tuning::TunedNest> known_;  ///< by what escgen would be asked
};

}  // namespace esc

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "generator/ir/instruction.h"
#include "generator/ir/nest_state.h"

namespace esc {

inline constexpr std::int64_t lanes_of_warp = 32;

/// Threads of one block, in the order of their numbers; somebody else's.
using Threads = std::vector<ThreadState*>;
using ArraysByName = std::map<std::string, ArrayView, std::less<>>;

/// The arrays that the running thread gives an instruction, by the names of its parameters.
ArraysByName bind_arrays(NestState& state, const Instruction& called, const Perform& perform);

/// What the lanes of one warp give an instruction that they perform together: what each has of its own is side by
/// side in arrays with a first dimension for the lanes.
class WarpArguments {
 public:
  /// Throws Defect unless the lanes are a whole warp.
  WarpArguments(NestState& state, const Threads& lanes, const Instruction& called, const Perform& perform);

  WarpArguments(const WarpArguments&) = delete;
  WarpArguments& operator=(const WarpArguments&) = delete;

  const ArraysByName& arrays() const { return arrays_; }
  /// Gives each lane what it has of its own, as it is now, and the results.
  void hand_back(const Threads& lanes, const Instruction& called, const Perform& perform) const;

 private:
  ArrayView gather(const std::string& name, std::vector<std::int64_t> extents);

  std::deque<OwnedArray> gathered_;
  std::vector<ArraysByName> own_;
  ArraysByName arrays_;
};

}  // namespace esc

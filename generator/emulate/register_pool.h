// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "generator/emulate/access_judge.h"

namespace esc {

/// The registers of a block, which warps take and leave (setmaxnreg). All begin with the most that a launch of so many
/// threads can give each of them. Who takes what nobody leaves waits for ever on a device; here that is found when the
/// block has ended.
class RegisterPool {
 public:
  explicit RegisterPool(AccessJudge& judge) : judge_(judge) {}

  void begin_block(std::uint32_t threads);
  void end_block();

  /// The running thread's warp has so many registers for each thread from now on, no fewer than before where it takes
  /// some. Stops the thread where the number has no meaning.
  void exchange(std::uint32_t warp, std::uint32_t registers, bool takes);

 private:
  struct WarpState {
    std::uint32_t registers = 0;  ///< of each thread
    std::uint32_t site = 0;       ///< where it took them
    Dim3 thread = {};             ///< that did
  };

  AccessJudge& judge_;
  std::uint32_t of_launch_ = 0;  ///< of each thread
  std::vector<WarpState> warps_;
};

}  // namespace esc

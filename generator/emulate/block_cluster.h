// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "generator/emulate/access_judge.h"

namespace esc {

/// The blocks of a cluster and what they store to each other's shared memory. They take turns: each runs up to a
/// barrier of the cluster, and then the next one does. What a block stores to another one's memory is there after the
/// next barrier, as late as can be; from the barrier before the store on, the other one may not touch the place.
/// All must pass the barrier as often.
class BlockCluster {
 public:
  explicit BlockCluster(AccessJudge& judge) : judge_(judge) {}

  /// The blocks of a cluster of so many begin.
  void begin(std::uint32_t blocks);
  std::uint32_t blocks() const { return static_cast<std::uint32_t>(passed_.size()); }
  /// From here on the block of this rank runs.
  void enter(std::uint32_t rank) { rank_ = rank; }
  /// The running block ends. Reports what nobody has waited for.
  void end_block();
  /// Reports that the running block waits at a barrier of the cluster, `site`, which others do not come to.
  void report_uneven_barriers(std::uint32_t site);

  /// All threads of the block have met at the barrier of the cluster, after which a new interval has begun.
  void pass_barrier();

  /// The address in shared memory of another block, of what is at this one, which is in shared memory, in the running
  /// block's; only `store` understands it.
  std::uint32_t map(std::uint32_t address, std::uint32_t rank) const;
  /// The running thread stores bytes at such an address.
  void store(std::uint32_t mapped, std::vector<std::byte> bytes);

 private:
  struct Left {
    std::vector<std::byte> bytes;
    std::uint32_t barriers = 0;  ///< that the block had passed
    std::uint32_t site = 0;
    Dim3 block;
    Dim3 thread;
  };
  using LeftAt = std::map<std::uint64_t, Left>;  ///< by where it begins; these never overlap

  AccessJudge& judge_;
  std::uint32_t rank_ = 0;
  std::vector<std::uint32_t> passed_;  ///< barriers, by rank
  std::vector<LeftAt> left_;           ///< by rank
};

}  // namespace esc

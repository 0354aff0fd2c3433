// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "generator/emulate/access_judge.h"

namespace esc {

/// The blocks of a cluster and what they leave in each other's shared memory. They run one after the other, the last
/// one first, and never wait for each other: so a block may leave something only for one in front of it, which finds it
/// behind the barrier of the cluster that the store was in front of, as late as can be, and which it may not touch from
/// the barrier on that the store was behind. All must pass the barrier as often. What depends on another order is a
/// fault that stops the running thread.
class BlockCluster {
 public:
  explicit BlockCluster(AccessJudge& judge) : judge_(judge) {}

  /// A block of a cluster of so many begins, the last one of it first.
  void begin_block(std::uint32_t rank, std::uint32_t blocks);
  /// Reports what nobody has waited for, and another number of barriers than the other blocks have passed.
  void end_block();

  /// All threads of the block have met at the barrier of the cluster, behind which a new interval has begun.
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
  std::uint32_t blocks_ = 1;
  std::uint32_t passed_ = 0;  ///< barriers, by the running block
  std::optional<std::uint32_t> passed_by_others_;
  std::vector<LeftAt> left_;  ///< by rank
};

}  // namespace esc

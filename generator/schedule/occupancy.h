// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "generator/schedule/kernel_facts.h"
#include "generator/schedule/layer_class.h"

namespace esc {

/// What a multiprocessor has for the blocks that reside on it together, and in which portions it is given out.
struct SmLimits {
  int warps = 0;
  int blocks = 0;
  int registers = 0;
  int shared_bytes = 0;           ///< where the L1 cache is as small as it can be
  int reserved_shared_bytes = 0;  ///< of each block, taken by the system
  int partitions = 4;             ///< parts with registers of their own, among which warps are dealt
  int register_portion = 256;     ///< registers are given to a warp in multiples of it
  int shared_portion = 128;       ///< bytes are given to a block in multiples of it

  static constexpr int most_registers = 255;  ///< of a thread
  static constexpr int warp_threads = 32;
  static constexpr int most_threads = 1024;  ///< of a block
};

/// The limits of a compute capability (90 for 9.0) by the table "Technical Specifications per Compute Capability" of
/// the CUDA programming guide; those of the closest older one where the capability is not in it. Throws UserError
/// below 7.0.
SmLimits sm_limits(int capability);

/// Blocks of a kernel that can reside on a multiprocessor together: what cudaOccupancyMaxActiveBlocksPerMultiprocessor
/// gives when the kernel prefers as much shared memory as there is. 0 where one block is too large. The size of the
/// grid plays no part.
int resident_blocks(const KernelFacts& kernel, const SmLimits& limits);

/// The warps of these blocks.
int resident_warps(const KernelFacts& kernel, const SmLimits& limits);

/// Multiprocessors of so many that have a block each when clusters of so many blocks fill the GPU: those of a cluster
/// are neighbours in one group of multiprocessors, whose rest stays empty.
int clustered_multiprocessors(int multiprocessors, int cluster);

}  // namespace esc

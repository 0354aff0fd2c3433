// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "generator/ir/loop_nest.h"
#include "transformer/region_format.h"

namespace esc {

/// The sizes of the packed matrix by the names that nests and launches have for them.
Environment region_sizes(const transformer::RegionFormat& format);

/// How a kernel that reads regions finds them, from the one description of the format: what is in the holes of the
/// instructions that read row tiles.
std::map<std::string, std::string> region_holes(const LoopNest& nest, const transformer::RegionFormat& format);

/// The classes of row tiles as a kernel asks for them.
struct RegionText {
  /// Of the sets from `first_set` on, as far as no later class has them.
  struct Class {
    std::uint32_t first_set;
    std::uint32_t packets;  ///< of a row tile
    std::uint32_t origin;   ///< the row tile at tile slot p begins with packet origin + p * packets, modulo 2^32
  };
  /// Those of the format, and one without packets for the sets that the last block lacks, if any.
  static std::vector<Class> classes_of(const transformer::RegionFormat& format);
};

/// The constants of the packed matrix that these instructions use, as lines of C.
std::vector<std::string> region_constants(const LoopNest& nest, const transformer::RegionFormat& format);

/// The grid takes its blocks in steps of this many, about the golden section of them: row tiles are stored by length,
/// and blocks that one multiprocessor has at a time should not all have long ones. Without a divisor of the blocks, so
/// that each has its iteration, and small enough that no product exceeds 32 bits.
std::uint64_t block_stride(std::uint64_t blocks);

/// Whether a block of the nest has a copy of its packets in shared memory, and how many bytes that takes for a
/// packed matrix of these region_sizes.
bool stages_packets(const LoopNest& nest);
std::uint64_t staged_bytes(const LoopNest& nest, const Environment& sizes);

}  // namespace esc

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "generator/emulate/mapped_memory.h"
#include "generator/emulate/race_clock.h"

namespace esc {

/// Who makes an access, and of what kind; bits of `Region::denied`.
/// `before_wait` is any access of device code that has not waited for the kernel before.
enum AccessMode : std::uint8_t { device_read = 1, device_write = 2, host_read = 4, host_write = 8, before_wait = 16 };

/// A stretch of memory that code under check may touch.
struct Region {
  std::string name;  ///< as messages call it: "buffer 'c'", "shared memory 'tile'", ...
  std::uint64_t base = 0;
  std::uint64_t bytes = 0;
  std::uint8_t denied = 0;     ///< modes that are faults
  bool tracks_init = false;    ///< whether reads of unwritten bytes are faults
  bool tracks_races = false;   ///< whether device accesses are compared with each other
  bool lasts_a_block = false;  ///< contents and history are void in the next block
  MappedMemory shadow_memory;  ///< one WordShadow per 4-byte word, or nothing where nothing is tracked

  bool contains(std::uint64_t address, std::uint64_t size) const {
    return size <= bytes && address - base <= bytes - size;
  }
  WordShadow* shadow() const { return reinterpret_cast<WordShadow*>(shadow_memory.data()); }
  WordShadow& word(std::uint64_t address) const { return shadow()[(address >> 2) - (base >> 2)]; }
  std::uint64_t words() const { return bytes == 0 ? 0 : ((base + bytes - 1) >> 2) - (base >> 2) + 1; }

  /// Gives the region a shadow, all bytes unwritten and untouched.
  void add_shadow() { shadow_memory = MappedMemory(words() * sizeof(WordShadow)); }
  /// Marks bytes as written or unwritten. The range must lie inside.
  void set_initialised(std::uint64_t address, std::uint64_t size, bool initialised);
  std::uint64_t count_uninitialised() const;
  /// Forgets all accesses, not what is initialised.
  void forget_accesses();
};

/// The regions of a device, by address. Regions never overlap.
class MemoryMap {
 public:
  /// Throws UserError when the region overlaps another.
  Region& add(Region region);
  void remove(const Region& region);
  const std::vector<std::unique_ptr<Region>>& regions() const { return regions_; }

  /// The region that holds all of the bytes, or null.
  Region* find(std::uint64_t address, std::uint64_t size) const;
  /// The region with this name, or null.
  Region* find(const std::string& name) const;
  /// "12 bytes past the end of buffer 'b' (1024 bytes), offset 1036", for the region nearest to the bytes.
  std::string describe_nearest(std::uint64_t address, std::uint64_t size) const;

 private:
  std::vector<std::unique_ptr<Region>> regions_;  ///< sorted by base
};

}  // namespace esc

// SPDX-License-Identifier: Apache-2.0
#include "generator/confine/shared_memory.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <new>

#include "generator/confine/shared_addresses.h"
#include "generator/support/error.h"
#include "generator/support/machine_limits.h"

namespace esc {
namespace {

constexpr std::size_t gap_bytes = 65536;
constexpr std::size_t alignment = 256;

/// The next address for so many bytes: another one each time, until all have been had.
std::uintptr_t next_address(std::size_t bytes) {
  constexpr std::uintptr_t granularity = std::uintptr_t{1} << 30;
  static std::atomic<std::uintptr_t> next = 0;
  const std::uintptr_t needed = (bytes / granularity + 2) * granularity;
  const std::uintptr_t places = shared_addresses_end - shared_addresses_begin - needed;
  return shared_addresses_begin + next.fetch_add(needed) % places / granularity * granularity;
}

/// Memory at this address, which nothing else must have; null where that cannot be.
std::byte* map_at(std::uintptr_t address, std::size_t bytes, int descriptor) {
  void* const wanted = reinterpret_cast<void*>(address);
  void* const memory =
      mmap(wanted, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED_NOREPLACE | MAP_NORESERVE, descriptor, 0);
  if (memory != wanted && memory != MAP_FAILED) {
    munmap(memory, bytes);  // a kernel that does not know the flag
  }
  return memory == wanted ? static_cast<std::byte*>(memory) : nullptr;
}

/// A file without a name, as long as the memory.
int make_file(std::size_t bytes) {
  const int descriptor = memfd_create("esc", MFD_CLOEXEC);
  if (descriptor < 0 || ftruncate(descriptor, static_cast<off_t>(bytes)) != 0) {
    const int error = errno;
    if (descriptor >= 0) {
      close(descriptor);
    }
    if (error == ENOMEM) {
      throw std::bad_alloc();
    }
    throw UserError("this machine", fmt::format("does not let memory be shared: {}", std::strerror(error)),
                    remedy_for(error), ExitStatus::missing_tool);
  }
  return descriptor;
}

}  // namespace

std::span<std::byte> SharedPlace::part(std::size_t begin, std::size_t bytes) const {
  ESC_CHECK(begin <= bytes_ && bytes <= bytes_ - begin, "a part of shared memory is inside it");
  return {begin_ + begin, bytes};
}

SharedMemory::SharedMemory(std::size_t bytes) : descriptor_(make_file(std::max<std::size_t>(bytes, 1))) {
  constexpr int most_tries = 1000;
  std::byte* memory = nullptr;
  for (int tries = 0; memory == nullptr && tries < most_tries; ++tries) {
    memory = map_at(next_address(bytes), std::max<std::size_t>(bytes, 1), descriptor_);
    if (memory == nullptr && errno != EEXIST) {
      break;
    }
  }
  if (memory == nullptr) {
    close(descriptor_);
    throw std::bad_alloc();
  }
  // A copy of this process, such as the helper, gets its places free.
  madvise(memory, std::max<std::size_t>(bytes, 1), MADV_DONTFORK);
  place_ = {memory, bytes};
}

SharedMemory::~SharedMemory() {
  munmap(place_.begin(), std::max<std::size_t>(place_.size(), 1));
  close(descriptor_);
}

bool SharedMemory::map_there(const SharedPlace& place, int descriptor) {
  return map_at(reinterpret_cast<std::uintptr_t>(place.begin()), std::max<std::size_t>(place.size(), 1), descriptor) !=
         nullptr;
}

std::size_t PartsOfMemory::add(std::size_t bytes) {
  const std::size_t begin = end_;
  end_ = (begin + bytes + gap_bytes + alignment - 1) / alignment * alignment;
  return begin;
}

}  // namespace esc

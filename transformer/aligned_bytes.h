#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <span>

#include "transformer/packed_bytes.h"

namespace esc::transformer {

/// Bytes that are aligned to 256, as a packed matrix wants to be; not set at first. Owns them. Movable only.
class AlignedBytes {
 public:
  explicit AlignedBytes(std::size_t count)
      : bytes_(static_cast<std::byte*>(::operator new(count, std::align_val_t(section_alignment)))), count_(count) {}

  std::byte* data() { return bytes_.get(); }
  std::span<const std::byte> span() const { return {bytes_.get(), count_}; }

 private:
  struct Free {
    void operator()(std::byte* bytes) const { ::operator delete(bytes, std::align_val_t(section_alignment)); }
  };

  std::unique_ptr<std::byte, Free> bytes_;
  std::size_t count_;
};

}  // namespace esc::transformer

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <span>
#include <variant>

#include "transformer/bitmap_format.h"
#include "transformer/fragment_format.h"
#include "transformer/gather_format.h"
#include "transformer/list_format.h"
#include "transformer/region_format.h"
#include "transformer/sparse24_format.h"
#include "transformer/task_format.h"

namespace esc::transformer {

/// How a matrix is packed: into lists for family atomic, into regions for family panel, into tasks for family rows,
/// into fragments for the sparse tensor core, into gathered rows for family gather, into bitmaps for the dense tensor
/// core, into two of four elements of 16 bits for the sparse one.
using PackedFormat =
    std::variant<ListFormat, RegionFormat, TaskFormat, FragmentFormat, GatherFormat, BitmapFormat, Sparse24Format>;

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

/// A packed matrix: its description and the bytes, header included, that are the packed file and the device buffer.
template <typename Format>
struct Packed {
  Format format;
  AlignedBytes bytes;

  /// Bytes of the size that the format asks for; not yet set.
  explicit Packed(const Format& of) : format(of), bytes(static_cast<std::size_t>(of.bytes)) {}
};

}  // namespace esc::transformer

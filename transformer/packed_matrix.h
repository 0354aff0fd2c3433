#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "transformer/aligned_bytes.h"
#include "transformer/packed_format.h"

namespace esc::transformer {

/// A packed matrix: its description and the bytes, header included, that are the packed file and the device buffer.
/// Owns the bytes, aligned to 256. Movable only; `pack` makes it.
class PackedMatrix {
 public:
  /// Bytes of the size that the format asks for; not yet set.
  explicit PackedMatrix(const PackedFormat& format);

  const PackedFormat& format() const { return format_; }
  std::span<const std::byte> bytes() const { return bytes_.span(); }
  std::byte* data() { return bytes_.data(); }

  /// One section; Element must have the size of the type that the format gives it; std::logic_error otherwise.
  template <typename Element>
  std::span<const Element> section(SectionId id) const {
    const Section& place = typed_section(id, sizeof(Element));
    return {reinterpret_cast<const Element*>(bytes().data() + place.offset), static_cast<std::size_t>(place.count)};
  }

  std::span<const std::uint32_t> panels() const { return section<std::uint32_t>(SectionId::panels); }
  std::span<const std::uint8_t> patterns() const { return section<std::uint8_t>(SectionId::patterns); }
  std::span<const float> annz() const { return section<float>(SectionId::annz); }

  /// RPP[list], NPP[list], Cols[index], whichever width they are stored in; list may be the number of lists.
  std::uint64_t rpp(std::uint64_t list) const { return pointer(SectionId::rpp, list); }
  std::uint64_t npp(std::uint64_t list) const { return pointer(SectionId::npp, list); }
  std::uint32_t column(std::uint64_t index) const;

 private:
  const Section& typed_section(SectionId id, std::size_t element_bytes) const;
  std::uint64_t pointer(SectionId id, std::uint64_t index) const;

  PackedFormat format_;
  AlignedBytes bytes_;
};

}  // namespace esc::transformer

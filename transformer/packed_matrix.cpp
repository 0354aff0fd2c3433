#include "transformer/packed_matrix.h"

#include <stdexcept>

namespace esc::transformer {

PackedMatrix::PackedMatrix(const PackedFormat& format)
    : format_(format), bytes_(static_cast<std::size_t>(format.bytes)) {}

const Section& PackedMatrix::typed_section(SectionId id, std::size_t element_bytes) const {
  const Section& place = format_.section(id);
  if (size_of(place.type) != element_bytes) {
    throw std::logic_error("a section of a packed matrix was asked for in another type than it has");
  }
  return place;
}

std::uint64_t PackedMatrix::pointer(SectionId id, std::uint64_t index) const {
  const bool narrow = format_.section(id).type == ScalarType::u32;
  return narrow ? section<std::uint32_t>(id)[index] : section<std::uint64_t>(id)[index];
}

std::uint32_t PackedMatrix::column(std::uint64_t index) const {
  const bool narrow = format_.section(SectionId::cols).type == ScalarType::u16;
  return narrow ? section<std::uint16_t>(SectionId::cols)[index] : section<std::uint32_t>(SectionId::cols)[index];
}

}  // namespace esc::transformer

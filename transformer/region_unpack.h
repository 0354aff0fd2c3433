#pragma once

#include <cstddef>
#include <span>

#include "transformer/region_format.h"
#include "transformer/unpack.h"

namespace esc::transformer {

/// Whether these bytes begin as a matrix packed into regions does, not as one packed into lists.
bool holds_regions(std::span<const std::byte> packed);

/// The format of a matrix packed into regions, from bytes that nobody vouches for. Everything that the header says is
/// checked, the regions are not read. Throws FormatError.
RegionFormat read_region_format(std::span<const std::byte> packed);

/// What stands in the regions, read from bytes of any alignment. Nothing is checked but that places lie inside.
class RegionReader {
 public:
  /// `packed` must outlive the reader and have the size that the format says.
  RegionReader(std::span<const std::byte> packed, const RegionFormat& format) : packed_(packed), format_(format) {}

  /// The panel at a place of whole blocks; the number of panels, or more, where there is none.
  std::int64_t panel(std::uint64_t place) const;
  /// Column and value of a step of a panel: step i is column i % 4 of its quad i / 4; `row` is counted in the panel.
  std::int64_t column(std::uint64_t place, std::uint64_t step) const;
  double value(std::uint64_t place, std::uint64_t step, std::uint32_t row) const;
  /// Steps of the panel at a place.
  std::uint64_t steps(std::uint64_t place) const;

 private:
  std::uint64_t first_quad(std::uint64_t place) const { return format_.quad_of(format_.class_of_place(place), place); }
  std::int64_t load_index(ScalarType type, std::uint64_t at) const;

  std::span<const std::byte> packed_;
  RegionFormat format_;
};

/// The matrix that was packed, exactly. Every byte is checked: what comes back packs to the same bytes again. Throws
/// FormatError. Time and room as for packing.
CsrMatrix unpack_regions(std::span<const std::byte> packed);

}  // namespace esc::transformer

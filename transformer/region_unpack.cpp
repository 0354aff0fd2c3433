#include "transformer/region_unpack.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <utility>

#include "transformer/region_pack.h"
#include "transformer/unverified_bytes.h"

namespace esc::transformer {
namespace {

RegionHeader checked_header(std::span<const std::byte> packed) {
  const auto header = load_header<RegionHeader>(packed, region_magic_text, region_format_version);
  constexpr std::uint64_t largest_size = std::numeric_limits<std::int32_t>::max();
  check_range("rows", header.rows, 1, largest_size);
  check_range("columns", header.columns, 1, largest_size);
  check_range("height", header.height, 1, max_height);
  check_range("warp_panels", header.warp_panels, 1, 32);
  check_range("block_panels", header.block_panels, header.warp_panels, 1U << 16);
  check_range("every_column", header.every_column, 0, 1);
  check_range("element_type", header.element_type, static_cast<std::uint32_t>(ScalarType::f32),
              static_cast<std::uint32_t>(ScalarType::f64));
  check_range("class_count", header.class_count, 1, max_region_classes);
  check_range("nonzeros", header.nonzeros, 0, packed.size());
  check_range("panel_columns", header.panel_columns, 0, header.nonzeros);
  if (!std::has_single_bit(header.warp_panels) || header.block_panels % header.warp_panels != 0) {
    refuse("the header's panels do not make regions");
  }
  return header;
}

/// The classes, which say how many bytes there are: none may have more than the file.
void check_classes(const RegionHeader& header, const RegionShape& shape, std::uint64_t bytes) {
  check_range("panels", static_cast<std::uint64_t>(shape.panels()), 1,
              header.class_count > 1 ? bytes : std::numeric_limits<std::int32_t>::max());
  std::uint64_t panels = 0;
  for (std::uint32_t number = 0; number < header.class_count; ++number) {
    const RegionClass& one = header.classes[number];
    check_range("quads of a class", one.quads, 0,
                number == 0 ? shape.all_quads() : std::uint64_t{header.classes[number - 1].quads} - 1);
    const std::uint64_t panel_bytes = std::uint64_t{one.quads} * quad_columns * size_of(shape.element);
    check_range("panels of a class", one.panels, 1, panel_bytes == 0 ? shape.panels() : bytes / panel_bytes);
    panels += one.panels;
  }
  check_range("panels of all classes", panels, shape.panels(), shape.panels());
}

/// Where each panel stands.
std::vector<std::uint64_t> places_of(const RegionReader& regions, const RegionFormat& format) {
  const std::int64_t panels = format.shape.panels();
  std::vector<std::uint64_t> places(static_cast<std::size_t>(panels), format.block_places());
  for (std::uint64_t place = 0; place < format.first_place(format.counts.class_count); ++place) {
    const std::int64_t panel = regions.panel(place);
    if (panel < panels) {
      places[static_cast<std::size_t>(panel)] = place;
    }
  }
  if (const auto missing = std::ranges::find(places, format.block_places()); missing != places.end()) {
    refuse("panel {} has no place", missing - places.begin());
  }
  return places;
}

/// Appends the rows of one panel to the matrix. Columns ascend; where they are written they end at the first without a
/// value.
void append_panel(const RegionReader& regions, const RegionFormat& format, std::int64_t panel, std::uint64_t place,
                  CsrMatrix& matrix) {
  const RegionShape& shape = format.shape;
  std::vector<std::vector<std::pair<std::int32_t, double>>> rows(shape.rows_in(panel));
  std::int64_t previous = -1;
  for (std::uint64_t step = 0; step < regions.steps(place); ++step) {
    const std::int64_t column = regions.column(place, step);
    bool present = false;
    for (std::uint32_t row = 0; row < rows.size(); ++row) {
      const double value = regions.value(place, step, row);
      if (value != 0) {
        present = true;
        rows[row].emplace_back(static_cast<std::int32_t>(column), value);
      }
    }
    if (!present && !format.counts.every_column) {
      break;
    }
    if (present && (column <= previous || column >= shape.columns)) {
      refuse("panel {} has column {} after {} in a matrix of {} columns", panel, column, previous, shape.columns);
    }
    previous = column;
  }
  for (const auto& row : rows) {
    for (const auto& [column, value] : row) {
      matrix.column_of.push_back(column);
      matrix.values.push_back(value);
    }
    matrix.offsets.push_back(static_cast<std::int64_t>(matrix.column_of.size()));
  }
}

}  // namespace

bool holds_regions(std::span<const std::byte> packed) { return begins_with(packed, region_magic_text); }

RegionFormat read_region_format(std::span<const std::byte> packed) {
  const RegionHeader header = checked_header(packed);
  const RegionShape shape{static_cast<std::int64_t>(header.rows),
                          static_cast<std::int64_t>(header.columns),
                          header.height,
                          header.warp_panels,
                          header.block_panels,
                          static_cast<ScalarType>(header.element_type)};
  check_classes(header, shape, packed.size());
  RegionCounts counts{header.nonzeros, header.panel_columns, header.every_column == 1, header.class_count, {}};
  std::ranges::copy(header.classes, counts.classes);
  const RegionFormat format = describe(shape, counts);
  const RegionHeader expected = make_header(format, header.payload_checksum);
  if (const HeaderField* field = first_difference(header, expected)) {
    refuse("the header field {} at byte {} does not agree with the other fields", field->name, field->offset);
  }
  return format;
}

std::int64_t RegionReader::load_index(ScalarType type, std::uint64_t at) const {
  return type == ScalarType::u16 ? load<std::uint16_t>(packed_, at) : load<std::uint32_t>(packed_, at);
}

std::int64_t RegionReader::panel(std::uint64_t place) const {
  return format_.has_numbers() ? load_index(format_.number, format_.number_of(place))
                               : static_cast<std::int64_t>(place);
}

std::uint64_t RegionReader::steps(std::uint64_t place) const {
  return std::uint64_t{quad_columns} * format_.counts.classes[format_.class_of_place(place)].quads;
}

std::int64_t RegionReader::column(std::uint64_t place, std::uint64_t step) const {
  if (format_.counts.every_column) {
    return static_cast<std::int64_t>(step);
  }
  return load_index(format_.column, format_.columns_of(first_quad(place)) + step * size_of(format_.column));
}

double RegionReader::value(std::uint64_t place, std::uint64_t step, std::uint32_t row) const {
  const std::uint64_t element_bytes = size_of(format_.shape.element);
  return load_element(format_.shape.element, packed_,
                      format_.values_of(first_quad(place)) + (step * format_.shape.height + row) * element_bytes);
}

CsrMatrix unpack_regions(std::span<const std::byte> packed) {
  const RegionFormat format = read_region_format(packed);
  check_payload<RegionHeader>(packed);
  const RegionReader regions(packed, format);
  const std::vector<std::uint64_t> places = places_of(regions, format);
  CsrMatrix matrix{format.shape.rows, format.shape.columns, {0}, {}, {}, format.shape.element};
  for (std::int64_t panel = 0; panel < format.shape.panels(); ++panel) {
    append_panel(regions, format, panel, places[static_cast<std::size_t>(panel)], matrix);
  }
  const RegionShape& shape = format.shape;
  const PackedRegions again = pack_regions(matrix.view(), {shape.height, shape.warp_panels, shape.block_panels});
  if (!std::ranges::equal(again.bytes.span(), packed)) {
    const auto at = std::ranges::mismatch(again.bytes.span(), packed).in2 - packed.begin();
    refuse("byte {} is not what packing the matrix again gives", at);
  }
  return matrix;
}

}  // namespace esc::transformer

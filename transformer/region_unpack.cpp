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
  check_range("warps", header.warps, 1, 1024);
  check_range("groups", header.groups, 1, 32);
  check_range("warp_panels", header.warp_panels, 1, 32);
  check_range("lane groups of a warp", std::uint64_t{header.groups} * header.warp_panels, 1, 32);
  check_range("block_panels", header.block_panels, header.warp_panels, 1U << 16);
  check_range("multiple", header.multiple, quad_steps, 1U << 16);
  check_range("widest_panel", header.widest_panel, 0, header.columns);
  check_range("nonzeros", header.nonzeros, 0, packed.size());
  check_range("panel_columns", header.panel_columns, 0, header.nonzeros);
  if (!std::has_single_bit(header.groups * header.warp_panels) || header.block_panels % header.warp_panels != 0 ||
      header.multiple % quad_steps != 0) {
    refuse("the header's groups, panels and multiple do not make regions");
  }
  return header;
}

/// Appends the rows of one panel to the matrix. Columns ascend and end at the first that has no value.
void append_panel(const RegionReader& regions, const RegionFormat& format, std::int64_t panel, CsrMatrix& matrix) {
  const RegionShape& shape = format.shape;
  const std::int64_t set = panel / shape.warp_panels;
  const auto place = static_cast<std::uint32_t>(panel % shape.warp_panels);
  std::vector<std::vector<std::pair<std::int32_t, float>>> rows(shape.rows_in(panel));
  std::int64_t previous = -1;
  for (std::uint64_t index = 0; index < format.counts.widest_panel; ++index) {
    const auto part = static_cast<std::uint32_t>(index % shape.parts());
    const std::uint32_t warp = part / shape.groups;
    const std::uint32_t group = place * shape.groups + part % shape.groups;
    const std::uint64_t step = index / shape.parts();
    const std::int64_t column = regions.column(set, warp, group, step);
    bool present = false;
    for (std::uint32_t row = 0; row < rows.size(); ++row) {
      const float value = regions.value(set, warp, group, step, row);
      if (value != 0.0F) {
        present = true;
        rows[row].emplace_back(static_cast<std::int32_t>(column), value);
      }
    }
    if (!present) {
      break;
    }
    if (column <= previous || column >= shape.columns) {
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

bool holds_regions(std::span<const std::byte> packed) {
  return begins_with(packed, region_magic_text);
}

RegionFormat read_region_format(std::span<const std::byte> packed) {
  const RegionHeader header = checked_header(packed);
  const RegionShape shape{static_cast<std::int64_t>(header.rows),
                          static_cast<std::int64_t>(header.columns),
                          header.height,
                          header.warps,
                          header.groups,
                          header.warp_panels,
                          header.block_panels,
                          header.multiple,
                          ScalarType::f32};
  check_range("regions", static_cast<std::uint64_t>(shape.regions()), 1, packed.size() / region_alignment);
  const RegionFormat format = describe(shape, {header.nonzeros, header.panel_columns, header.widest_panel});
  const RegionHeader expected = make_header(format, header.payload_checksum);
  if (const HeaderField* field = first_difference(header, expected)) {
    refuse("the header field {} at byte {} does not agree with the other fields", field->name, field->offset);
  }
  return format;
}

std::uint64_t RegionReader::quad_at(std::int64_t set, std::uint32_t warp, std::uint64_t step) const {
  return format_.region_at(set, warp) + region_head_bytes + step / quad_steps * format_.quad_bytes;
}

std::uint32_t RegionReader::steps(std::int64_t set, std::uint32_t warp) const {
  return load<std::uint32_t>(packed_, format_.region_at(set, warp));
}

std::int64_t RegionReader::column(std::int64_t set, std::uint32_t warp, std::uint32_t group, std::uint64_t step) const {
  const std::uint64_t place = group * quad_steps + step % quad_steps;
  const std::uint64_t at = quad_at(set, warp, step) + place * size_of(format_.column);
  return format_.column == ScalarType::u16 ? load<std::uint16_t>(packed_, at) : load<std::uint32_t>(packed_, at);
}

float RegionReader::value(std::int64_t set, std::uint32_t warp, std::uint32_t group, std::uint64_t step,
                          std::uint32_t row) const {
  const std::uint64_t number = step % quad_steps * format_.shape.height + row;
  const std::uint64_t block = number / quad_steps * format_.shape.warp_groups() + group;
  return load<float>(packed_, quad_at(set, warp, step) + format_.column_bytes +
                                  (block * quad_steps + number % quad_steps) * sizeof(float));
}

CsrMatrix unpack_regions(std::span<const std::byte> packed) {
  const RegionFormat format = read_region_format(packed);
  check_payload<RegionHeader>(packed);
  const RegionReader regions(packed, format);
  CsrMatrix matrix{format.shape.rows, format.shape.columns, {0}, {}, {}};
  for (std::int64_t panel = 0; panel < format.shape.panels(); ++panel) {
    append_panel(regions, format, panel, matrix);
  }
  const RegionShape& shape = format.shape;
  const PackedRegions again = pack_regions(matrix.view(), {shape.height, shape.warps, shape.groups, shape.warp_panels,
                                                           shape.block_panels, shape.multiple});
  if (!std::ranges::equal(again.bytes.span(), packed)) {
    const auto at = std::ranges::mismatch(again.bytes.span(), packed).in2 - packed.begin();
    refuse("byte {} is not what packing the matrix again gives", at);
  }
  return matrix;
}

}  // namespace esc::transformer

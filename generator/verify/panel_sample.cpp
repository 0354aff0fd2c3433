#include "generator/verify/panel_sample.h"

#include <algorithm>
#include <cstring>

#include "transformer/region_unpack.h"
#include "transformer/unpack.h"

namespace esc {

PanelSample::PanelSample(std::span<const std::byte> packed, std::int64_t products, std::int64_t most_products)
    : stride_(std::max<std::int64_t>(1, (products + most_products - 1) / most_products)) {
  if (transformer::holds_regions(packed)) {
    const transformer::RegionFormat format = transformer::read_region_format(packed);
    rows_ = format.shape.rows;
    unit_rows_ = std::int64_t{format.shape.height} * format.shape.block_panels;
    return;
  }
  const transformer::PackedFormat format = transformer::read_format(packed);
  rows_ = format.shape.rows;
  unit_rows_ = format.shape.height;
  unit_of_block_.resize(format.counts.lists);
  const std::size_t bytes = unit_of_block_.size() * sizeof(std::uint32_t);
  if (bytes != 0) {
    std::memcpy(unit_of_block_.data(), packed.data() + format.section(transformer::SectionId::panels).offset, bytes);
  }
}

std::vector<bool> PanelSample::rows() const {
  std::vector<bool> covered(static_cast<std::size_t>(rows_));
  for (std::size_t row = 0; row < covered.size(); ++row) {
    covered[row] = static_cast<std::int64_t>(row) / unit_rows_ % stride_ == 0;
  }
  return covered;
}

std::vector<std::uint64_t> PanelSample::blocks(std::uint64_t grid_x, std::uint64_t grid_y) const {
  std::vector<std::uint64_t> chosen;
  for (std::uint64_t y = 0; y < grid_y; ++y) {
    for (std::uint64_t x = 0; x < grid_x; ++x) {
      const std::uint64_t unit = unit_of_block_.empty() ? x : unit_of_block_[x];
      if (unit % static_cast<std::uint64_t>(stride_) == 0) {
        chosen.push_back(y * grid_x + x);
      }
    }
  }
  return chosen;
}

}  // namespace esc

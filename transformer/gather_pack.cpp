// SPDX-License-Identifier: Apache-2.0
#include <tbb/parallel_for.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <vector>

#include "transformer/checked_shape.h"
#include "transformer/gather_packing.h"
#include "transformer/pack.h"
#include "transformer/view_sources.h"

namespace esc::transformer {
namespace {

/// Packs all panels, or with no units finds out what they have.
template <typename Source>
std::vector<GatheredPanel> pack_panels(const Source& source, const GatherFormat& format, const unsigned char* rows,
                                       unsigned char* units) {
  std::vector<GatheredPanel> panels(static_cast<std::size_t>(format.blocks() * format.shape.block_panels));
  tbb::parallel_for(std::size_t{0}, panels.size(), [&](std::size_t number) {
    panels[number] = pack_panel(source, format, number / format.shape.block_panels,
                                static_cast<std::uint32_t>(number % format.shape.block_panels), rows, units);
  });
  return panels;
}

/// The format, and the bytes in front of its units.
struct Seated {
  GatherFormat format;
  std::vector<unsigned char> rows;
};

Seated seat(const CsrView& matrix, const GatherCut& cut) {
  GatherShape shape = checked_shape(matrix, cut);
  Seated seated{describe(shape, {}), {}};
  seated.rows.resize(static_cast<std::size_t>(seated.format.units_at));
  seat_rows(rows_of(matrix), seated.format, seated.rows.data());
  GatherCounts counts;
  for (const GatheredPanel& panel : pack_panels(rows_of(matrix), seated.format, seated.rows.data(), nullptr)) {
    counts.nonzeros += panel.nonzeros;
    shape.steps = std::max(shape.steps, panel.most_steps);
  }
  seated.format = describe(shape, counts);
  return seated;
}

}  // namespace

GatherFormat plan(const CsrView& matrix, const GatherCut& cut) {
  return seat(matrix, {.height = cut.height, .block_panels = cut.block_panels}).format;
}

Packed<GatherFormat> pack(const CsrView& matrix, const GatherCut& cut) {
  const Seated seated = seat(matrix, {.height = cut.height, .block_panels = cut.block_panels});
  Packed<GatherFormat> packed(seated.format);
  auto* const bytes = reinterpret_cast<unsigned char*>(packed.bytes.data());
  std::memcpy(bytes, seated.rows.data(), seated.rows.size());
  pack_panels(StoredRows<float, CsrRows<std::int64_t, double>>{rows_of(matrix)}, seated.format, bytes, bytes);
  write_header(seated.format, bytes);
  return packed;
}

}  // namespace esc::transformer

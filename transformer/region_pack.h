#pragma once

#include <cstdint>
#include <vector>

#include "transformer/aligned_bytes.h"
#include "transformer/matrix_view.h"
#include "transformer/pattern_check.h"
#include "transformer/region_format.h"

namespace esc::transformer {

/// How a matrix is cut into regions; the fields are those of RegionShape.
struct RegionOptions {
  std::uint32_t height = 1;        ///< 1 to 8
  std::uint32_t warp_panels = 1;   ///< a power of two, 1 to 32
  std::uint32_t block_panels = 1;  ///< a multiple of warp_panels
};

/// A matrix packed into regions: its description and the bytes, header included, that are the packed file and the device
/// buffer.
struct PackedRegions {
  RegionFormat format;
  AlignedBytes bytes;
};

/// The format that `pack_regions` would give the matrix, without packing it.
RegionFormat plan_regions(const CsrView& matrix, const RegionOptions& options);

/// Packs a matrix into the format that was planned for it.
PackedRegions pack_planned_regions(const CsrView& matrix, const RegionFormat& planned);

/// Plans and packs a matrix. Runs on all threads that oneTBB gives; the bytes are the same for any number of them and for either form
/// of the matrix. Throws std::invalid_argument for a view that breaks its rules and for options out of range.
PackedRegions pack_regions(const DenseView& matrix, const RegionOptions& options);
PackedRegions pack_regions(const CsrView& matrix, const RegionOptions& options);

/// The digests by which a generated transformer knows the pattern of this matrix again.
std::vector<PatternDigest> pattern_digests(const CsrView& matrix, const RegionShape& shape);

}  // namespace esc::transformer

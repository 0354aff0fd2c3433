// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "transformer/fragment_searches.h"
#include "transformer/matrix_view.h"
#include "transformer/packed.h"
#include "transformer/pattern_check.h"

namespace esc::transformer {

/// The format that `pack` would give the matrix, without packing it.
ListFormat plan(const CsrView& matrix, const ListCut& cut);
RegionFormat plan(const CsrView& matrix, const RegionCut& cut);
TaskFormat plan(const CsrView& matrix, const TaskCut& cut);
/// Finding out how much does not fit takes as long as packing.
FragmentFormat plan(const CsrView& matrix, const FragmentCut& cut);
/// The steps of a packed tile follow from the matrix, whatever the cut says.
GatherFormat plan(const CsrView& matrix, const GatherCut& cut);
/// The most words of a packed tile follow from the matrix, whatever the cut says.
BitmapFormat plan(const CsrView& matrix, const BitmapCut& cut);
/// Throws as packing does where the matrix does not have the 2:4 pattern.
Sparse24Format plan(const CsrView& matrix, const Sparse24Cut& cut);

/// Packs a matrix: O(non-zeros) and some work per row tile. Runs on all threads that oneTBB gives; the bytes are the
/// same for any number of them. Throws std::invalid_argument for a view that breaks its rules and for a cut that its
/// format does not allow.
Packed<ListFormat> pack(const CsrView& matrix, const ListCut& cut);
Packed<RegionFormat> pack(const CsrView& matrix, const RegionCut& cut);
Packed<TaskFormat> pack(const CsrView& matrix, const TaskCut& cut);
/// Float32 alone; the steps as above.
Packed<GatherFormat> pack(const CsrView& matrix, const GatherCut& cut);
/// Elements of 16 bits only, and some work per packed tile; the most words as above.
Packed<BitmapFormat> pack(const CsrView& matrix, const BitmapCut& cut);
/// Elements of 16 bits only, and some work per packed tile. Throws std::invalid_argument for a matrix that does not
/// have the 2:4 pattern, too.
Packed<Sparse24Format> pack(const CsrView& matrix, const Sparse24Cut& cut);
/// Longer: a search for each packed tile. Float32 alone.
Packed<FragmentFormat> pack(const CsrView& matrix, const FragmentCut& cut);
/// The same without the searches that the matrix has seen already.
Packed<FragmentFormat> pack(const CsrView& matrix, const FragmentCut& cut, FragmentSearches& searches);

/// Packs a matrix into the format that was planned for it.
Packed<RegionFormat> pack_planned(const CsrView& matrix, const RegionFormat& planned);

/// The first group of the 2:4 pattern with more than two non-zeros; none where the matrix has the pattern. For elements
/// of any type. Throws std::invalid_argument for a view that breaks its rules.
std::optional<Sparse24Group> first_group_of_more_than_two(const CsrView& matrix);

/// The digests by which a generated transformer knows the pattern of this matrix again, for row tiles of `height` rows.
std::vector<PatternDigest> pattern_digests(const CsrView& matrix, std::uint32_t height);

}  // namespace esc::transformer

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>

#include "transformer/fragment_searches.h"
#include "transformer/matrix_view.h"

namespace esc::transformer {

/// The panels of a thread block.
struct FragmentBlock {
  std::uint32_t panels = 1;
  std::uint32_t height = strip_rows;  ///< rows of a panel

  auto operator<=>(const FragmentBlock&) const = default;
};

/// The cut for such thread blocks with which the matrix takes about the fewest bytes, where an extra
/// counts `weight` bytes besides its own: the row sets of a unit add theirs one after the other, so that those of the
/// fullest one count. That is, the steps and extras that a deterministic sample of its units asks for. What does not
/// fit in other units takes further rounds, whose number is estimated. Searches that the matrix has seen already are
/// not made again. Runs on all threads that oneTBB gives; the choice is the same for any number of them. Throws
/// std::invalid_argument for a view that breaks its rules and for a block or elements that the format does not allow.
FragmentCut choose_fragments(const CsrView& matrix, const FragmentBlock& block, double weight,
                             FragmentSearches& searches);
/// The same with searches of its own.
FragmentCut choose_fragments(const CsrView& matrix, const FragmentBlock& block, double weight);

}  // namespace esc::transformer

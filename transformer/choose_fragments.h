// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>

#include "transformer/fragment_searches.h"
#include "transformer/matrix_view.h"

namespace esc::transformer {

/// The row tiles of a thread block.
struct FragmentBlock {
  std::uint32_t row_tiles = 1;
  std::uint32_t height = m16_tile_rows;  ///< rows of a row tile
  bool dense_steps = false;              ///< whether they have dense steps alone
  bool listed_values = false;            ///< of which zeros are left out
  bool placed_values = false;            ///< each of which has its place beside it
  bool splits_values = false;            ///< and is put there as two numbers of 16 bits
  std::uint32_t joined = 1;              ///< of placed values: row tiles that have a packed tile together
  std::uint32_t shares =
      1;  ///< of placed values: warps that put the values of a packed tile in their places, a power of two

  auto operator<=>(const FragmentBlock&) const = default;
};

/// The bytes that would take the time of what a packed tile takes besides its own bytes.
struct FragmentWeights {
  double residual = 0;               ///< one of those that are added one after the other: of the row set that has most
  std::uint32_t steps_at_once = 1;   ///< that the warps of a row tile take at once: those that are left take longer
  std::uint32_t rounds_at_once = 1;  ///< that a block takes in an iteration: those that are left take a whole one
  double round = 0;                  ///< of listed values: a round of a block

  auto operator<=>(const FragmentWeights&) const = default;
};

/// The cut for such thread blocks whose packed tiles have the fewest bytes that any have.
FragmentCut least_cut(const FragmentBlock& block);

/// The cut for such thread blocks with which the matrix takes about the least time: the steps and the residuals that a
/// deterministic sample of its packed tiles asks for. What does not fit in other packed tiles takes further rounds,
/// whose number is estimated. Listed values take no search: their places are those with which the block that has the
/// most iterations reads the fewest bytes. Searches that the matrix has seen already are not made again. Runs on all
/// threads that oneTBB gives; the choice is the same for any number of them. Throws std::invalid_argument for a view
/// that breaks its rules and for a block or elements that the format does not allow.
FragmentCut choose_fragments(const CsrView& matrix, const FragmentBlock& block, const FragmentWeights& weights,
                             FragmentSearches& searches);
/// The same with searches of its own.
FragmentCut choose_fragments(const CsrView& matrix, const FragmentBlock& block, const FragmentWeights& weights);

}  // namespace esc::transformer

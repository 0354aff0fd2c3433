#pragma once

#include <cstdint>

#include "transformer/fragment_format.h"
#include "transformer/matrix_view.h"

namespace esc::transformer {

/// What an extra of each row pair of a unit counts in bytes: it has 32, and is added in single steps, where all that is
/// in slots is multiplied at once.
inline constexpr double extra_weight = 64;

/// The cut for thread blocks of so many panels with which the matrix takes about the fewest bytes, where extras count
/// more than they have: the steps and extras that a deterministic sample of its units asks for. What does not fit in
/// other units takes further rounds, whose number is estimated. Runs on all threads that oneTBB gives; the choice is
/// the same for any number of them. Throws std::invalid_argument for a view that breaks its rules and for a block or
/// elements that the format does not allow.
FragmentCut choose_fragments(const CsrView& matrix, std::uint32_t block_panels, double weight = extra_weight);

}  // namespace esc::transformer

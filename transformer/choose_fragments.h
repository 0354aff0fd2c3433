#pragma once

#include <cstdint>

#include "transformer/fragment_format.h"
#include "transformer/matrix_view.h"

namespace esc::transformer {

/// The cut for thread blocks of so many panels with which the matrix takes about the fewest bytes, where an extra of each
/// row pair of a unit counts `weight` bytes, more than the 32 that it has: it is added in single steps, and all that is
/// in slots is multiplied at once. That is, the steps and extras that a deterministic sample of its units asks for. What does not fit in
/// other units takes further rounds, whose number is estimated. Runs on all threads that oneTBB gives; the choice is
/// the same for any number of them. Throws std::invalid_argument for a view that breaks its rules and for a block or
/// elements that the format does not allow.
FragmentCut choose_fragments(const CsrView& matrix, std::uint32_t block_panels, double weight);

}  // namespace esc::transformer

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "generator/commands/layer_task.h"

namespace esc {

// Choices by the bytes of the packed matrix.

/// A schedule of a ranking, and how large it makes the packed matrix, by what a limit goes by.
struct RankedSize {
  std::size_t rank = 0;
  double ratio = 0;
  bool is_behind_larger = false;  ///< whether one before it is legal, and larger
};

/// The first schedule of the ranking that packs the matrix within the limit; where none does, the one that packs it
/// smallest. Those that the matrix does not allow are passed over; absent where it allows none.
std::optional<RankedSize> find_within(const LayerTask& task, const std::vector<ScheduleChoice>& ranking,
                                      const PackedLimit& limit);

/// A schedule that was asked for by name is not exchanged for another one.
void check_packed(const LayerTask& task, const ScheduleChoice& choice, const PackedLimit& limit);

/// The best in the ranking that packs the matrix small enough, after all of them what auto falls back to.
ScheduleChoice choose_within(const LayerTask& task, std::vector<ScheduleChoice> ranking, const PackedLimit& limit);

/// Brings the best schedule that packs the matrix within twice CSR to the front, where those before it pack it
/// larger. A matrix for which none does (nearly empty ones, of which the header is most) keeps the ranking.
void prefer_compact(const LayerTask& task, std::vector<ScheduleChoice>& ranking);

/// Whether the schedule packs the matrix within a limit.
bool is_within(const LayerTask& task, const ScheduleChoice& choice, const PackedLimit& limit);

/// Whether auto may take the schedule by the bytes that it packs the matrix into: within the user's limit or, without
/// one, as `prefer_compact` has it.
bool is_small_enough(const LayerTask& task, const ScheduleChoice& choice, const GenerateMode& mode);

}  // namespace esc

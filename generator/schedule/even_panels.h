// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "generator/schedule/layer_class.h"
#include "generator/schedule/schedule_choice.h"
#include "generator/schedule/streamed_size.h"
#include "generator/schedule/target.h"

namespace esc {

/// Panels of a block, so many that the busiest multiprocessor has as few as it can: of 2 to 7, and of several such
/// numbers the largest, as the panels of a block share their rows of B.
int even_panels(const StreamedSize& size, int columns, const KernelTarget& target);

/// What a class of layers gives a layer in layout kn of 16 bits, from 4096 x 4096 on, with up to 32 columns of B: in
/// front of each choice that streams it what was the fastest with even_panels. Rows of other layers divide among the
/// multiprocessors otherwise. Where the class is of these rows and columns, that is for choices that leave them clearly
/// less even than in the middle of the class (docs/journal/2026-11-28-database.md).
std::vector<ScheduleChoice> with_even_panels(std::vector<ScheduleChoice> choices, const LayerShape& shape,
                                             const KernelTarget& target, const LayerClass& measured);

}  // namespace esc

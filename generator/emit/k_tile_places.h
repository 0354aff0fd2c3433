// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "generator/ir/loop_nest.h"

namespace esc {

/// The device functions that say where a K tile of B that is copied to shared memory has a piece of a row, `piece_at`,
/// and an element, `element_at`, as far as the lowered nest asks for them.
std::string k_tile_places_text(const LoopNest& lowered);

}  // namespace esc

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "generator/ir/loop_nest.h"

namespace esc {

/// Whether tensor copies can move B: a matrix of rows or of columns, each of them one after the other.
bool may_have_boxes(const LoopNest& nest);

/// What is done where tensor copies move B, and what where they do not.
Block by_boxes(const LoopNest& nest, Block boxed, Block otherwise);

/// Copies the tile of a K step where its K tile is there.
Node copy_of_tile(const LoopNest& nest, const Expression& step);

}  // namespace esc

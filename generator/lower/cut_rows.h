// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "generator/ir/loop_nest.h"
#include "generator/schedule/directive.h"

namespace esc {

/// split_rows(k, L): the non-zeros of each row are cut into pieces of at most L, so that no row is more work than that,
/// however long it is.
///
///   for (i...) for (j) for (k : columns(i, any of 0b1)) for (u < 1) C[i + u][j] += A[i + u][k] * B[k][j];
///     -> for (i...) for (piece = 0; piece < pieces; piece++) {
///          count = size(columns(i, any of 0b1)); end = min(count, L * piece + L);
///          for (j) for (c = L * piece; c < end; c++) {
///            k = columns(i, any of 0b1)[c]; C[i][j] += A[i][k] * B[k][j]; } }
///
/// `pieces` is enough for a full row; most pieces are empty. Is after the merge, which makes the non-zeros of a row
/// a list, and before the data transformation, which keeps no empty pieces but those of empty rows.
/// Refuses row tiles of more than one row, loops other than the merged reduction loop, and an L outside 1 to 512.
LoopNest cut_rows(const LoopNest& nest, const CutRows& directive);

}  // namespace esc

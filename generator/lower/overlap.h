// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "generator/ir/loop_nest.h"
#include "generator/schedule/directive.h"

namespace esc {

/// pdl(): programmatic dependent launch. The kernel begins before the one before it in the stream has ended,
/// and lets the next one do so.
///
///   .. packets, .. = find_row_tile(Packets, ..); load_packet(next..); for (..) { .. B .. } C[row][at] = ..;
///     -> .. packets, .. = ..; load_packet(next..); wait_for_predecessor(); allow_successor(); for (..) { .. B .. } ..
///
/// Until the wait it reads the packed matrix only: B may not be there yet, and C may still be read. It lets the next
/// one begin when it has what it waited for: one that is let in earlier lets in others itself, and they take registers,
/// shared memory and bandwidth from the one that all wait for. Is last, when what is read first is settled.
/// Refuses a nest that is not mapped, one whose launch sets C to zero, and overlapping twice.
LoopNest overlap(const LoopNest& nest, const Overlap& directive);

}  // namespace esc

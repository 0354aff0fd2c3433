// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "generator/ir/loop_nest.h"
#include "generator/ir/memory.h"

namespace esc {

/// Runs the nest in order, in double, and returns the memory it leaves. The untransformed nest run this way is the
/// oracle of every later form. What a loop's body defines has no value outside it. Arrays that every block or every
/// thread has of its own are no part of the memory: each finds them uninitialised. The threads of a block run one after
/// the other from one barrier, or instruction of a warp, to the next.
/// Throws Defect for an access outside an array, a variable without a value, an element of a block's or a thread's own
/// array that is read before it is written, a loop that breaks its promise, a barrier that not all threads reach, or a
/// race: two iterations of loops that are mapped to the GPU writing one element when either of them is not atomic. On a
/// block's own arrays a read takes part in races too, and a barrier separates what is before it from what is
/// after.
Memory interpret(const LoopNest& nest, Memory memory);

}  // namespace esc

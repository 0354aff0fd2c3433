// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace esc {

/// How many workers there are where so many are asked for: as many as there are cores where it is 0.
int workers_for(int asked_for);

/// To be called once, before a parallel loop: from then on oneTBB uses no more threads than this process can start. One
/// that fails to start in the middle of a loop would end the program. Without any, loops run in the thread that begins
/// them.
void hold_to_startable_threads();

}  // namespace esc

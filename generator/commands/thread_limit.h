// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace esc {

/// To be called once, before a parallel loop: from then on oneTBB uses no more threads than this process can start. One
/// that fails to start in the middle of a loop would end the program. Without any, loops run in the thread that begins
/// them.
void hold_to_startable_threads();

}  // namespace esc

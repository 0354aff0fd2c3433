// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>

namespace esc {

/// Calls work(0), work(1) .. work(count - 1), each once and begun in this order, in as many threads as `workers_for`
/// says of `jobs`. Threads and not tasks of a loop: one that waits for another never takes up a second piece of work
/// meanwhile. What `work` throws is thrown here, the first of several, when all that were begun have ended; no more are
/// begun.
void in_worker_threads(std::size_t count, int jobs, const std::function<void(std::size_t number)>& work);

}  // namespace esc

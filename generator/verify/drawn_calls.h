// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "generator/verify/kernel_calls.h"

namespace esc {

/// What is known of a text before it is run, which says how many calls are drawn beside the fixed ones.
enum class Breadth {
  generated,  ///< token for token what the generator writes: a few
  unknown     ///< perhaps somebody else's: each n up to some hundreds, each device, and many of the rest
};

/// What calls are drawn for.
struct DrawnFor {
  const Dispatch& dispatch;
  std::int64_t rows = 1;         ///< of A
  std::int64_t longest_row = 1;  ///< non-zeros
  std::int64_t most_items = 1;   ///< of a call that computes all of its columns
};

/// Calls that nobody can know beforehand: n between one and more than two launches take, evenly over its magnitudes,
/// leading dimensions, shifts, alignment, stream, device, the order of blocks, values and rows. The same seed gives the
/// same calls. Where nothing is known of the text, also a small call for each n up to four times that which the kernel
/// was made for, or some hundreds.
std::vector<KernelCall> drawn_calls(const DrawnFor& layer, Breadth breadth, std::uint64_t seed);

/// A small call, like the first of `calls`, for devices that it is not made on: each compute capability that the kernel
/// may meet, or one that is drawn.
std::vector<KernelCall> calls_on_devices(const std::vector<KernelCall>& calls, const Dispatch& dispatch,
                                         Breadth breadth, std::uint64_t seed);

}  // namespace esc

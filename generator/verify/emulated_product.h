// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "generator/matrix/typed_elements.h"
#include "generator/verify/kernel_to_emulate.h"

namespace esc {

/// C as the kernel leaves it, and what went wrong on the way: kernels that cannot be prepared, faults, a failed launch,
/// elements that were written between two rows.
struct EmulatedProduct {
  TypedElements c;  ///< the compared rows and columns alone
  std::vector<std::string> problems;
};

/// Makes one call on a device that has no buffers yet and is left so, C poisoned beforehand, by the entry that a user
/// calls. `b` has the compared columns alone, K rows of them. B and C end with their last element, and take memory only
/// where they are touched: however far apart their rows are. Throws std::bad_alloc where the address space does not
/// suffice.
///
/// Of C the rows are looked at for which `compared` is set, all where it is empty, with what lies between them and
/// their neighbours. The rows for which `prepared` is set hold zeros before, for who leaves out the blocks that set
/// them to zero.
EmulatedProduct emulate_product(EmulatedDevice& device, const KernelToEmulate& kernel, const KernelCall& call,
                                const TypedElements& b, const EmulationOptions& options,
                                const std::vector<bool>& compared = {}, const std::vector<bool>& prepared = {});

}  // namespace esc

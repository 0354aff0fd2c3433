// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "generator/verify/emulated_product.h"

namespace esc {

/// Makes one call of NAME_unpack, as unpack_calls tells it, on a device that has no buffers yet and is left so: what it
/// gives has A in place of C, poisoned beforehand, of which the rows are looked at for which `compared` is set, all
/// where it is empty, with what lies between them and their neighbours. Throws as emulate_product does.
EmulatedProduct emulate_unpacking(EmulatedDevice& device, const KernelToEmulate& kernel, const KernelCall& call,
                                  ScalarType element, const EmulationOptions& options,
                                  const std::vector<bool>& compared = {});

/// The same of NAME_values: `a` has the compared rows of A, without gaps, and what it gives the packed matrix in place
/// of C.
EmulatedProduct emulate_repacking(EmulatedDevice& device, const KernelToEmulate& kernel, const KernelCall& call,
                                  const TypedElements& a, const EmulationOptions& options,
                                  const std::vector<bool>& compared = {});

}  // namespace esc

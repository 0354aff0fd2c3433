#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "generator/emulate/device.h"
#include "generator/emulate/host_program.h"
#include "generator/verify/product_case.h"

namespace esc {

/// The kernel of a bundle for the emulated grid, with the matrix that it multiplies by. Refers to what it is made of.
struct KernelToEmulate {
  const HostProgram& program;  ///< the .cu text, compiled
  const std::string& name;
  std::span<const std::byte> packed;
  std::int64_t rows = 0;
};

/// C as the kernel leaves it, and what went wrong on the way: kernels that cannot be prepared, faults, a failed launch.
struct EmulatedProduct {
  TypedElements c;
  std::vector<std::string> problems;
};

/// Computes one product on a device of its own, C poisoned beforehand, by the entry that a user calls. `b` is K rows of
/// ldb elements.
EmulatedProduct emulate_product(const KernelToEmulate& kernel, const ProductCase& product, const TypedElements& b,
                                const EmulationOptions& options);

}  // namespace esc

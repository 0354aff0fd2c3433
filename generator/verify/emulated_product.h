#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "generator/emulate/device.h"
#include "generator/emulate/host_program.h"
#include "generator/verify/kernel_calls.h"

namespace esc {

/// The kernel of a bundle for the emulated grid, with the matrix that it multiplies by. Refers to what it is made of.
struct KernelToEmulate {
  const HostProgram& program;  ///< the .cu text, compiled
  const std::string& name;
  std::span<const std::byte> packed;
  std::int64_t rows = 0;
  Dispatch dispatch = {};
  const LoopNest* input = nullptr;  ///< the nest, whose epilogue may read more than B
};

/// C as the kernel leaves it, and what went wrong on the way: kernels that cannot be prepared, faults, a failed launch, elements
/// that were written between two rows.
struct EmulatedProduct {
  TypedElements c;  ///< the compared rows and columns alone
  std::vector<std::string> problems;
};

/// Makes one call on a device that has no buffers yet and is left so, C poisoned beforehand, by the entry that a user calls. `b` has the compared columns
/// alone, K rows of them. B and C end with their last element, and take memory only where they are touched: however far
/// apart their rows are. Throws std::bad_alloc where the address space does not suffice.
///
/// Of C the rows are looked at for which `compared` is set, all where it is empty, with what lies between them and their neighbours.
/// With `c_holds_zeros` the kernel may add to C without having set it to zero, for who leaves those blocks out that do.
EmulatedProduct emulate_product(EmulatedDevice& device, const KernelToEmulate& kernel, const KernelCall& call,
                                const TypedElements& b, const EmulationOptions& options, const std::vector<bool>& compared = {},
                                bool c_holds_zeros = false);

/// Makes calls that the C interface forbids, each argument wrong alone, and says which are not refused as it promises, or
/// launch or write something all the same. `columns` are A's; a call may make `host_steps` trips around loops.
std::vector<std::string> emulate_refusals(const KernelToEmulate& kernel, ScalarType element, std::int64_t columns, bool has_kernel,
                                          std::int64_t host_steps);

/// Prepares the kernel and makes the calls, nothing of whose launches runs, on devices where one of the CUDA functions that may fail fails, each in
/// turn, and says where that error is not returned at once. Says also whether all kernels are asked for when they are prepared.
std::vector<std::string> emulate_failures(const KernelToEmulate& kernel, ScalarType element, std::int64_t columns,
                                          const std::vector<KernelCall>& calls, std::int64_t host_steps);

}  // namespace esc

// SPDX-License-Identifier: Apache-2.0
#include "generator/emulate/matrix_hooks.h"

#include <fmt/format.h>

#include <algorithm>

#include "generator/emulate/active_machine.h"
#include "generator/emulate/function_address.h"
#include "generator/emulate/kernel_operands.h"
#include "generator/emulate/matrix_fragments.h"

namespace esc {
namespace {

/// An address in shared memory is its distance from where the memory of the program begins: 32 bits hold it.
std::uint64_t shared_address(std::uint64_t pointer) {
  require_kernel("__cvta_generic_to_shared");
  Machine& machine = active_machine();
  if (!machine.program().is_shared(pointer)) {
    machine.report(FaultKind::forbidden_space, machine.site(), "", [&] {
      const Region* region = machine.memory().find(pointer, 1);
      return fmt::format(
          "__cvta_generic_to_shared of a pointer to {}",
          region == nullptr ? "what is not shared memory" : region->name + ", which is not shared memory");
    });
    machine.stop();
  }
  return pointer - machine.program().shared_window();
}

/// The pointer to the row of a matrix that `address` names, which the running lane may read.
std::uint64_t row_at(std::uint32_t address) {
  constexpr std::uint64_t kRowBytes = 16;
  constexpr unsigned kLog2RowBytes = 4;
  Machine& machine = active_machine();
  const std::uint64_t row = shared_pointer(address, "ldmatrix");
  machine.check<Use::read>(row, kRowBytes, AccessNote::pack(kRowBytes, kLog2RowBytes, machine.site()));
  return row;
}

/// A load of 32 bits by an address in shared memory.
std::uint32_t load_shared(std::uint32_t address) {
  require_kernel("ld.shared");
  constexpr std::uint64_t kBytes = 4;
  constexpr unsigned kLog2Bytes = 2;
  Machine& machine = active_machine();
  const std::uint64_t pointer = shared_pointer(address, "ld.shared");
  machine.check<Use::read>(pointer, kBytes, AccessNote::pack(kBytes, kLog2Bytes, machine.site()));
  return *reinterpret_cast<const std::uint32_t*>(pointer);
}

template <class Operands>
std::array<Operands*, kLanes> gathered() {
  std::array<Operands*, kLanes> all{};
  const auto& values = active_machine().runner().gathered();
  std::transform(values.begin(), values.end(), all.begin(),
                 [](std::uint64_t value) { return reinterpret_cast<Operands*>(value); });
  return all;
}

void load(std::uint32_t* registers, std::uint32_t address, std::uint32_t matrices, std::uint32_t transposed) {
  require_kernel("ldmatrix");
  Machine& machine = active_machine();
  const std::uint32_t site = machine.site();
  MatrixLoad mine;
  if (machine.runner().current_lane() < 8 * matrices) {
    mine.row = row_at(address);
  }
  if (machine.runner().gather(WarpOperationKind::load_matrices, reinterpret_cast<std::uint64_t>(&mine))) {
    load_matrices(gathered<MatrixLoad>(), matrices, transposed != 0);
  }
  // A lane reads parts of rows that others name, and has to be ordered with who wrote them, too.
  const std::uint64_t bytes = transposed != 0 ? 2 : 4;
  for (std::uint32_t part = 0; part < 2 * matrices; part += transposed != 0 ? 1 : 2) {
    machine.check<Use::read>(mine.sources[part], bytes, AccessNote::pack(bytes, transposed != 0 ? 1 : 2, site));
  }
  std::copy_n(mine.registers.begin(), matrices, registers);
}

std::uint32_t transpose(std::uint32_t elements) {
  require_kernel("movmatrix");
  if (active_machine().runner().gather(WarpOperationKind::transpose_matrix,
                                       reinterpret_cast<std::uint64_t>(&elements))) {
    transpose_matrix(gathered<std::uint32_t>());
  }
  return elements;
}

void multiply(float* sums, const std::uint32_t* a, const std::uint32_t* b, std::uint32_t metadata,
              std::uint32_t number) {
  require_kernel("mma");
  Machine& machine = active_machine();
  ProductFragments mine{sums, a, b, metadata};
  if (!machine.runner().gather(WarpOperationKind::multiply_matrices, reinterpret_cast<std::uint64_t>(&mine))) {
    return;
  }
  const MatrixProduct product = MatrixProduct::of(number);
  const std::array<ProductFragments*, kLanes> lanes = gathered<ProductFragments>();
  if (const std::optional<BadMetadata> bad = find_bad_metadata(product, lanes)) {
    machine.report(FaultKind::bad_operand, machine.site(), "", [&] {
      return fmt::format(
          "mma.sp with the metadata {:#06b} for row {}, group {} of A, in lane {}: PTX does not promise what "
          "happens",
          bad->bits, bad->row, bad->group, bad->lane);
    });
    machine.stop();
  }
  multiply_matrices(product, lanes);
}

}  // namespace

std::vector<std::pair<std::string, std::uint64_t>> matrix_functions() {
  return {{"__esc_shared_address", address_of(&shared_address)},
          {"__esc_load_shared", address_of(&load_shared)},
          {"__esc_load_matrices", address_of(&load)},
          {"__esc_transpose_matrix", address_of(&transpose)},
          {"__esc_multiply_matrices", address_of(&multiply)}};
}

}  // namespace esc

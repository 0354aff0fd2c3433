#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "generator/confine/confined_process.h"
#include "generator/confine/shared_memory.h"
#include "generator/matrix/sparse_matrix.h"
#include "generator/verify/emulated_product.h"
#include "generator/verify/product_case.h"

namespace esc {

/// What a kernel is to compute: products with one matrix. Refers to what it is made of.
struct KernelTask {
  const std::string& text;  ///< of the .cu
  const std::string& name;
  std::span<const std::byte> packed;
  const SparseMatrix& matrix;
  const std::vector<ProductCase>& products;
  const std::vector<std::int64_t>& multiply_adds;  ///< of each product, as the emulation counts them
  std::int64_t most_products;  ///< multiply-adds, beyond which a sample of the rows is computed
};

/// A kernel's text on an emulated grid, in a process without rights. The products that come back are for who asks to
/// compare: the text may have taken that process over.
class ConfinedKernel {
 public:
  /// Compiles the text there. The task must outlive this. Throws UserError for a text that does not compile,
  /// ConfinedEnd as ConfinedProcess does.
  ConfinedKernel(const KernelTask& task, const Allowance& allowance);

  /// How many blocks of a kernel have run, of how many; blocks that only set C to zero are left out.
  using Progress = std::function<void(std::uint64_t run, std::uint64_t all)>;

  /// Computes the product of this number with B, K rows of ldb elements. Throws as the constructor does.
  EmulatedProduct multiply(std::size_t number, const TypedElements& b, const Progress& progress);

 private:
  static void serve(const Channel& channel, const KernelTask& task, const SharedMemory& memory, std::size_t c_at);

  const KernelTask& task_;
  std::size_t c_at_;
  SharedMemory memory_;  ///< of B, and from c_at_ on of C
  ConfinedProcess process_;
};

}  // namespace esc

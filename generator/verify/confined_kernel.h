// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "generator/confine/confined_process.h"
#include "generator/confine/shared_memory.h"
#include "generator/matrix/matrix_shape.h"
#include "generator/verify/emulated_product.h"
#include "generator/verify/kernel_calls.h"
#include "generator/verify/row_tile_sample.h"

namespace esc {

/// One call that a kernel is to be judged by. Refers to its matrix.
struct TaskCall {
  KernelCall call;
  MatrixShape matrix;
  std::span<const std::byte> packed;  ///< the matrix, as the kernel takes it
  RowTileSample sample;               ///< the rows that are computed
  const SparseMatrix* source;         ///< the matrix, for who compares: the process has none
  std::int64_t tile_stride = 1;       ///< of the tiles of columns every n-th is computed, and the last
  /// Not of the product but of one of these (unpack_calls.h), whose C is A, or the packed matrix.
  std::optional<UnpackFunction> function = {};
  std::span<const std::byte> packed_of_values = {};  ///< of NAME_values, what is to come: for who compares, too

  /// The rows of C that are compared; all where it is empty.
  std::vector<bool> compared_rows() const;
  /// The columns that are, where tiles have so many; all where it is empty.
  std::vector<bool> compared_columns(std::int64_t tile_columns) const;
  /// The rows that hold zeros before: those that are set to zero by blocks that do not run.
  std::vector<bool> prepared_rows() const;
};

/// What a kernel is to do: calls, all with matrices of one pattern. Refers to what it is made of.
struct KernelTask {
  const std::string& text;  ///< of the .cu
  const std::string& name;
  const Dispatch& dispatch;
  std::span<const std::byte> packed;
  MatrixShape matrix;
  const std::vector<TaskCall>& calls;
  const LoopNest& input;
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

  /// Makes the call of this number; `b` has the compared columns alone, K rows of them, and C the compared rows of
  /// these. Nothing where there are not enough addresses for its operands. A call of NAME_unpack looks at no `b`, one
  /// of NAME_values has the compared rows of A there. Throws as the constructor does.
  std::optional<EmulatedProduct> multiply(std::size_t number, const TypedElements& b, const Progress& progress);
  /// As emulate_refusals says them.
  std::vector<std::string> refusals();
  /// As emulate_failures says them, of the first call and of the fixed ones that take several launches.
  std::vector<std::string> failures();

 private:
  static void serve(const Channel& channel, const KernelTask& task, const SharedPlace& memory, std::size_t c_at);

  /// The texts of an answer of the same kind, which is the next.
  std::vector<std::string> ask_for_texts(std::uint32_t kind);

  const KernelTask& task_;
  std::size_t c_at_;
  std::size_t packed_at_;
  SharedMemory memory_;  ///< of B, from c_at_ on of C, and from packed_at_ on of the packed matrices
  ConfinedProcess process_;
};

}  // namespace esc

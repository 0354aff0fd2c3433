// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <ostream>
#include <span>
#include <string>
#include <vector>

#include "generator/emit/generate.h"
#include "generator/schedule/schedule.h"
#include "generator/verify/emulated_product.h"
#include "generator/verify/kernel_calls.h"
#include "generator/verify/kernel_programs.h"
#include "generator/verify/reference.h"
#include "generator/verify/unpack_calls.h"

namespace esc::tests {

/// The layer that `escgen generate` makes of the matrix, with the name "layer".
GeneratedLayer layer_of(const SparseMatrix& matrix, std::int64_t bcol, const Schedule& schedule,
                        std::uint32_t max_list_columns = GenerateOptions().max_list_columns);
/// The same of a nest of the user's own.
GeneratedLayer layer_of(const SparseMatrix& matrix, std::int64_t bcol, const Schedule& schedule, const LoopNest& nest);
/// The same with a script.
GeneratedLayer layer_of(const SparseMatrix& matrix, std::int64_t bcol, const std::vector<Directive>& script);

/// The .cu text of a layer, laid out as in its bundle.
std::string kernel_text(const GeneratedLayer& generated);

/// A product that was computed, compared with the float64 reference, and the error that it may have.
struct JudgedProduct {
  double error = 0;  ///< relative Frobenius error
  double tolerance = 0;
  std::string problem;  ///< empty, or the first fault, failed launch, or element that is wrong beyond rounding

  bool passed() const { return problem.empty() && error <= tolerance; }
};

/// For failure messages: the problem, if there is one, and error against tolerance.
std::string print(const JudgedProduct& judged);

/// The .cu text of a layer, compiled in process for the emulated grid.
class EmulatedKernel {
 public:
  explicit EmulatedKernel(const GeneratedLayer& generated);
  /// The same with another text in place of its own.
  EmulatedKernel(const GeneratedLayer& generated, const std::string& text);

  /// Makes one call on a device of its own, C poisoned beforehand. `matrix` is the layer's and `b` is K rows of the
  /// compared columns alone. Blocks and threads run in an order drawn from `order`, by index when it is absent.
  JudgedProduct multiply(const SparseMatrix& matrix, const KernelCall& call, const std::vector<double>& b,
                         std::optional<std::uint64_t> order = std::nullopt) const;
  /// The same with a B that is drawn.
  JudgedProduct multiply(const SparseMatrix& matrix, const KernelCall& call,
                         std::optional<std::uint64_t> order = std::nullopt) const;
  JudgedProduct multiply(const SparseMatrix& matrix, const ProductCase& product,
                         std::optional<std::uint64_t> order = std::nullopt) const {
    return multiply(matrix, KernelCall{.product = product}, order);
  }

  /// The same, not judged: C as the kernel leaves it, and what went wrong on the way.
  EmulatedProduct product(const SparseMatrix& matrix, const KernelCall& call, const std::vector<double>& b,
                          std::optional<std::uint64_t> order = std::nullopt) const;
  /// What NAME_unpack leaves wrong, in a call as unpack_calls tells it: the first fault, or element that is not to the
  /// bit the matrix's; or empty.
  std::string unpacking_problem(const SparseMatrix& matrix, const KernelCall& call) const;
  /// The packed matrix, in place of C, into which NAME_values has written the values of this matrix, in such a call.
  EmulatedProduct repacked(const SparseMatrix& values, const KernelCall& call) const;
  /// The calls that `escgen verify` judges it by.
  std::vector<KernelCall> unpackings(const SparseMatrix& matrix) const {
    return unpack_calls(dispatch_, matrix.columns);
  }
  /// From now on multiplies by the matrix of this layer, which has the same pattern and schedule.
  void take_values_of(const GeneratedLayer& generated) { packed_ = generated.packed; }
  /// The same of a packed matrix.
  void take_packed(std::span<const std::byte> packed);

  /// The calls that `escgen verify` judges it by, without those of which only some columns can be run.
  std::vector<KernelCall> calls(const SparseMatrix& matrix) const;

 private:
  std::string name_;
  LoopNest nest_;
  std::shared_ptr<const std::byte[]> packed_;
  std::size_t packed_bytes_;
  Dispatch dispatch_;
  KernelPrograms programs_;
};

/// What is wrong with the transformer's text, every access of it checked: the first problem, or empty. It must write
/// the very bytes of the packed matrix from CSR and from dense, and refuse a matrix whose pattern is another, or pack
/// it where the kernel takes any.
std::string transformer_problem(const GeneratedLayer& generated, const SparseMatrix& matrix);
/// The same of another text in place of its own.
std::string transformer_problem(const GeneratedLayer& generated, const SparseMatrix& matrix, const std::string& text);

/// The text of a layer's transformer, laid out as in its bundle.
std::string transformer_text(const GeneratedLayer& generated);

}  // namespace esc::tests

namespace esc {

/// How GoogleTest names a schedule.
inline void PrintTo(const Schedule& schedule, std::ostream* stream) { *stream << print(Schedule(schedule)); }

}  // namespace esc

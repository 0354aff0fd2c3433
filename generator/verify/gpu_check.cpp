// SPDX-License-Identifier: Apache-2.0
#include "generator/verify/gpu_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "generator/emit/layer.h"
#include "generator/verify/cuda_runtime.h"
#include "generator/verify/device_operands.h"
#include "generator/verify/gpu_product.h"
#include "generator/verify/kernel_calls.h"
#include "generator/verify/refused_calls.h"
#include "generator/verify/transformer_check.h"
#include "generator/verify/unpack_calls.h"

namespace esc {
namespace {

constexpr std::int64_t most_dense_elements = 64 << 20;

/// What B and C of one call may take on the host and on the device.
constexpr std::int64_t most_bytes = std::int64_t{1} << 30;

/// A GPU has the compute capability that it has, and memory after every address.
bool can_make(const KernelCall& call, const SparseMatrix& matrix, const Dispatch& dispatch) {
  const KernelCall usual;
  const ProductCase& product = call.product;
  return call.compute_major == usual.compute_major && call.compute_minor == usual.compute_minor &&
         bytes_of(matrix.element) * (dispatch.b.outermost_extent(matrix.columns, product.n) * product.ldb +
                                     dispatch.c.outermost_extent(matrix.rows, product.n) * product.ldc) <=
             most_bytes;
}

/// A bundle's kernel on the GPU.
class GpuKernel {
 public:
  GpuKernel(const CudaRuntime& runtime, const std::filesystem::path& predecessor, const KernelFunctions& kernel,
            const LoopNest& nest, const Dispatch& dispatch, VerificationReport& report)
      : runtime_(runtime),
        stream_(runtime),
        predecessor_(runtime, predecessor),
        kernel_(kernel),
        nest_(nest),
        dispatch_(dispatch),
        report_(report) {}

  /// All columns are computed and compared, where emulation takes some of them.
  void make(KernelCall call, const SparseMatrix& matrix, const std::vector<std::byte>& packed) {
    call.columns.clear();
    if (can_make(call, matrix, dispatch_)) {
      report_.runs.push_back({call.product, run(call, matrix, packed), call.reason});
    }
  }

  /// Every element that NAME_unpack writes is compared, to the bit.
  void unpack(const KernelCall& call, const SparseMatrix& matrix, const std::vector<std::byte>& packed) {
    if (can_unpack(call, matrix)) {
      const GpuProduct result = gpu_unpacking(on_gpu(packed, matrix), call, matrix.element);
      tell(print_unpacking(call), result.problem.empty() ? wrong_element_of_a(matrix, result.c) : result.problem);
    }
  }

  /// Every byte that NAME_values makes of the packed matrix.
  void repack(const KernelCall& call, const OtherMatrix& other, const std::vector<std::byte>& packed) {
    if (can_unpack(call, other.matrix)) {
      const GpuProduct result = gpu_repacking(on_gpu(packed, other.matrix), call, values_to_take(other.matrix, packed));
      tell(print_unpacking(call, UnpackFunction::values),
           result.problem.empty() ? wrong_byte_of_packed(packed, other.packed, result.c.bytes()) : result.problem);
    }
  }

  /// A and the packed matrix stay as they are.
  void refuse_unpacking(UnpackFunction function, const SparseMatrix& matrix, const std::vector<std::byte>& packed) {
    const DeviceBuffer device_packed(runtime_, packed.size());
    const DeviceBuffer a(runtime_, static_cast<std::size_t>(bytes_of(matrix.element)));
    for (const RefusedUnpacking& call :
         refused_unpackings({device_packed.get(), a.get(), matrix.columns, stream_.get()})) {
      const std::string what = fmt::format("{} with {}", doing(function), call.wrong);
      if (const int status = kernel_.of(function)(call.arguments); status != call.status) {
        report_.problems.push_back(fmt::format("{} returns {} instead of {}", what, status, call.status));
      }
      tell(what, runtime_.synchronize());
    }
  }

  /// C stays as it is, so that any memory will do.
  void refuse(const SparseMatrix& matrix, const std::vector<std::byte>& packed, bool is_prepared) {
    const DeviceBuffer device_packed(runtime_, packed.size());
    const DeviceBuffer b(runtime_, static_cast<std::size_t>(bytes_of(matrix.element)));
    const DeviceBuffer c(runtime_, static_cast<std::size_t>(bytes_of(matrix.element)));
    const ProductCase product = product_without_gaps(dispatch_, dispatch_.tuned_items);
    LateWrites never_written(runtime_);
    const DeviceOperands operands(runtime_, nest_, matrix.rows, dispatch_.tuned_items * dispatch_.item_columns(), {},
                                  never_written);
    const ProductArguments good{device_packed.get(),  b.get(),   product.ldb,  c.get(), product.ldc,
                                operands.arguments(), product.n, stream_.get()};
    const std::vector<RefusedCall> calls =
        is_prepared ? refused_calls(good, dispatch_.item_columns(), needs_kernel(nest_, matrix.nonzeros()))
                    : std::vector{unprepared_call(good)};
    for (const RefusedCall& call : calls) {
      const int status = kernel_.spmm(call.arguments);
      if (status != call.status) {
        report_.problems.push_back(
            fmt::format("a call with {} returns {} instead of {}", call.wrong, status, call.status));
      }
      if (const std::string fault = runtime_.synchronize(); !fault.empty()) {
        report_.problems.push_back(fmt::format("a call with {}: {}", call.wrong, fault));
      }
    }
  }

 private:
  static bool can_unpack(const KernelCall& call, const SparseMatrix& matrix) {
    return call.compute_major >= first_bulk_major &&
           matrix.rows * call.product.ldc * bytes_of(matrix.element) <= most_bytes;
  }

  KernelOnGpu on_gpu(const std::vector<std::byte>& packed, const SparseMatrix& matrix) const {
    return {runtime_, stream_, predecessor_, kernel_, packed, matrix.rows, dispatch_, &nest_};
  }

  void tell(const std::string& call, const std::string& problem) {
    if (!problem.empty()) {
      report_.problems.push_back(fmt::format("{}: {}", call, problem));
    }
  }

  Comparison run(const KernelCall& call, const SparseMatrix& matrix, const std::vector<std::byte>& packed) {
    const Reference reference(nest_, matrix,
                              draw_b(dispatch_.b, matrix.columns, call.compact(), call.values, matrix.element),
                              call.compact(), judged_kernel(dispatch_, call.values));
    const GpuProduct result = gpu_product(on_gpu(packed, matrix), call, TypedElements(matrix.element, reference.b()));
    if (!result.problem.empty()) {
      report_.problems.push_back(fmt::format("{}: {}", print(call), result.problem));
      return {.error = 0, .rows = 0, .problem = "the kernel did not run"};
    }
    return reference.compare(result.c);
  }

  const CudaRuntime& runtime_;
  DeviceStream stream_;
  Predecessor predecessor_;
  const KernelFunctions& kernel_;
  const LoopNest& nest_;
  const Dispatch& dispatch_;
  VerificationReport& report_;
};

/// Of a bundle whose kernel is prepared.
void check_unpacking(GpuKernel& kernel, const KernelFunctions& functions, const SparseMatrix& matrix,
                     const Dispatch& dispatch, const TransformCheck& transform, VerificationReport& report) {
  for (const UnpackFunction function : {UnpackFunction::unpack, UnpackFunction::values}) {
    if (!functions.of(function)) {
      report.problems.push_back(fmt::format("the library has no function {}", name_of(function)));
      return;
    }
    kernel.refuse_unpacking(function, matrix, transform.packed);
  }
  for (const KernelCall& call : unpack_calls(dispatch, matrix.columns)) {
    kernel.unpack(call, matrix, transform.packed);
    if (transform.other) {
      kernel.repack(call, *transform.other, transform.packed);
    }
  }
}

}  // namespace

VerificationReport check_on_gpu(const BundleLibrary& bundle, const std::filesystem::path& predecessor,
                                const LoopNest& nest, const SparseMatrix& matrix, const Dispatch& dispatch) {
  const CudaRuntime runtime;
  TransformCheck transform = check_transformer(bundle.transformer(), matrix,
                                               {.most_dense_elements = most_dense_elements,
                                                .breadth = Breadth::generated,
                                                .line_rows = dispatch.scaled_rows,
                                                .packed_tile_words = dispatch.packed_tile_words});
  VerificationReport report{
      .method = "gpu", .tolerance = tolerance_of(matrix, dispatch.products), .problems = std::move(transform.problems)};
  if (transform.packed.empty()) {
    return report;
  }
  GpuKernel kernel(runtime, predecessor, bundle.kernel(), nest, dispatch, report);
  if (dispatch.needs_preparing) {
    kernel.refuse(matrix, transform.packed, false);
  }
  if (const int status = bundle.kernel().prepare(); status != 0) {
    report.problems.push_back("prepare: " + runtime.error_text(status));
    return report;
  }
  kernel.refuse(matrix, transform.packed, true);
  std::vector<KernelCall> calls = kernel_calls(dispatch, matrix.rows, matrix.columns);
  leave_out_what_is_undefined(calls, matrix);
  for (const KernelCall& call : calls) {
    kernel.make(call, matrix, transform.packed);
  }
  if (dispatch.unpacks) {
    check_unpacking(kernel, bundle.kernel(), matrix, dispatch, transform, report);
  }
  if (transform.other) {
    KernelCall call = calls.front();
    call.reason = other_values_reason;
    kernel.make(call, transform.other->matrix, transform.other->packed);
  }
  for (const OtherMatrix& pattern : transform.patterns) {
    KernelCall call = calls.front();
    call.reason = other_pattern_reason;
    kernel.make(call, pattern.matrix, pattern.packed);
  }
  return report;
}

}  // namespace esc

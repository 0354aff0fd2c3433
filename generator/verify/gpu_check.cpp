#include "generator/verify/gpu_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <list>
#include <string>
#include <utility>

#include "generator/verify/cuda_runtime.h"
#include "generator/verify/kernel_calls.h"
#include "generator/verify/operands.h"
#include "generator/verify/refused_calls.h"
#include "generator/verify/transformer_check.h"

namespace esc {
namespace {

constexpr std::uint64_t seed_of_b = 1;
constexpr std::int64_t most_dense_elements = 64 << 20;

/// What B and C of one call may take on the host and on the device.
constexpr std::int64_t most_bytes = std::int64_t{1} << 30;

/// A GPU has the compute capability that it has, and memory behind every address.
bool can_make(const KernelCall& call, const SparseMatrix& matrix) {
  const KernelCall usual;
  const ProductCase& product = call.product;
  return call.compute_major == usual.compute_major &&
         bytes_of(matrix.element) * (matrix.columns * product.ldb + matrix.rows * product.ldc) <= most_bytes;
}

/// Elements from the first of a matrix to its last.
std::size_t extent(std::int64_t rows, std::int64_t n, std::int64_t leading_dimension) {
  return static_cast<std::size_t>((rows - 1) * leading_dimension + n);
}

/// What the epilogue of a kernel reads, on the device: matrices without gaps.
class DeviceOperands {
 public:
  DeviceOperands(const CudaRuntime& runtime, const LoopNest& nest, std::int64_t rows, const ProductCase& product) {
    for (const Operand& operand : draw_operands(nest, rows, product.n)) {
      const TypedElements values(operand.type, operand.elements);
      if (operand.rank == 0) {
        arguments_.push_back(with_element(operand.type, [&](auto zero) { return CArgument(values.elements<decltype(zero)>()[0]); }));
        continue;
      }
      const DeviceBuffer& buffer = buffers_.emplace_back(runtime, values.bytes().size());
      runtime.copy_to_device(buffer.get(), values.data(), values.bytes().size());
      arguments_.emplace_back(static_cast<const void*>(buffer.get()));
      if (operand.rank == 2) {
        arguments_.emplace_back(operand.columns);
      }
    }
  }

  const std::vector<CArgument>& arguments() const { return arguments_; }

 private:
  std::list<DeviceBuffer> buffers_;
  std::vector<CArgument> arguments_;
};

/// A bundle's kernel on the GPU.
class GpuKernel {
 public:
  GpuKernel(const CudaRuntime& runtime, const KernelFunctions& kernel, const LoopNest& nest, VerificationReport& report)
      : runtime_(runtime), stream_(runtime), kernel_(kernel), nest_(nest), report_(report) {}

  void make(const KernelCall& call, const SparseMatrix& matrix, const std::vector<std::byte>& packed) {
    if (can_make(call, matrix)) {
      report_.runs.push_back({call.product, run(call, matrix, packed), call.reason});
    }
  }

  /// C stays as it is, so that any memory will do.
  void refuse(const SparseMatrix& matrix, const std::vector<std::byte>& packed, std::int64_t n) {
    const DeviceBuffer device_packed(runtime_, packed.size());
    const DeviceBuffer b(runtime_, static_cast<std::size_t>(bytes_of(matrix.element)));
    const DeviceBuffer c(runtime_, static_cast<std::size_t>(bytes_of(matrix.element)));
    const ProductCase product{.n = static_cast<std::int32_t>(n), .ldb = n, .ldc = n};
    const DeviceOperands operands(runtime_, nest_, matrix.rows, product);
    const ProductArguments good{device_packed.get(),  b.get(),   n,           c.get(), n,
                                operands.arguments(), product.n, stream_.get()};
    for (const RefusedCall& call : refused_calls(good, matrix.nonzeros() != 0 || nest_.epilogue)) {
      const int status = kernel_.spmm(call.arguments);
      if (status != call.status) {
        report_.problems.push_back(fmt::format("a call with {} returns {} instead of {}", call.wrong, status, call.status));
      }
      if (const std::string fault = runtime_.synchronize(); !fault.empty()) {
        report_.problems.push_back(fmt::format("a call with {}: {}", call.wrong, fault));
      }
    }
  }

 private:
  Comparison run(const KernelCall& call, const SparseMatrix& matrix, const std::vector<std::byte>& packed) {
    const ProductCase& product = call.product;
    const Reference reference(nest_, matrix, draw_b(matrix.columns, product, seed_of_b, matrix.element), product);
    const TypedElements b(matrix.element, reference.b());
    TypedElements c = poisoned_c(matrix.rows, product, matrix.element);
    const auto element = static_cast<std::size_t>(bytes_of(matrix.element));
    const std::size_t bytes_b = extent(matrix.columns, product.n, product.ldb) * element;
    const std::size_t bytes_c = extent(matrix.rows, product.n, product.ldc) * element;
    const std::size_t shift_b = static_cast<std::size_t>(product.shift_b) * element;
    const std::size_t shift_c = static_cast<std::size_t>(product.shift_c) * element;
    const auto shift_packed = static_cast<std::size_t>(call.shift_packed);
    const DeviceBuffer device_b(runtime_, bytes_b + shift_b);
    const DeviceBuffer device_c(runtime_, bytes_c + shift_c);
    const DeviceBuffer device_packed(runtime_, packed.size() + shift_packed);
    void* const first_b = static_cast<std::byte*>(device_b.get()) + shift_b;
    void* const first_c = static_cast<std::byte*>(device_c.get()) + shift_c;
    void* const first_packed = static_cast<std::byte*>(device_packed.get()) + shift_packed;
    runtime_.copy_to_device(first_b, b.data(), bytes_b);
    runtime_.copy_to_device(first_c, c.data(), bytes_c);
    runtime_.copy_to_device(first_packed, packed.data(), packed.size());
    const DeviceOperands operands(runtime_, nest_, matrix.rows, product);
    // Copies from memory that is not pinned may still be under way on the default stream.
    static_cast<void>(runtime_.synchronize());

    const int status = kernel_.spmm({first_packed, first_b, product.ldb, first_c, product.ldc, operands.arguments(), product.n,
                                     call.default_stream ? nullptr : stream_.get()});
    const std::string fault = runtime_.synchronize();
    if (status != 0 || !fault.empty()) {
      report_.problems.push_back(fmt::format("{}: {}", print(call), status != 0 ? runtime_.error_text(status) : fault));
      return {.error = 0, .rows = 0, .problem = "the kernel did not run"};
    }
    runtime_.copy_to_host(c.data(), first_c, bytes_c);
    return reference.compare(c);
  }

  const CudaRuntime& runtime_;
  DeviceStream stream_;
  const KernelFunctions& kernel_;
  const LoopNest& nest_;
  VerificationReport& report_;
};

}  // namespace

VerificationReport check_on_gpu(const BundleLibrary& bundle, const LoopNest& nest, const SparseMatrix& matrix,
                                const Dispatch& dispatch) {
  const CudaRuntime runtime;
  TransformCheck transform = check_transformer(bundle.transformer(), matrix, most_dense_elements);
  VerificationReport report{
      .method = "gpu", .tolerance = tolerance_of(matrix), .problems = std::move(transform.problems)};
  if (transform.packed.empty()) {
    return report;
  }
  if (const int status = bundle.kernel().prepare(); status != 0) {
    report.problems.push_back("prepare: " + runtime.error_text(status));
    return report;
  }
  GpuKernel kernel(runtime, bundle.kernel(), nest, report);
  kernel.refuse(matrix, transform.packed, dispatch.tuned_columns);
  const std::vector<KernelCall> calls = kernel_calls(dispatch, matrix.rows, matrix.columns);
  for (const KernelCall& call : calls) {
    kernel.make(call, matrix, transform.packed);
  }
  if (transform.other) {
    KernelCall call = calls.front();
    call.reason = other_values_reason;
    kernel.make(call, transform.other->matrix, transform.other->packed);
  }
  return report;
}

}  // namespace esc

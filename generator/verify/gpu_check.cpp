#include "generator/verify/gpu_check.h"

#include <fmt/format.h>

#include <utility>

#include "generator/verify/cuda_runtime.h"
#include "generator/verify/transformer_check.h"

namespace esc {
namespace {

constexpr std::uint64_t seed_of_b = 1;
constexpr std::int64_t most_dense_elements = 64 << 20;

VerificationRun run_product(const CudaRuntime& runtime, const KernelFunctions& kernel, const LoopNest& nest, const SparseMatrix& matrix,
                            const DeviceBuffer& packed, const ProductCase& product, std::vector<std::string>& problems) {
  const Reference reference(nest, matrix, draw_b(matrix.columns, product, seed_of_b, matrix.element), product);
  const TypedElements b(matrix.element, reference.b());
  TypedElements c = poisoned_c(matrix.rows, product, matrix.element);
  const auto shift_b = static_cast<std::size_t>(product.shift_b * bytes_of(matrix.element));
  const auto shift_c = static_cast<std::size_t>(product.shift_c * bytes_of(matrix.element));
  const DeviceBuffer device_b(runtime, b.bytes().size() + shift_b);
  const DeviceBuffer device_c(runtime, c.bytes().size() + shift_c);
  void* const first_b = static_cast<std::byte*>(device_b.get()) + shift_b;
  void* const first_c = static_cast<std::byte*>(device_c.get()) + shift_c;
  runtime.copy_to_device(first_b, b.data(), b.bytes().size());
  runtime.copy_to_device(first_c, c.data(), c.bytes().size());

  const int status = kernel.spmm(packed.get(), first_b, product.ldb, first_c, product.ldc, product.n, nullptr);
  const std::string fault = runtime.synchronize();
  if (status != 0 || !fault.empty()) {
    problems.push_back(fmt::format("{}: {}", print(product), status != 0 ? runtime.error_text(status) : fault));
    return {product, {.error = 0, .rows = 0, .problem = "the kernel did not run"}};
  }
  runtime.copy_to_host(c.data(), first_c, c.bytes().size());
  return {product, reference.compare(c)};
}

}  // namespace

VerificationReport check_on_gpu(const BundleLibrary& bundle, const LoopNest& nest, const SparseMatrix& matrix,
                              const std::vector<ProductCase>& products) {
  const CudaRuntime runtime;
  TransformCheck transform = check_transformer(bundle.transformer(), matrix, most_dense_elements);
  VerificationReport report{
      .method = "gpu", .tolerance = tolerance_of(matrix), .problems = std::move(transform.problems)};
  const DeviceBuffer packed(runtime, transform.packed.size());
  runtime.copy_to_device(packed.get(), transform.packed.data(), transform.packed.size());
  if (const int status = bundle.kernel().prepare(); status != 0) {
    report.problems.push_back("prepare: " + runtime.error_text(status));
    return report;
  }
  for (const ProductCase& product : products) {
    report.runs.push_back(run_product(runtime, bundle.kernel(), nest, matrix, packed, product, report.problems));
  }
  return report;
}

}  // namespace esc

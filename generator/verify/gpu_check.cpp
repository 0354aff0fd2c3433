#include "generator/verify/gpu_check.h"

#include <fmt/format.h>

#include <utility>

#include "generator/verify/cuda_runtime.h"
#include "generator/verify/transformer_check.h"

namespace esc {
namespace {

constexpr std::uint64_t seed_of_b = 1;
constexpr std::int64_t most_dense_elements = 64 << 20;

VerificationRun run_product(const CudaRuntime& runtime, const KernelFunctions& kernel, const SparseMatrix& matrix,
                            const DeviceBuffer& packed, const ProductCase& product, std::vector<std::string>& problems) {
  const std::vector<float> b = draw_b(matrix.columns, product, seed_of_b);
  std::vector<float> c = poisoned_c(matrix.rows, product);
  const auto shift_b = static_cast<std::size_t>(product.shift_b);
  const auto shift_c = static_cast<std::size_t>(product.shift_c);
  const DeviceBuffer device_b(runtime, (b.size() + shift_b) * sizeof(float));
  const DeviceBuffer device_c(runtime, (c.size() + shift_c) * sizeof(float));
  float* const first_b = static_cast<float*>(device_b.get()) + shift_b;
  float* const first_c = static_cast<float*>(device_c.get()) + shift_c;
  runtime.copy_to_device(first_b, b.data(), b.size() * sizeof(float));
  runtime.copy_to_device(first_c, c.data(), c.size() * sizeof(float));

  const int status = kernel.spmm(packed.get(), first_b, product.ldb, first_c, product.ldc, product.n, nullptr);
  const std::string fault = runtime.synchronize();
  if (status != 0 || !fault.empty()) {
    problems.push_back(fmt::format("{}: {}", print(product), status != 0 ? runtime.error_text(status) : fault));
    return {product, {.error = 0, .rows = 0, .problem = "the kernel did not run"}};
  }
  runtime.copy_to_host(c.data(), first_c, c.size() * sizeof(float));
  return {product, compare_with_reference(matrix, b, c, product)};
}

}  // namespace

VerificationReport check_on_gpu(const BundleLibrary& bundle, const SparseMatrix& matrix,
                              const std::vector<ProductCase>& products) {
  const CudaRuntime runtime;
  TransformCheck transform = check_transformer(bundle.transformer(), matrix, most_dense_elements);
  VerificationReport report{
      .method = "gpu", .tolerance = float32_tolerance(matrix), .problems = std::move(transform.problems)};
  const DeviceBuffer packed(runtime, transform.packed.size());
  runtime.copy_to_device(packed.get(), transform.packed.data(), transform.packed.size());
  if (const int status = bundle.kernel().prepare(); status != 0) {
    report.problems.push_back("prepare: " + runtime.error_text(status));
    return report;
  }
  for (const ProductCase& product : products) {
    report.runs.push_back(run_product(runtime, bundle.kernel(), matrix, packed, product, report.problems));
  }
  return report;
}

}  // namespace esc

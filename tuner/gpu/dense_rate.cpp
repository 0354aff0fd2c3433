// SPDX-License-Identifier: Apache-2.0
#include "tuner/gpu/dense_rate.h"

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <type_traits>

#include "tuner/gpu/cublas_peer.h"

namespace esc::gpu {
namespace {

constexpr int most_algorithms = 8;
constexpr TimingOptions timing{.launches = 2, .warmups = 1, .replays = 7};

bool is_done(cublasStatus_t status) { return status == CUBLAS_STATUS_SUCCESS; }

/// A handle of the library, released with this object.
template <typename Handle, cublasStatus_t (*destroy)(Handle)>
struct Release {
  void operator()(std::remove_pointer_t<Handle>* handle) const { static_cast<void>(destroy(handle)); }
};
template <typename Handle, cublasStatus_t (*destroy)(Handle)>
using Owned = std::unique_ptr<std::remove_pointer_t<Handle>, Release<Handle, destroy>>;

using Product = Owned<cublasLtMatmulDesc_t, cublasLtMatmulDescDestroy>;
using Layout = Owned<cublasLtMatrixLayout_t, cublasLtMatrixLayoutDestroy>;
using Preference = Owned<cublasLtMatmulPreference_t, cublasLtMatmulPreferenceDestroy>;

Product product_of(DenseElements elements) {
  const cublasComputeType_t compute =
      elements == DenseElements::tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
  cublasLtMatmulDesc_t product = nullptr;
  check(cublasLtMatmulDescCreate(&product, compute, CUDA_R_32F), "cublasLtMatmulDescCreate");
  Product owned(product);
  // The left one lies transposed: both factors are read along K, as the tensor cores take them.
  constexpr cublasOperation_t transposed = CUBLAS_OP_T;
  check(cublasLtMatmulDescSetAttribute(product, CUBLASLT_MATMUL_DESC_TRANSA, &transposed, sizeof transposed),
        "cublasLtMatmulDescSetAttribute");
  return owned;
}

Layout layout_of(cudaDataType_t element, std::size_t rows) {
  cublasLtMatrixLayout_t layout = nullptr;
  check(cublasLtMatrixLayoutCreate(&layout, element, rows, rows, static_cast<std::int64_t>(rows)),
        "cublasLtMatrixLayoutCreate");
  return Layout(layout);
}

Preference preference_of(std::size_t workspace_bytes) {
  cublasLtMatmulPreference_t preference = nullptr;
  check(cublasLtMatmulPreferenceCreate(&preference), "cublasLtMatmulPreferenceCreate");
  Preference owned(preference);
  check(cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &workspace_bytes,
                                             sizeof workspace_bytes),
        "cublasLtMatmulPreferenceSetAttribute");
  return owned;
}

}  // namespace

std::optional<double> dense_operations(DenseElements elements, std::size_t rows, const Stream& stream,
                                       GraphTimer& timer) {
  const cudaDataType_t element = elements == DenseElements::tf32 ? CUDA_R_32F : CUDA_R_16F;
  const std::size_t bytes = rows * rows * (elements == DenseElements::tf32 ? 4 : 2);
  const CublasHandle handle;
  const Product product = product_of(elements);
  const Layout layout = layout_of(element, rows);
  const Preference preference = preference_of(handle.workspace().bytes());
  std::array<cublasLtMatmulHeuristicResult_t, most_algorithms> found = {};
  int count = 0;
  if (!is_done(cublasLtMatmulAlgoGetHeuristic(handle.get(), product.get(), layout.get(), layout.get(), layout.get(),
                                              layout.get(), preference.get(), most_algorithms, found.data(), &count))) {
    return std::nullopt;
  }
  const Buffer factors(bytes);
  const Buffer result(bytes);
  check(cudaMemsetAsync(factors.as<void>(), 0, bytes, stream.get()), "cudaMemsetAsync");
  double least = std::numeric_limits<double>::infinity();
  for (int number = 0; number < count; ++number) {
    const cublasLtMatmulHeuristicResult_t& heuristic = found[static_cast<std::size_t>(number)];
    if (!is_done(heuristic.state)) {
      continue;
    }
    const Timing times = timer.measure(
        [&](cudaStream_t into, std::size_t) {
          const float one = 1;
          const float zero = 0;
          check(cublasLtMatmul(handle.get(), product.get(), &one, factors.as<void>(), layout.get(), factors.as<void>(),
                               layout.get(), &zero, result.as<void>(), layout.get(), result.as<void>(), layout.get(),
                               &heuristic.algo, handle.workspace().as<void>(), handle.workspace().bytes(), into),
                "cublasLtMatmul");
        },
        timing);
    least = std::min(least, std::ranges::min(times.samples));
  }
  const auto side = static_cast<double>(rows);
  return count == 0 || least == std::numeric_limits<double>::infinity() ? std::nullopt
                                                                        : std::optional(2 * side * side * side / least);
}

}  // namespace esc::gpu

// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/epilogue_peers.h"

#include <cublasLt.h>
#include <fmt/format.h>

#include <array>
#include <memory>

#include "tuner/gpu/device.h"
#include "tuner/gpu/rtc_build.h"

namespace esc::bench {
namespace {

constexpr int most_algorithms = 8;
constexpr std::uint64_t quad = 4;
constexpr unsigned int threads = 256;

constexpr const char* bias_relu_text = R"(
extern "C" __global__ void bias_relu(float4* c, const float* bias, unsigned int quads, unsigned int quads_of_row) {
  const unsigned int at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at < quads) {
    const float b = bias[at / quads_of_row];
    float4 x = c[at];
    x.x = x.x + b < 0 ? 0 : x.x + b;
    x.y = x.y + b < 0 ? 0 : x.y + b;
    x.z = x.z + b < 0 ? 0 : x.z + b;
    x.w = x.w + b < 0 ? 0 : x.w + b;
    c[at] = x;
  }
}
)";

void check(cublasStatus_t status, const char* call) {
  if (status != CUBLAS_STATUS_SUCCESS) {
    throw gpu::DeviceError(call, cublasLtGetStatusString(status));
  }
}

struct Release {
  void operator()(cublasLtMatmulDesc_t product) const { static_cast<void>(cublasLtMatmulDescDestroy(product)); }
  void operator()(cublasLtMatrixLayout_t layout) const { static_cast<void>(cublasLtMatrixLayoutDestroy(layout)); }
  void operator()(cublasLtMatmulPreference_t preference) const {
    static_cast<void>(cublasLtMatmulPreferenceDestroy(preference));
  }
};
template <typename Handle>
using Owned = std::unique_ptr<std::remove_pointer_t<Handle>, Release>;

Owned<cublasLtMatrixLayout_t> layout(std::int64_t rows, std::int64_t columns, cublasLtOrder_t order) {
  cublasLtMatrixLayout_t made = nullptr;
  const std::int64_t leading = order == CUBLASLT_ORDER_ROW ? columns : rows;
  check(cublasLtMatrixLayoutCreate(&made, CUDA_R_32F, static_cast<std::uint64_t>(rows),
                                   static_cast<std::uint64_t>(columns), leading),
        "cublasLtMatrixLayoutCreate");
  Owned<cublasLtMatrixLayout_t> owned(made);
  check(cublasLtMatrixLayoutSetAttribute(made, CUBLASLT_MATRIX_LAYOUT_ORDER, &order, sizeof order),
        "cublasLtMatrixLayoutSetAttribute");
  return owned;
}

template <typename Value>
void set(cublasLtMatmulDesc_t product, cublasLtMatmulDescAttributes_t attribute, const Value& value) {
  check(cublasLtMatmulDescSetAttribute(product, attribute, &value, sizeof value), "cublasLtMatmulDescSetAttribute");
}

/// What describes the layer to the library. Its bias has an element for each row of the result, as it is described: so
/// activations in rows of n are described as row-major matrices, others as column-major ones, with A transposed.
struct Description {
  Description(const DenseLayer& layer, Activations activations, std::size_t workspace_bytes) {
    const bool rows = activations == Activations::kn;
    const cublasLtOrder_t order = rows ? CUBLASLT_ORDER_ROW : CUBLASLT_ORDER_COL;
    cublasLtMatmulDesc_t made = nullptr;
    check(cublasLtMatmulDescCreate(&made, CUBLAS_COMPUTE_32F, CUDA_R_32F), "cublasLtMatmulDescCreate");
    product.reset(made);
    set(made, CUBLASLT_MATMUL_DESC_TRANSA, rows ? CUBLAS_OP_N : CUBLAS_OP_T);
    set(made, CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_RELU_BIAS);
    set(made, CUBLASLT_MATMUL_DESC_BIAS_POINTER, layer.bias);
    a = rows ? layout(layer.m, layer.k, order) : layout(layer.k, layer.m, order);
    b = layout(layer.k, layer.n, order);
    c = layout(layer.m, layer.n, order);
    cublasLtMatmulPreference_t wanted = nullptr;
    check(cublasLtMatmulPreferenceCreate(&wanted), "cublasLtMatmulPreferenceCreate");
    preference.reset(wanted);
    check(cublasLtMatmulPreferenceSetAttribute(wanted, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &workspace_bytes,
                                               sizeof workspace_bytes),
          "cublasLtMatmulPreferenceSetAttribute");
  }

  Owned<cublasLtMatmulDesc_t> product;
  Owned<cublasLtMatrixLayout_t> a;
  Owned<cublasLtMatrixLayout_t> b;
  Owned<cublasLtMatrixLayout_t> c;
  Owned<cublasLtMatmulPreference_t> preference;
};

class FusedProduct : public gpu::PeerProduct {
 public:
  FusedProduct(const gpu::CublasHandle& handle, const DenseLayer& layer, std::shared_ptr<const Description> description,
               const cublasLtMatmulAlgo_t& algorithm)
      : handle_(handle), layer_(layer), description_(std::move(description)), algorithm_(algorithm) {}

  void launch(cudaStream_t stream, std::size_t /*copy*/) override {
    const float one = 1;
    const float zero = 0;
    check(cublasLtMatmul(handle_.get(), description_->product.get(), &one, layer_.a, description_->a.get(), layer_.b,
                         description_->b.get(), &zero, layer_.c, description_->c.get(), layer_.c, description_->c.get(),
                         &algorithm_, handle_.workspace().as<void>(), handle_.workspace().bytes(), stream),
          "cublasLtMatmul");
  }

 private:
  const gpu::CublasHandle& handle_;
  DenseLayer layer_;
  std::shared_ptr<const Description> description_;
  cublasLtMatmulAlgo_t algorithm_;
};

}  // namespace

gpu::Peer fused_cublas_peer(const gpu::CublasHandle& handle, const DenseLayer& layer, Activations activations,
                            double tolerance) {
  gpu::Peer peer{.name = activations == Activations::kn ? "cublas-fused-kn" : "cublas-fused-nk",
                 .tolerance = tolerance,
                 .a_bytes = sizeof(float) * static_cast<std::size_t>(layer.m * layer.k),
                 .algorithms = {},
                 .problem = {}};
  try {
    const auto description = std::make_shared<const Description>(layer, activations, handle.workspace().bytes());
    std::array<cublasLtMatmulHeuristicResult_t, most_algorithms> found = {};
    int count = 0;
    check(cublasLtMatmulAlgoGetHeuristic(handle.get(), description->product.get(), description->a.get(),
                                         description->b.get(), description->c.get(), description->c.get(),
                                         description->preference.get(), most_algorithms, found.data(), &count),
          "cublasLtMatmulAlgoGetHeuristic");
    for (int number = 0; number < count; ++number) {
      const cublasLtMatmulHeuristicResult_t heuristic = found[static_cast<std::size_t>(number)];
      peer.algorithms.push_back(
          {fmt::format("heuristic {}", number),
           [&handle, layer, description, heuristic](std::size_t /*copies*/) -> std::unique_ptr<gpu::PeerProduct> {
             check(heuristic.state, "cublasLtMatmulAlgoGetHeuristic");
             return std::make_unique<FusedProduct>(handle, layer, description, heuristic.algo);
           }});
    }
  } catch (const gpu::DeviceError& error) {
    if (!gpu::still_works()) {
      throw;
    }
    peer.problem = error.what();
  }
  return peer;
}

BiasReluKernel::BiasReluKernel(int architecture)
    : kernels_(gpu::build({bias_relu_text, {"bias_relu"}, architecture})) {}

void BiasReluKernel::launch(float* c, const float* bias, std::int64_t rows, std::int64_t n, cudaStream_t stream) const {
  auto quads_of_row = static_cast<unsigned int>(static_cast<std::uint64_t>(n) / quad);
  auto quads = static_cast<unsigned int>(rows) * quads_of_row;
  void* arguments[] = {&c, &bias, &quads, &quads_of_row};
  gpu::launch(kernels_.function(0), {.grid_x = (quads + threads - 1) / threads, .threads = threads}, gpu::Edge::plain,
              arguments, stream);
}

}  // namespace esc::bench

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "tests/bench/activations.h"
#include "tuner/gpu/cublas_peer.h"
#include "tuner/gpu/launch.h"
#include "tuner/gpu/peer.h"
#include "tuner/gpu/product_bench.h"

namespace esc::bench {

/// What cuBLASLt reads for C = relu(A x B + bias), on the device. A is dense and row-major.
struct DenseLayer {
  const float* a = nullptr;
  const float* b = nullptr;
  const float* bias = nullptr;  ///< a number for each row of A
  float* c = nullptr;
  std::int64_t m = 0;
  std::int64_t k = 0;
  std::int64_t n = 0;
};

/// cuBLASLt in float32 with bias and ReLU as its own epilogue, with up to 8 algorithms that it recommends. It has none
/// where it does not know that epilogue for the layout. `handle` must outlive it.
gpu::Peer fused_cublas_peer(const gpu::CublasHandle& handle, const DenseLayer& layer, Activations activations,
                            double tolerance);

/// relu(C + bias) in a launch of its own, in place.
class BiasReluKernel {
 public:
  explicit BiasReluKernel(int architecture);
  /// C has n columns, a multiple of 4, without gaps between its rows. Throws DeviceError.
  void launch(float* c, const float* bias, std::int64_t rows, std::int64_t n, cudaStream_t stream) const;

 private:
  gpu::LoadedKernels kernels_;
};

}  // namespace esc::bench

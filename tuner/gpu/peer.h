// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace esc::gpu {

/// One algorithm of a library, made for one product and ready to be launched and captured.
class PeerProduct {
 public:
  virtual ~PeerProduct() = default;
  virtual void launch(cudaStream_t stream, std::size_t copy) = 0;
};

/// One algorithm of a peer.
struct PeerAlgorithm {
  std::string name;
  /// Makes it for so many copies of the operands. Throws DeviceError.
  std::function<std::unique_ptr<PeerProduct>(std::size_t copies)> make;
};

/// Someone else's way to compute the same product, with all the algorithms that it offers for it.
struct Peer {
  /// "cublas-fp64", "cublas-fp32", "cublas-tf32", "cublas-f16", "cublas-bf16", "cusparse", "cusparselt" or another.
  std::string name;
  std::string library = {};  ///< whose it is, with its version
  bool exact = false;        ///< whether it has factors as the elements are, and sums in float32 or float64
  double tolerance = 0;      ///< relative Frobenius error that it may have
  std::size_t a_bytes = 0;   ///< of its form of A
  std::vector<PeerAlgorithm> algorithms;
  std::string problem;  ///< why there are none
};

}  // namespace esc::gpu

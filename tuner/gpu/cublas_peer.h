// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cublasLt.h>

#include <memory>
#include <string>
#include <vector>

#include "tuner/gpu/device.h"
#include "tuner/gpu/peer.h"
#include "tuner/gpu/product_bench.h"

namespace esc::gpu {

/// Throws DeviceError, with the call's name, for every status but success.
void check(cublasStatus_t status, const char* call);

/// cuBLASLt and the workspace that its products share, one after the other.
class CublasHandle {
 public:
  CublasHandle();
  CublasHandle(const CublasHandle&) = delete;
  CublasHandle& operator=(const CublasHandle&) = delete;
  ~CublasHandle();

  cublasLtHandle_t get() const { return handle_; }
  const Buffer& workspace() const { return workspace_; }
  std::string version() const;

 private:
  cublasLtHandle_t handle_ = nullptr;
  Buffer workspace_;
};

/// The names of its peers for elements of a type: the exact one, and the one of TF32 where there is one.
std::vector<std::string> cublas_names(ScalarType element);

/// The dense product, as float32 and as TF32 or, of elements of 16 bits, with sums in float32; with up to 16 algorithms
/// each that cuBLASLt recommends.
std::vector<Peer> cublas_peers(const CublasHandle& handle, const ProductBench& bench);

}  // namespace esc::gpu

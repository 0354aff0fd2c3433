// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cusparse.h>

#include <string>

#include "tuner/gpu/peer.h"
#include "tuner/gpu/product_bench.h"

namespace esc::gpu {

/// cuSPARSE, with its scalars on the host.
class CusparseHandle {
 public:
  CusparseHandle();
  CusparseHandle(const CusparseHandle&) = delete;
  CusparseHandle& operator=(const CusparseHandle&) = delete;
  ~CusparseHandle();

  cusparseHandle_t get() const { return handle_; }
  std::string version() const;

 private:
  cusparseHandle_t handle_ = nullptr;
};

/// The product of a CSR matrix and a row-major dense one, each algorithm after its preprocessing; for one column of B
/// also the product with a vector.
Peer cusparse_peer(const CusparseHandle& handle, const ProductBench& bench);

}  // namespace esc::gpu

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "tuner/gpu/peer.h"
#include "tuner/gpu/product_bench.h"

namespace esc::gpu {

inline constexpr const char* cusparselt_name = "cusparselt";

/// cuSPARSELt, which is no part of the CUDA toolkit: it is loaded where the program was built with its header and this
/// machine has the library.
class CusparseLt {
 public:
  CusparseLt();
  CusparseLt(const CusparseLt&) = delete;
  CusparseLt& operator=(const CusparseLt&) = delete;
  ~CusparseLt();

  /// Why it cannot be asked for a product; empty where it can.
  const std::string& absence() const { return absence_; }
  /// "0.10.0", where it is not absent.
  std::string version() const;

  struct Context;
  const Context& context() const { return *context_; }

 private:
  std::unique_ptr<const Context> context_;
  std::string absence_;
};

/// The product with A compressed for the sparse tensor cores, for matrices whose rows have their structure; each of the
/// library's algorithms for it, and what its own search finds. Of float32 its factors are rounded to TF32. The library
/// is not absent; it and the bench outlive the peer.
Peer cusparselt_peer(const CusparseLt& library, const ProductBench& bench);

}  // namespace esc::gpu

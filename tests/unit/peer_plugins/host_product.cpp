// SPDX-License-Identifier: Apache-2.0
// A library for --peer that computes with the host's processor, in float32: from CSR or, as its second algorithm, from
// dense.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tests/bench/peer_plugin_interface.h"

namespace {

/// What `make` keeps of a product.
struct Product {
  std::int64_t m = 0;
  std::int64_t k = 0;
  std::int64_t n = 0;
  std::vector<float> dense;
};

const char* algorithm_name(std::int32_t algorithm) { return algorithm == 0 ? "from CSR" : "from dense"; }

const char* make(const esc_peer_product* product, std::int32_t algorithm, void** made) {
  if (product->n % 2 != 0) {
    return "N must be a multiple of 2";
  }
  auto* const kept = new Product{product->m, product->k, product->n, {}};
  kept->dense.resize(static_cast<std::size_t>(product->m * product->k));
  if (algorithm == 1) {
    const auto* const dense = static_cast<const float*>(product->dense);
    kept->dense.assign(dense, dense + kept->dense.size());
  } else {
    for (std::int64_t row = 0; row < product->m; ++row) {
      for (std::int32_t at = product->offsets[row]; at < product->offsets[row + 1]; ++at) {
        kept->dense[static_cast<std::size_t>(row * product->k + product->columns[at])] =
            static_cast<const float*>(product->values)[at];
      }
    }
  }
  *made = kept;
  return nullptr;
}

const char* launch(void* made, const void* b, void* c, void* stream) {
  if (stream != nullptr) {
    return "a processor has no streams";
  }
  const Product& product = *static_cast<const Product*>(made);
  for (std::int64_t row = 0; row < product.m; ++row) {
    for (std::int64_t column = 0; column < product.n; ++column) {
      float sum = 0;
      for (std::int64_t k = 0; k < product.k; ++k) {
        sum += product.dense[static_cast<std::size_t>(row * product.k + k)] *
               static_cast<const float*>(b)[k * product.n + column];
      }
      static_cast<float*>(c)[row * product.n + column] = sum;
    }
  }
  return nullptr;
}

void release(void* made) { delete static_cast<Product*>(made); }

const esc_peer kernels{.name = "host-product",
                       .elements = ESC_PEER_F32,
                       .exact = ESC_PEER_F32,
                       .layout = ESC_PEER_LAYOUT_KN,
                       .wants_dense = 1,
                       .algorithms = 2,
                       .algorithm_name = algorithm_name,
                       .make = make,
                       .launch = launch,
                       .release = release};

}  // namespace

std::int32_t esc_peer_interface_version() { return ESC_PEER_INTERFACE_VERSION; }
const esc_peer* esc_peer_describe() { return &kernels; }

// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/plugin_peer.h"

#include <algorithm>
#include <vector>

#include "generator/support/error.h"
#include "generator/verify/reference.h"
#include "tests/bench/plugin_operands.h"

namespace esc::bench {
namespace {

/// One algorithm, made anew for each copy of the operands, so that A lies in memory as often as they do.
class PluginProduct : public gpu::PeerProduct {
 public:
  PluginProduct(std::shared_ptr<const PeerPlugin> plugin, const gpu::ProductBench& bench,
                const PluginOperands& operands, std::int32_t algorithm, std::size_t copies)
      : plugin_(std::move(plugin)), bench_(bench) {
    const esc_peer_product product = operands.product();
    try {
      for (std::size_t copy = 0; copy < copies; ++copy) {
        void* made = nullptr;
        require(plugin_->kernels().make(&product, algorithm, &made), "make");
        made_.push_back(made);
      }
      // The library may have used any stream.
      gpu::check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    } catch (...) {
      release();
      throw;
    }
  }
  PluginProduct(const PluginProduct&) = delete;
  PluginProduct& operator=(const PluginProduct&) = delete;
  ~PluginProduct() override { release(); }

  void launch(cudaStream_t stream, std::size_t copy) override {
    require(plugin_->kernels().launch(made_[copy], bench_.b(copy), bench_.c(copy), stream), "launch");
  }

 private:
  void require(const char* problem, const char* call) const {
    if (problem != nullptr) {
      throw gpu::DeviceError(plugin_->name() + " " + call, problem);
    }
  }
  void release() {
    for (void* const made : made_) {
      plugin_->kernels().release(made);
    }
  }

  std::shared_ptr<const PeerPlugin> plugin_;
  const gpu::ProductBench& bench_;
  std::vector<void*> made_;
};

}  // namespace

bool wants_transposed(const PeerPlugin& plugin) { return plugin.kernels().layout == ESC_PEER_LAYOUT_NK; }

gpu::Peer plugin_peer(const std::shared_ptr<const PeerPlugin>& plugin, const gpu::ProductBench& bench) {
  ESC_CHECK(bench.is_plain() && bench.is_transposed() == wants_transposed(*plugin), "B and C lie as the library wants");
  const esc_peer& kernels = plugin->kernels();
  const SparseMatrix& matrix = bench.matrix();
  gpu::Peer peer{
      .name = plugin->name(), .library = plugin->name(), .algorithms = {}, .problem = plugin_problem(kernels, matrix)};
  if (!peer.problem.empty()) {
    return peer;
  }
  peer.exact = (kernels.exact & plugin_element(matrix.element)) != 0;
  peer.tolerance = peer.exact ? bench.tolerance() : std::max(bench.tolerance(), tf32_tolerance);
  const auto operands = std::make_shared<const PluginOperands>(kernels, matrix, bench.columns());
  // It may keep A in any form; the values at least it reads, and of more copies than are needed none is in a cache.
  peer.a_bytes = operands->value_bytes();
  for (std::int32_t algorithm = 0; algorithm < kernels.algorithms; ++algorithm) {
    peer.algorithms.push_back(
        {kernels.algorithm_name(algorithm), [plugin, &bench, operands, algorithm](std::size_t copies) {
           return std::make_unique<PluginProduct>(plugin, bench, *operands, algorithm, copies);
         }});
  }
  return peer;
}

}  // namespace esc::bench

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "tuner/device/device_protocol.h"
#include "tuner/gpu/device.h"
#include "tuner/gpu/graph_timer.h"
#include "tuner/gpu/launch.h"
#include "tuner/gpu/peers.h"
#include "tuner/gpu/product_bench.h"
#include "tuner/gpu/sm_clock.h"
#include "tuner/search/sampling.h"

namespace esc::tuning {

/// The first GPU of this process, measured as a captured model runs it: launches in CUDA graphs.
class GpuDevice final : public MeasuringDevice {
 public:
  /// Throws UserError (status missing_tool) when there is none that can be used.
  GpuDevice();
  ~GpuDevice() override;

  DeviceDescription describe() override;
  DeviceRates measure_rates() override;
  void open(const ProductQuestion& product) override;
  std::vector<Measurement> measure_peers() override;
  Measurement measure(const KernelQuestion& kernel, const StopRule& rule, OccupancyCuts cuts) override;
  Measurement add_finalist(const KernelQuestion& kernel) override;
  std::vector<double> run_round(Edge edge) override;
  bool works() override { return works_; }

 private:
  class Kernel;
  struct Finalist;

  /// Runs `work` on a measurement; what fails becomes its outcome.
  Measurement guarded(const std::function<void(Measurement&)>& work);
  std::size_t copies(std::size_t bytes_of_a) const;
  Batch batch(gpu::GraphTimer& timer) const;

  gpu::DeviceFacts facts_;
  gpu::Stream stream_;
  gpu::SmClock clock_;
  gpu::GraphTimer timer_;
  ThrottleGuard guard_;
  std::optional<gpu::PeerLibraries> libraries_;
  std::optional<ProductQuestion> product_;
  std::optional<gpu::ProductBench> bench_;
  std::vector<std::unique_ptr<Finalist>> finalists_;
  std::size_t rounds_ = 0;
  bool works_ = true;
};

}  // namespace esc::tuning

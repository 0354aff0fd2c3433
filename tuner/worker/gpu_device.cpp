// SPDX-License-Identifier: Apache-2.0
#include "tuner/worker/gpu_device.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <span>
#include <utility>

#include "generator/emit/layer.h"
#include "tuner/gpu/microbenchmarks.h"
#include "tuner/space/cuts.h"

namespace esc::tuning {
namespace {

/// A sample is the mean of so many launches at least.
constexpr std::size_t launches_of_sample = 20;
constexpr int replays_of_batch = 2;
constexpr gpu::TimingOptions quick_peer{.launches = launches_of_sample, .warmups = 1, .replays = 7};
constexpr gpu::TimingOptions thorough_peer{.launches = launches_of_sample, .warmups = 2, .replays = 21};

/// "13.0" for 13000, as CUDA counts.
std::string version_text(int version) { return fmt::format("{}.{}", version / 1000, version % 1000 / 10); }

gpu::Edge edge_of(Edge edge) { return edge == Edge::chain ? gpu::Edge::programmatic : gpu::Edge::plain; }

std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

/// To a tenth of a nanosecond: what is finer is noise, and takes room in the records.
std::vector<double> rounded(std::vector<double> microseconds) {
  for (double& time : microseconds) {
    time = std::round(time * 1e4) / 1e4;
  }
  return microseconds;
}

}  // namespace

/// A kernel on the device, with the copies of its packed matrix.
class GpuDevice::Kernel {
 public:
  Kernel(const GpuDevice& device, const KernelQuestion& question)
      : bench_(*device.bench_),
        rows_(device.product_->matrix.rows),
        copies_(device.copies(question.packed.size())),
        loaded_(std::make_shared<const gpu::LoadedKernels>(question.cubin)),
        launch_(loaded_, question.plan),
        packed_(bytes_of(question.packed), copies_) {}

  std::size_t copies() const { return copies_; }
  bool can_chain() const { return launch_.plan().programmatic; }

  gpu::Launch launch(Edge edge) const {
    return [this, edge = can_chain() ? edge : Edge::plain](cudaStream_t stream, std::size_t copy) {
      launch_({.packed = packed_.at<void>(copy),
               .b = bench_.b(copy),
               .c = bench_.c(copy),
               .element_bytes = static_cast<std::size_t>(bytes_of(bench_.element())),
               .rows = rows_,
               .n = bench_.columns(),
               .ldb = bench_.ldb(),
               .ldc = bench_.ldc(),
               .epilogue = bench_.epilogue()},
              edge_of(edge), stream);
    };
  }

  KernelFacts facts(std::size_t packed_bytes) const {
    cudaFuncAttributes attributes = {};
    gpu::check(cudaFuncGetAttributes(&attributes, loaded_->function(0)), "cudaFuncGetAttributes");
    const LaunchPlan& plan = launch_.plan();
    return {.registers = attributes.numRegs,
            .shared_bytes = static_cast<int>(attributes.sharedSizeBytes + plan.shared_bytes),
            .local_bytes = static_cast<int>(attributes.localSizeBytes),
            .threads = static_cast<int>(plan.threads),
            .blocks = std::int64_t{plan.grid_x} * plan.grid_y,
            .packed_bytes = static_cast<std::int64_t>(packed_bytes)};
  }

 private:
  const gpu::ProductBench& bench_;
  std::int64_t rows_;
  std::size_t copies_;
  std::shared_ptr<const gpu::LoadedKernels> loaded_;
  gpu::LayerLaunch launch_;
  gpu::Copies packed_;
};

/// A kernel with the graphs in which it is launched by either edge.
struct GpuDevice::Finalist {
  Finalist(const GpuDevice& device, const KernelQuestion& question)
      : kernel(device, question), plain(device.stream_), chain(device.stream_) {}

  gpu::GraphTimer& timer(Edge edge) { return edge == Edge::chain ? chain : plain; }

  Kernel kernel;
  gpu::GraphTimer plain;
  gpu::GraphTimer chain;
};

GpuDevice::GpuDevice() : facts_(gpu::open_device()), clock_(facts_.bus_id), timer_(stream_) {}
GpuDevice::~GpuDevice() = default;

DeviceDescription GpuDevice::describe() {
  return {.key = {facts_.architecture, facts_.multiprocessors, facts_.l2_bytes},
          .environment = {.tool = tool_version,
                          .toolkit = version_text(facts_.runtime_version),
                          .device_name = facts_.name,
                          .driver = version_text(facts_.driver_version)}};
}

DeviceRates GpuDevice::measure_rates() {
  finalists_.clear();
  bench_.reset();
  return gpu::measure_rates(facts_, stream_, timer_);
}

void GpuDevice::open(const ProductQuestion& product) {
  finalists_.clear();
  bench_.reset();
  product_ = product;
  bench_.emplace(product_->matrix, product_->bcol, stream_,
                 product_->cache == CacheState::cold ? 2 * facts_.l2_bytes : 0, product_->nest);
  gpu::wake(stream_);
}

std::size_t GpuDevice::copies(std::size_t bytes_of_a) const {
  return product_->cache == CacheState::cold ? bench_->cold_copies(bytes_of_a) : 1;
}

Batch GpuDevice::batch(gpu::GraphTimer& timer) const {
  // While the replays run: an idle device lowers its clock.
  const int clock = clock_.megahertz();
  return {.microseconds = rounded(timer.finish().samples), .clock_megahertz = clock};
}

Measurement GpuDevice::guarded(const std::function<void(Measurement&)>& work) {
  Measurement measurement;
  try {
    work(measurement);
  } catch (const gpu::DeviceError& problem) {
    measurement.outcome = problem.asks_for_too_much() ? Outcome::skipped_by_limit : Outcome::launch_failed;
    measurement.detail = problem.what();
    measurement.samples.clear();
    works_ = gpu::still_works();
  }
  return measurement;
}

std::vector<Measurement> GpuDevice::measure_peers() {
  if (!libraries_) {
    libraries_.emplace();
  }
  const bool cold = product_->cache == CacheState::cold;
  std::vector<Measurement> measurements;
  for (const gpu::Peer& peer : libraries_->peers_for(*bench_)) {
    const gpu::PeerResult result =
        gpu::measure_peer(peer, *bench_, timer_, {.attempt = quick_peer, .best = thorough_peer, .cold = cold});
    Measurement measurement{.candidate = peer.name, .builder = peer.library};
    if (result.best && (!cold || result.best_cold)) {
      measurement.algorithm = result.best->algorithm;
      measurement.error = result.best->error;
      measurement.samples = rounded(cold ? result.best_cold->samples : result.best->timing.samples);
      measurement.clock_megahertz = clock_.megahertz();
    } else {
      measurement.outcome = peer.algorithms.empty() ? Outcome::skipped_by_limit : Outcome::launch_failed;
      measurement.detail = result.attempts.back().problem;
    }
    measurements.push_back(std::move(measurement));
  }
  return measurements;
}

Measurement GpuDevice::measure(const KernelQuestion& question, const StopRule& rule, OccupancyCuts cuts) {
  return guarded([&](Measurement& measurement) {
    const Kernel kernel(*this, question);
    measurement.kernel = kernel.facts(question.packed.size());
    if (cuts == OccupancyCuts::on) {
      if (const auto reason = occupancy_cut(parse_schedule(question.schedule), *measurement.kernel, describe().key)) {
        measurement.outcome = Outcome::skipped_by_limit;
        measurement.detail = *reason;
        return;
      }
    }
    const gpu::Launch launch = kernel.launch(Edge::plain);
    const TypedElements result = bench_->result_of(launch);
    // The device times the first launches while the host compares the result.
    timer_.start(launch, {.launches = launches_of_sample, .warmups = 1, .replays = rule.least}, kernel.copies());
    const int clock = clock_.megahertz();
    const gpu::Judgement judgement = bench_->judge(result, bench_->tolerance());
    std::optional<Batch> first = Batch{rounded(timer_.finish().samples), clock};
    measurement.error = judgement.error;
    if (!judgement.right()) {
      measurement.outcome = Outcome::wrong_result;
      measurement.detail = judgement.problem;
      return;
    }
    const Sampling sampling = take_samples(rule, timer_.launches(), guard_, [&] {
      if (first) {
        return *std::exchange(first, std::nullopt);
      }
      timer_.start_more(replays_of_batch);
      return batch(timer_);
    });
    measurement.samples = sampling.samples;
    measurement.clock_megahertz = sampling.clock_megahertz;
    if (measurement.samples.empty()) {
      measurement.outcome = Outcome::timed_out;
      measurement.detail = "the device ran at a lower clock all the time";
    }
  });
}

Measurement GpuDevice::add_finalist(const KernelQuestion& question) {
  return guarded([&](Measurement& measurement) {
    auto finalist = std::make_unique<Finalist>(*this, question);
    measurement.kernel = finalist->kernel.facts(question.packed.size());
    const double tolerance = bench_->tolerance();
    const auto judge = [&](const TypedElements& result, const std::string& how) {
      const gpu::Judgement judgement = bench_->judge(result, tolerance);
      measurement.error = std::max(measurement.error, judgement.error);
      if (!judgement.right()) {
        measurement.outcome = Outcome::wrong_result;
        measurement.detail = how + judgement.problem;
      }
    };
    const TypedElements alone = bench_->result_of(finalist->kernel.launch(Edge::plain));
    judge(alone, "");
    // Launches that may overlap must leave the same C; which needs a comparison only where its bits differ.
    const gpu::Launch chain = finalist->kernel.launch(Edge::chain);
    const TypedElements overlapped = bench_->result_of([&](cudaStream_t stream, std::size_t copy) {
      chain(stream, copy);
      chain(stream, copy);
    });
    if (!(alone == overlapped)) {
      judge(overlapped, "launched in a chain: ");
    }
    if (measurement.outcome != Outcome::ok) {
      return;
    }
    for (const Edge edge : {Edge::plain, Edge::chain}) {
      gpu::GraphTimer& timer = finalist->timer(edge);
      timer.start(finalist->kernel.launch(edge), {.launches = launches_of_sample, .warmups = 1, .replays = 1},
                  finalist->kernel.copies());
      static_cast<void>(timer.finish());
    }
    finalists_.push_back(std::move(finalist));
  });
}

std::vector<double> GpuDevice::run_round(Edge edge) {
  std::vector<double> times(finalists_.size());
  const std::size_t first = rounds_++;
  for (std::size_t turn = 0; turn < finalists_.size(); ++turn) {
    const std::size_t place = (first + turn) % finalists_.size();
    gpu::GraphTimer& timer = finalists_[place]->timer(edge);
    // The first replay brings the kernel back into the caches that the one before it has used.
    timer.start_more(2);
    times[place] = timer.finish().samples.back();
  }
  return rounded(times);
}

}  // namespace esc::tuning

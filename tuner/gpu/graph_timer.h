// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include "tuner/gpu/device.h"

namespace esc::gpu {

/// Puts one launch of what is measured into the stream, on the given copy of its operands.
using Launch = std::function<void(cudaStream_t stream, std::size_t copy)>;

struct TimingOptions {
  std::size_t launches = 20;  ///< in a graph, at least
  int warmups = 1;            ///< replays before those that are timed, at least 1
  int replays = 7;            ///< that are timed
};

/// Time of one launch.
struct Timing {
  double microseconds = 0;           ///< median of the replays
  double spread = 0;                 ///< how far the middle half of the replays reaches, relative to the median
  std::vector<double> samples = {};  ///< of the replays, in their order
  bool operator==(const Timing&) const = default;
};

/// The median of some replays' times and their spread; at least one.
Timing timing_of(std::vector<double> microseconds);

/// Times launches inside a CUDA graph, which is how a captured model runs them. The graph goes over the copies in turn,
/// so often that all occur equally often.
class GraphTimer {
 public:
  explicit GraphTimer(const Stream& stream) : stream_(stream) {}

  /// Captures the launches and puts all replays into the stream, with events between them, without waiting: the host
  /// can do something else meanwhile. The replays follow each other, so that none waits for the host. Whatever the
  /// launches read and write must live until `finish`. Throws DeviceError.
  void start(const Launch& launch, const TimingOptions& options, std::size_t copies = 1);
  /// Puts so many more replays of the same launches into the stream, as `start` does.
  void start_more(int replays);
  /// Waits for the replays of the last `start` or `start_more`. Throws DeviceError for an error of any of them.
  Timing finish();
  /// How many launches a replay's time is the mean of.
  std::size_t launches() const { return launches_; }

  Timing measure(const Launch& launch, const TimingOptions& options, std::size_t copies = 1) {
    start(launch, options, copies);
    return finish();
  }

 private:
  /// A graph, ready to run.
  class Replay {
   public:
    Replay(const Stream& stream, const Launch& launch, std::size_t launches, std::size_t copies);
    Replay(const Replay&) = delete;
    Replay& operator=(const Replay&) = delete;
    ~Replay();
    void run(const Stream& stream) const { check(cudaGraphLaunch(graph_, stream.get()), "cudaGraphLaunch"); }

   private:
    cudaGraphExec_t graph_ = nullptr;
  };

  const Stream& stream_;
  std::vector<Event> events_;
  std::size_t launches_ = 0;
  int replays_ = 0;
  std::optional<Replay> replay_;
};

}  // namespace esc::gpu

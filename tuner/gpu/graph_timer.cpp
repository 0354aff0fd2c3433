// SPDX-License-Identifier: Apache-2.0
#include "tuner/gpu/graph_timer.h"

#include <utility>

#include "generator/support/error.h"
#include "generator/support/means.h"

namespace esc::gpu {
namespace {

/// The graph of what `fill` puts into the stream.
cudaGraph_t capture(const Stream& stream, const std::function<void()>& fill) {
  check(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture");
  cudaGraph_t graph = nullptr;
  try {
    fill();
  } catch (...) {
    // The stream shall be usable again; what went wrong is already on its way.
    if (cudaStreamEndCapture(stream.get(), &graph) == cudaSuccess && graph != nullptr) {
      static_cast<void>(cudaGraphDestroy(graph));
    }
    static_cast<void>(cudaGetLastError());
    throw;
  }
  check(cudaStreamEndCapture(stream.get(), &graph), "cudaStreamEndCapture");
  return graph;
}

}  // namespace

Timing timing_of(std::vector<double> microseconds) {
  ESC_CHECK(!microseconds.empty(), "there is a replay to take the time of");
  return {median(microseconds), relative_spread(microseconds), std::move(microseconds)};
}

GraphTimer::Replay::Replay(const Stream& stream, const Launch& launch, std::size_t launches, std::size_t copies) {
  const cudaGraph_t graph = capture(stream, [&] {
    for (std::size_t number = 0; number < launches; ++number) {
      launch(stream.get(), number % copies);
    }
  });
  const cudaError_t status = cudaGraphInstantiate(&graph_, graph, 0);
  static_cast<void>(cudaGraphDestroy(graph));
  check(status, "cudaGraphInstantiate");
}

GraphTimer::Replay::~Replay() { static_cast<void>(cudaGraphExecDestroy(graph_)); }

void GraphTimer::start(const Launch& launch, const TimingOptions& options, std::size_t copies) {
  ESC_CHECK(copies > 0 && options.replays > 0 && options.warmups > 0, "there is something to time");
  launches_ = (options.launches + copies - 1) / copies * copies;
  replay_.emplace(stream_, launch, launches_, copies);
  for (int warmup = 0; warmup < options.warmups; ++warmup) {
    replay_->run(stream_);
  }
  start_more(options.replays);
}

void GraphTimer::start_more(int replays) {
  ESC_CHECK(replay_.has_value(), "there are launches to replay");
  replays_ = replays;
  while (events_.size() <= static_cast<std::size_t>(replays_)) {
    events_.emplace_back();
  }
  events_[0].record(stream_);
  for (int replay = 1; replay <= replays_; ++replay) {
    replay_->run(stream_);
    events_[static_cast<std::size_t>(replay)].record(stream_);
  }
}

Timing GraphTimer::finish() {
  ESC_CHECK(replay_.has_value(), "a measurement was started");
  stream_.wait();
  std::vector<double> times;
  for (std::size_t replay = 0; replay < static_cast<std::size_t>(replays_); ++replay) {
    times.push_back(events_[replay].until(events_[replay + 1]) / static_cast<double>(launches_));
  }
  return timing_of(std::move(times));
}

}  // namespace esc::gpu

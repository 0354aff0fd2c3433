// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace esc {

/// What a job of several stages is at, in a line of a terminal that is drawn over itself: with the share that is done
/// where a stage has steps, else with the time that it takes. A short job draws nothing. The line is drawn by a thread
/// of its own, so that a stage need not say that it goes on.
class StageProgress {
 public:
  using Sink = std::function<void(const std::string& text)>;  ///< where the text goes, as it is

  struct Timing {
    std::chrono::milliseconds delay{2000};    ///< before which nothing is drawn
    std::chrono::milliseconds interval{100};  ///< between two drawings
  };

  /// Without a sink nothing is drawn.
  explicit StageProgress(Sink sink = {}) : StageProgress(std::move(sink), Timing()) {}
  StageProgress(Sink sink, Timing timing);
  /// Takes the line away.
  ~StageProgress();
  StageProgress(const StageProgress&) = delete;
  StageProgress& operator=(const StageProgress&) = delete;

  /// For who has no one to tell.
  static StageProgress& silent();

  /// Takes the last stage's line away and begins another one, of so many steps; 0 where nobody knows. The terminal is
  /// the caller's for an interval.
  void begin(const std::string& stage, std::uint64_t steps = 0);
  /// So many steps of the stage were done; cheap.
  void advance(std::uint64_t steps) { done_ += steps; }
  /// So many steps of the stage were done in all; cheap.
  void reach(std::uint64_t steps) { done_ = steps; }
  /// Takes the line away: the terminal is the caller's, and nothing more is drawn.
  void finish();

 private:
  using Clock = std::chrono::steady_clock;

  void draw_until(const std::stop_token& stop);
  std::string state(Clock::time_point now) const;
  void take_line_away();

  Sink sink_;
  Timing timing_;
  Clock::time_point job_begun_ = Clock::now();
  std::atomic<std::uint64_t> done_ = 0;
  std::mutex mutex_;  ///< guards what follows, and the sink
  std::condition_variable_any wake_;
  std::string stage_;
  std::uint64_t steps_ = 0;
  Clock::time_point stage_begun_;
  bool is_drawn_ = false;
  std::jthread drawer_;  ///< last: the others outlive it
};

}  // namespace esc

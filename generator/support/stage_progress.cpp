// SPDX-License-Identifier: Apache-2.0
#include "generator/support/stage_progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include "generator/support/plain_text.h"
#include "generator/support/progress.h"

namespace esc {
namespace {

constexpr const char* erase_line = "\r\033[K";

}  // namespace

StageProgress::StageProgress(Sink sink, Timing timing) : sink_(std::move(sink)), timing_(timing) {
  if (!sink_) {
    return;
  }
  try {
    drawer_ = std::jthread([this](const std::stop_token& stop) { draw_until(stop); });
  } catch (const std::system_error&) {
    sink_ = {};  // a machine without a thread to spare does the job unwatched
  }
}

StageProgress::~StageProgress() { finish(); }

StageProgress& StageProgress::silent() {
  static StageProgress nobody;
  return nobody;
}

void StageProgress::begin(const std::string& stage, std::uint64_t steps) {
  if (!sink_) {
    return;
  }
  const std::lock_guard lock(mutex_);
  take_line_away();
  stage_ = plain_text(stage);
  steps_ = steps;
  done_ = 0;
  stage_begun_ = Clock::now();
}

void StageProgress::finish() {
  if (drawer_.joinable()) {
    drawer_.request_stop();
    drawer_.join();
    take_line_away();
  }
}

void StageProgress::draw_until(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    wake_.wait_for(lock, stop, timing_.interval, [] { return false; });
    const Clock::time_point now = Clock::now();
    if (!stop.stop_requested() && !stage_.empty() && now - job_begun_ >= timing_.delay &&
        now - stage_begun_ >= timing_.interval) {
      sink_(erase_line + state(now));
      is_drawn_ = true;
    }
  }
}

std::string StageProgress::state(Clock::time_point now) const {
  const double elapsed = std::chrono::duration<double>(now - stage_begun_).count();
  if (steps_ == 0) {
    return fmt::format("{}, for {}", stage_, duration_text(elapsed));
  }
  const std::uint64_t done = std::min(done_.load(), steps_);
  const double share = static_cast<double>(done) / static_cast<double>(steps_);
  std::string text = fmt::format("{} {:.0f} %", progress_bar(done, steps_), 100 * share);
  if (done > 0) {
    text += fmt::format(", {} left", duration_text(elapsed * (1 - share) / share));
  }
  return text + ": " + stage_;
}

void StageProgress::take_line_away() {
  if (is_drawn_) {
    sink_(erase_line);
    is_drawn_ = false;
  }
}

}  // namespace esc

// SPDX-License-Identifier: Apache-2.0
#include "generator/support/progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "generator/support/plain_text.h"

namespace esc {
namespace {

/// No step takes so long: what the clock goes on by beyond is a jump.
constexpr double longest_step = 3600;
constexpr std::size_t bar_width = 24;
constexpr double bar_interval = 0.1;

}  // namespace

std::string duration_text(double seconds) {
  const auto whole = static_cast<long long>(std::clamp(seconds, 0.0, 1e9));
  if (whole < 60) {
    return fmt::format("{} s", whole);
  }
  const long long minutes = whole / 60;
  return minutes < 60 ? fmt::format("{} min", minutes) : fmt::format("{} h {:02} min", minutes / 60, minutes % 60);
}

std::string progress_bar(std::uint64_t done, std::uint64_t all) {
  const double share = all == 0 ? 0 : std::min(1.0, static_cast<double>(done) / static_cast<double>(all));
  const auto full = static_cast<std::size_t>(bar_width * share);
  return fmt::format("[{}{}]", std::string(full, '#'), std::string(bar_width - full, '.'));
}

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

Progress::Progress(Sink sink, Style style, Seconds clock)
    : sink_(std::move(sink)), style_(style), clock_(std::move(clock)), last_reading_(clock_()) {}

void Progress::expect(std::size_t steps) { expected_ += steps; }

void Progress::advance(std::size_t steps, const std::string& what) {
  const double now = clock_();
  const double step = now - last_reading_;
  elapsed_ += step > 0 && step < longest_step ? step : 0;
  last_reading_ = now;
  done_ += steps;
  what_ = plain_text(what);
  const double interval = style_.terminal ? bar_interval : style_.interval;
  if (!shown_ || elapsed_ - *shown_ >= interval) {
    show(false);
  }
}

std::string Progress::state() const {
  const std::size_t all = std::max(expected_, done_);
  std::string text = fmt::format("{} of {}", done_, all);
  if (done_ > 0 && elapsed_ > 0) {
    const double rate = static_cast<double>(done_) / elapsed_;
    text += fmt::format(", {:.1f} a second, {} left", rate, duration_text(static_cast<double>(all - done_) / rate));
  }
  return what_.empty() ? text : text + ": " + what_;
}

void Progress::show(bool last) {
  shown_ = elapsed_;
  if (!style_.terminal) {
    sink_(state() + "\n");
    return;
  }
  sink_(fmt::format("\r\033[K{} {}{}", progress_bar(done_, std::max(expected_, done_)), state(), last ? "\n" : ""));
}

void Progress::say(const std::string& line) { sink_((style_.terminal ? "\r\033[K" : "") + plain_lines(line) + "\n"); }

void Progress::finish() {
  if (shown_) {
    what_.clear();
    show(true);
  }
}

}  // namespace esc

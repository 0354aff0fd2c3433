// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace esc {

/// How far a job is: on a terminal a bar that is drawn over itself, elsewhere a line now and then; with rate and time
/// left.
class Progress {
 public:
  using Seconds = std::function<double()>;                    ///< a clock; one that jumps does no harm
  using Sink = std::function<void(const std::string& text)>;  ///< where the text goes, as it is

  struct Style {
    bool terminal = false;
    double interval = 10;  ///< seconds between lines; a bar is drawn ten times a second at most
  };

  Progress(Sink sink, Style style, Seconds clock);

  /// So many steps more are to be done.
  void expect(std::size_t steps);
  /// So many steps were done; `what` is in work now.
  void advance(std::size_t steps, const std::string& what);
  /// Prints a line of its own, above the bar.
  void say(const std::string& line);
  /// The last state, and the end of the bar's line.
  void finish();

 private:
  std::string state() const;
  void show(bool last);

  Sink sink_;
  Style style_;
  Seconds clock_;
  double elapsed_ = 0;  ///< seconds, in which jumps of the clock do not count
  double last_reading_ = 0;
  std::optional<double> shown_;  ///< elapsed seconds when something was shown last
  std::size_t done_ = 0;
  std::size_t expected_ = 0;
  std::string what_;
};

/// "[######..................]" for a quarter; nothing of nothing is none.
std::string progress_bar(std::uint64_t done, std::uint64_t all);

/// "3 s", "12 min", "2 h 05 min".
std::string duration_text(double seconds);

/// Seconds of a clock that nobody sets.
double steady_seconds();

}  // namespace esc

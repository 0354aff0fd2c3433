// SPDX-License-Identifier: Apache-2.0
#include "generator/commands/weighted_times.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "generator/support/page_text.h"

namespace esc {

void WeightedTimes::add(const ExpectedSpeed& speed, double weight) {
  ++kernels;
  if (speed.microseconds && speed.library_microseconds) {
    ++known;
    predicted += speed.is_measured() ? 0 : 1;
    library += weight * *speed.library_microseconds;
    ours += weight * *speed.microseconds;
  }
}

std::string weighted_line(const std::vector<TokenCount>& counts, const WeightedTimes& times, const std::string& where) {
  const std::string sum =
      times.known == 0 ? "no times are known"
                       : fmt::format("about {:.1f} us in place of {:.1f} ({:.2f} x) for {} of {} kernels{}", times.ours,
                                     times.library, times.library / times.ours, times.known, times.kernels,
                                     times.predicted == 0 ? "" : fmt::format(", {} predicted", times.predicted));
  return labelled("weighted", where + weights_text(counts) + ": " + sum);
}

nlohmann::json weighted_json(const WeightedTimes& times) {
  return {{"kernel_count", times.kernels},
          {"known_count", times.known},
          {"predicted_count", times.predicted},
          {"library_microseconds", times.library},
          {"microseconds", times.ours}};
}

}  // namespace esc

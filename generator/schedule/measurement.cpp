// SPDX-License-Identifier: Apache-2.0
#include "generator/schedule/measurement.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace esc {
namespace {

/// Why it was measured of other matrices or another schedule.
std::string why_other_kernel(const MeasuredCase& measured, const MeasuredCase& wanted) {
  if (measured.schedule != wanted.schedule) {
    return "the schedule that was measured is another one";
  }
  return measured.scattered != wanted.scattered
             ? "the non-zeros are in blocks or another structure, those of the layers that were measured do not"
             : "";
}

bool has_word(const std::string& text, const std::string& word) {
  const auto lower = [](const std::string& mixed) {
    std::string result = mixed;
    std::ranges::transform(result, result.begin(), [](unsigned char c) { return std::tolower(c); });
    return " " + result + " ";
  };
  return lower(text).find(lower(word)) != std::string::npos;
}

}  // namespace

bool is_measured_on(const TargetDevice& wanted, const TargetDevice& measured) {
  const bool is_known = wanted.key.multiprocessors > 0 && wanted.key.l2_bytes > 0;
  return may_be(wanted.key, measured.key) &&
         (is_known || is_architecture(wanted) || has_word(measured.name, wanted.name));
}

MeasuredCase case_of(const Schedule& schedule, const LayerShape& shape, const TargetDevice& device, bool epilogue) {
  return {.schedule = schedule,
          .scattered = shape.scattered,
          .epilogue = epilogue,
          .dtype = shape.dtype,
          .layout = shape.layout,
          .bcol = shape.bcol,
          .device = device};
}

std::string Measurement::why_not(const MeasuredCase& wanted) const {
  if (const std::string other = why_other_kernel(measured_, wanted); !other.empty()) {
    return other;
  }
  if (measured_.dtype != wanted.dtype || measured_.layout != wanted.layout) {
    return fmt::format("what is known is of {} in layout {}", measured_.dtype, measured_.layout);
  }
  if (measured_.bcol != wanted.bcol) {
    return fmt::format("what is known is of {} columns of B", measured_.bcol);
  }
  if (measured_.epilogue != wanted.epilogue) {
    return "what is known is of the product without the epilogue";
  }
  return is_measured_on(wanted.device, measured_.device)
             ? ""
             : fmt::format("what is known is of one {}", measured_.device.name);
}

std::optional<MeasuredRatios> Measurement::of(const MeasuredCase& wanted) const {
  return ratios_.over_exact && why_not(wanted).empty() ? std::optional(ratios_) : std::nullopt;
}

std::optional<MeasuredRatios> Measurement::elsewhere(const MeasuredCase& wanted) const {
  return why_other_kernel(measured_, wanted).empty() ? std::optional(ratios_) : std::nullopt;
}

}  // namespace esc

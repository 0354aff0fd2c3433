// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <string>

#include "generator/matrix/read_options.h"

namespace esc {

/// What becomes of a value that is not finite.
inline constexpr const char* nonfinite_remedy =
    "mend the matrix, or allow values that are not finite (--allow-nonfinite)";

/// A float64 of a file in the type that is asked for. Calls refuse(value, remedy), which must not return, for one that
/// float32 holds only as an infinity or as zero; whether it is finite is another question.
template <typename Refuse>
double as_asked(double stored, const ReadOptions& options, const Refuse& refuse) {
  if (options.element == ScalarType::f64) {
    return stored;
  }
  // Compared before the conversion, which is undefined for a double beyond float32: half a step above the largest
  // float32 rounds to infinity.
  if (std::isfinite(stored) && std::fabs(stored) >= 0x1.ffffffp127) {
    refuse(fmt::format("{}, beyond float32's 3.4e38", stored), "scale the matrix");
  }
  const auto value = static_cast<float>(stored);
  if (value == 0.0F && stored != 0.0) {
    refuse(fmt::format("{}, which float32 holds only as zero", stored),
           "scale the matrix, or write 0 where a zero is meant");
  }
  return value;
}

}  // namespace esc

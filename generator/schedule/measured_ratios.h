// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

namespace esc {

/// How libraries did against a schedule where both were measured: their time over its time, so that below 1 the library
/// is faster.
struct MeasuredRatios {
  std::optional<double> over_exact =
      {};  ///< of the faster one of a dense product and a sparse library in the layer's element type
  std::optional<double> over_tf32 = {};           ///< of a dense product in TF32
  std::optional<double> exact_microseconds = {};  ///< the time of that faster one, on layers of the class
  std::string where;                              ///< "this very layer on ...", or the class of layers and the device
  std::string device = {};                        ///< "NVIDIA H200"; empty where an early manifest does not say
  bool operator==(const MeasuredRatios&) const = default;

  /// What the schedule is expected to take, by both; absent where one is.
  std::optional<double> expected_microseconds() const;
};

/// "about 1.75 x the faster one of cuBLAS and cuSPARSE, 3.1 us in place of 5.4"; without the times where there are
/// none. `measured` has over_exact.
std::string describe_speed(const MeasuredRatios& measured);

/// What products are expected to take, one after the other.
struct ExpectedTimes {
  int layers = 0;      ///< of which that is known
  double library = 0;  ///< microseconds of the faster library for each
  double ours = 0;     ///< microseconds

  void add(const ExpectedTimes& more);
};

/// Of one layer; of none where its time is not known.
ExpectedTimes expected_times(const std::optional<MeasuredRatios>& measured);

}  // namespace esc

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "generator/schedule/layer_class.h"
#include "generator/schedule/measured_ratios.h"
#include "generator/schedule/schedule.h"
#include "generator/schedule/target.h"

namespace esc {

/// What a speed was measured of. It says nothing of any other case.
struct MeasuredCase {
  Schedule schedule;
  bool scattered = true;  ///< whether the non-zeros are without a structure (`is_scattered`)
  bool epilogue = false;
  std::string dtype = "f32";
  std::string layout = "kn";
  long long bcol = 1;
  TargetDevice device;
};

/// Whether a device is the one that was measured on: all its figures are those, or it is some device of the compute
/// capability alone, or, where figures of a GPU are not known, it has the name.
bool is_measured_on(const TargetDevice& wanted, const TargetDevice& measured);

/// The case of a product with this layer on a device.
MeasuredCase case_of(const Schedule& schedule, const LayerShape& shape, const TargetDevice& device,
                     bool epilogue = false);

/// Ratios that were measured, with what they were measured of: whoever wants the numbers says of which case, and gets
/// them of that one alone. A rule that changes a schedule, or a layer of another kind, loses them.
class Measurement {
 public:
  Measurement(MeasuredCase measured, MeasuredRatios ratios)
      : measured_(std::move(measured)), ratios_(std::move(ratios)) {}

  /// Why the numbers are not those of this case, as what a sentence "not measured: .." goes on with; empty where they
  /// are.
  std::string why_not(const MeasuredCase& wanted) const;

  /// The numbers of this case; none of another one.
  std::optional<MeasuredRatios> of(const MeasuredCase& wanted) const;

  /// The numbers where they are of this schedule and such a matrix, whatever they were measured with otherwise, which
  /// a sentence about them has to name.
  std::optional<MeasuredRatios> elsewhere(const MeasuredCase& wanted) const;

 private:
  MeasuredCase measured_;
  MeasuredRatios ratios_;
};

}  // namespace esc

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tuner/records/record.h"

namespace esc::tuning {

/// What came of one candidate: all of its record but what it was measured for.
struct Measurement {
  std::string candidate;  ///< schedule or peer
  std::string algorithm = {};
  std::string builder = {};
  std::string digest = {};
  std::optional<KernelFacts> kernel = {};
  Outcome outcome = Outcome::ok;
  std::string detail = {};
  double error = 0;
  std::vector<double> samples = {};
  int clock_megahertz = 0;
};

/// The measurement as a record of an item.
CandidateRecord record_of(const Measurement& measurement, const WorkItem& item, const Environment& environment,
                          Stage stage, Edge edge);

/// What was measured, of a record.
Measurement measurement_of(const CandidateRecord& record);

}  // namespace esc::tuning

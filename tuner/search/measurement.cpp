// SPDX-License-Identifier: Apache-2.0
#include "tuner/search/measurement.h"

namespace esc::tuning {

CandidateRecord record_of(const Measurement& measurement, const WorkItem& item, const Environment& environment,
                          Stage stage, Edge edge) {
  return {.environment = environment,
          .item = item,
          .stage = stage,
          .edge = edge,
          .candidate = measurement.candidate,
          .algorithm = measurement.algorithm,
          .builder = measurement.builder,
          .digest = measurement.digest,
          .kernel = measurement.kernel,
          .outcome = measurement.outcome,
          .detail = measurement.detail,
          .error = measurement.error,
          .samples = measurement.samples,
          .clock_megahertz = measurement.clock_megahertz};
}

Measurement measurement_of(const CandidateRecord& record) {
  return {.candidate = record.candidate,
          .algorithm = record.algorithm,
          .builder = record.builder,
          .digest = record.digest,
          .kernel = record.kernel,
          .outcome = record.outcome,
          .detail = record.detail,
          .error = record.error,
          .samples = record.samples,
          .clock_megahertz = record.clock_megahertz};
}

}  // namespace esc::tuning

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "generator/schedule/device_key.h"

namespace esc {

/// A candidate for a layer's schedule, and what became of it on the GPU.
struct MeasuredCandidate {
  std::string schedule;     ///< its text
  std::string outcome;      ///< as journals name it: "ok", "wrong-result", "launch-failed" ..
  std::string detail = {};  ///< why it is not ok
  double microseconds = 0;  ///< of a product, the median of the samples; 0 where it is not ok

  bool is_right() const { return outcome == "ok"; }
  bool operator==(const MeasuredCandidate&) const = default;
};

/// What was measured of a layer's candidates on one GPU.
struct TuningRecord {
  std::string
      layer;  ///< that was measured: the base name of its file, with the tensor's name where it is one of a model
  std::int64_t bcol = 0;
  DeviceKey device;
  std::string device_name;                    ///< "NVIDIA H200"
  std::string cache;                          ///< what L2 held of the operands: "cold", nothing, or "warm"
  std::vector<MeasuredCandidate> candidates;  ///< the one that was expected to be the fastest first

  /// Those that were right, the fastest first; of equal times the one that was expected to be faster.
  std::vector<MeasuredCandidate> fastest_first() const;
  bool operator==(const TuningRecord&) const = default;
};

/// As manifests and --json have it; `taken` is the fastest candidate, of which there is one.
nlohmann::json tuning_json(const TuningRecord& record);

/// What was written so. Throws nlohmann::json::exception or UserError for anything else.
TuningRecord tuning_record(const nlohmann::json& entry);

/// "2.31 us with weights from memory on one NVIDIA H200: the fastest of 8 candidates, 1.12 x as fast as the first"; the
/// record has a right candidate.
std::string describe(const TuningRecord& record);

}  // namespace esc

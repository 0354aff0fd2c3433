// SPDX-License-Identifier: Apache-2.0
#include "generator/emit/tuning_record.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>

namespace esc {
namespace {

nlohmann::json candidate_json(const MeasuredCandidate& candidate) {
  nlohmann::json entry{{"schedule", candidate.schedule}, {"outcome", candidate.outcome}};
  if (candidate.is_right()) {
    entry["microseconds"] = candidate.microseconds;
  } else {
    entry["detail"] = candidate.detail;
  }
  return entry;
}

MeasuredCandidate candidate_of(const nlohmann::json& entry) {
  return {.schedule = entry.at("schedule"),
          .outcome = entry.at("outcome"),
          .detail = entry.value("detail", ""),
          .microseconds = entry.value("microseconds", 0.0)};
}

}  // namespace

std::vector<MeasuredCandidate> TuningRecord::fastest_first() const {
  std::vector<MeasuredCandidate> right;
  std::ranges::copy_if(candidates, std::back_inserter(right), &MeasuredCandidate::is_right);
  std::ranges::stable_sort(right, {}, &MeasuredCandidate::microseconds);
  return right;
}

nlohmann::json tuning_json(const TuningRecord& record) {
  nlohmann::json candidates = nlohmann::json::array();
  std::ranges::transform(record.candidates, std::back_inserter(candidates), candidate_json);
  return {{"layer", record.layer},          {"bcol", record.bcol},
          {"device", print(record.device)}, {"device_name", record.device_name},
          {"cache", record.cache},          {"taken", record.fastest_first().front().schedule},
          {"candidates", candidates}};
}

TuningRecord tuning_record(const nlohmann::json& entry) {
  TuningRecord record{.layer = entry.at("layer"),
                      .bcol = entry.at("bcol"),
                      .device = parse_device_key(entry.at("device").get<std::string>()),
                      .device_name = entry.at("device_name"),
                      .cache = entry.at("cache"),
                      .candidates = {}};
  std::ranges::transform(entry.at("candidates"), std::back_inserter(record.candidates), candidate_of);
  return record;
}

std::string describe(const TuningRecord& record) {
  const MeasuredCandidate fastest = record.fastest_first().front();
  const MeasuredCandidate& first = record.candidates.front();
  const std::string gain =
      first.is_right() ? fmt::format(", {:.2f} x as fast as the first", first.microseconds / fastest.microseconds) : "";
  return fmt::format("{:.2f} us with {} on one {}: the fastest of {} candidates{}", fastest.microseconds,
                     record.cache == "cold" ? "weights from memory" : "weights in the cache", record.device_name,
                     record.candidates.size(), gain);
}

}  // namespace esc

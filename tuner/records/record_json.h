// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "tuner/records/device_rates.h"

namespace esc::tuning {

/// Version of the lines; a line of another one is refused. Those of nests other than the plain product have a version
/// of their own, so that a program that knows of none refuses them and does not take them for measurements of that.
constexpr int record_format = 1;
constexpr int record_format_of_nests = 2;

/// What JSON holds that stands for no record.
struct NotARecord {
  std::string why;
};

/// Records as JSON, and back. Those back throw NotARecord or nlohmann::json::exception.
nlohmann::json to_json(const CandidateRecord& record);
nlohmann::json to_json(const DecisionRecord& record);
nlohmann::json to_json(const RatesRecord& record);
CandidateRecord candidate_from(const nlohmann::json& line);
DecisionRecord decision_from(const nlohmann::json& line);
RatesRecord rates_from(const nlohmann::json& line);

/// Rates by their names; absent ones are left out.
nlohmann::json to_json(const DeviceRates& rates);
DeviceRates device_rates_from(const nlohmann::json& rates);

}  // namespace esc::tuning

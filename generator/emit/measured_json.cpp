// SPDX-License-Identifier: Apache-2.0
#include "generator/emit/measured_json.h"

#include <nlohmann/json.hpp>

namespace esc {
namespace {

std::optional<double> number_of(const nlohmann::json& entry, const char* key) {
  return entry.contains(key) ? std::optional(entry.at(key).get<double>()) : std::nullopt;
}

}  // namespace

nlohmann::json measured_json(const MeasuredRatios& measured) {
  nlohmann::json entry{{"over_exact", *measured.over_exact}, {"where", measured.where}};
  const auto add = [&](const char* key, std::optional<double> number) {
    if (number) {
      entry[key] = *number;
    }
  };
  if (!measured.device.empty()) {
    entry["device"] = measured.device;
  }
  add("over_tf32", measured.over_tf32);
  add("exact_microseconds", measured.exact_microseconds);
  add("expected_microseconds", measured.expected_microseconds());
  return entry;
}

MeasuredRatios measured_ratios(const nlohmann::json& entry) {
  return {.over_exact = entry.at("over_exact").get<double>(),
          .over_tf32 = number_of(entry, "over_tf32"),
          .exact_microseconds = number_of(entry, "exact_microseconds"),
          .where = entry.at("where"),
          .device = entry.value("device", "")};
}

nlohmann::json comparison_json(const DenseComparison& comparison) {
  return {
      {"predicted",
       {{"microseconds", comparison.kernel}, {"dense_microseconds", comparison.dense}, {"device", comparison.device}}}};
}

std::optional<DenseComparison> dense_comparison(const nlohmann::json& entry) {
  if (!entry.contains("predicted")) {
    return std::nullopt;
  }
  const nlohmann::json& predicted = entry.at("predicted");
  return DenseComparison{.kernel = predicted.at("microseconds"),
                         .dense = predicted.at("dense_microseconds"),
                         .device = predicted.at("device")};
}

}  // namespace esc

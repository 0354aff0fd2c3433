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
  if (!comparison.predicted) {
    return {{"over_dense", comparison.over_dense}};
  }
  return {{"predicted",
           {{"microseconds", comparison.predicted->kernel},
            {"dense_microseconds", comparison.predicted->dense},
            {"device", comparison.predicted->device}}}};
}

std::optional<DenseComparison> dense_comparison(const nlohmann::json& entry) {
  if (entry.contains("predicted")) {
    const nlohmann::json& predicted = entry.at("predicted");
    return comparison_of({.kernel = predicted.at("microseconds"),
                          .dense = predicted.at("dense_microseconds"),
                          .device = predicted.at("device")});
  }
  const std::optional<double> over_dense = number_of(entry, "over_dense");
  return over_dense ? std::optional(DenseComparison{.over_dense = *over_dense}) : std::nullopt;
}

}  // namespace esc

// SPDX-License-Identifier: Apache-2.0
#include "generator/report/measured_times.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "generator/support/error.h"
#include "generator/support/strict_json.h"

namespace esc {
namespace {

using nlohmann::json;

constexpr const char* remedy = "write it with save() of the report that esc.replace_linear returns";

/// A time, of which there are only such that can be compared.
double time_of(const json& product, const char* key) {
  const double microseconds = product.at(key);
  if (!std::isfinite(microseconds) || microseconds <= 0) {
    throw std::out_of_range(fmt::format("'{}' is no time", key));
  }
  return microseconds;
}

/// The keys of a file; those of the release before are read in this one.
struct Keys {
  const char* layers;
  const char* columns;
  const char* dense;
  const char* ours;
};
constexpr Keys keys{"layers_by_name", "bcol", "dense_microseconds", "esc_microseconds"};
constexpr Keys earlier_keys{"layers", "columns", "dense_us", "esc_us"};

MeasuredLayer layer_of(const json& entry, const Keys& named) {
  MeasuredLayer layer;
  layer.kept = entry.at("kept").is_null() ? "" : entry.at("kept").get<std::string>();
  if (!entry.at("dense_above").is_null()) {
    layer.dense_above = entry.at("dense_above").get<std::int64_t>();
  }
  for (const json& product : entry.at("products")) {
    layer.products.push_back(
        {product.at(named.columns).get<std::int64_t>(), time_of(product, named.dense), time_of(product, named.ours)});
  }
  return layer;
}

}  // namespace

double MeasuredLayer::now(const MeasuredProduct& product) const {
  return kept.empty() && (!dense_above || product.columns <= *dense_above) ? product.ours : product.dense;
}

std::vector<std::int64_t> MeasuredTimes::columns() const {
  std::set<std::int64_t> found;
  for (const auto& [name, layer] : layers) {
    for (const MeasuredProduct& product : layer.products) {
      found.insert(product.columns);
    }
  }
  return {found.begin(), found.end()};
}

std::vector<TotalTime> total_times(const MeasuredTimes& times) {
  std::vector<TotalTime> totals;
  for (const std::int64_t columns : times.columns()) {
    TotalTime& total = totals.emplace_back(TotalTime{.columns = columns});
    for (const auto& [name, layer] : times.layers) {
      for (const MeasuredProduct& product : layer.products) {
        if (product.columns == columns) {
          ++total.layers;
          total.dense += product.dense;
          total.now += layer.now(product);
        }
      }
    }
  }
  return totals;
}

MeasuredTimes parse_measured_times(const std::string& text, const std::string& file) {
  try {
    const json content = parse_strict_json(text, file);
    if (!content.is_object() || content.value("kind", "") != "measured layers" ||
        content.value("format_version", 0) != 1) {
      throw UserError(file, "has no times of layers in a format that this program knows", remedy);
    }
    MeasuredTimes times{.gpu = content.at("gpu"), .layers = {}};
    const Keys& named = content.contains(keys.layers) ? keys : earlier_keys;
    for (const auto& [name, entry] : content.at(named.layers).items()) {
      try {
        times.layers[name] = layer_of(entry, named);
      } catch (const std::exception& problem) {
        throw UserError(fmt::format("{}: {}.{}", file, named.layers, name),
                        fmt::format("cannot be read: {}", problem.what()), remedy);
      }
    }
    return times;
  } catch (const json::exception& problem) {
    throw UserError(file, fmt::format("cannot be read: {}", problem.what()), remedy);
  }
}

}  // namespace esc

// SPDX-License-Identifier: Apache-2.0
// What dense products are predicted to take, beside what journals have of them.
#include "generator/schedule/dense_cost.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "tuner/regret/read_journals.h"

namespace esc::tuning {
namespace {

double median(std::vector<double> samples) {
  std::ranges::sort(samples);
  return samples[samples.size() / 2];
}

/// The element type that a dense product was measured in, whatever its layer's kernels have.
std::string type_of(const CandidateRecord& record) {
  return record.candidate == "cublas-tf32" ? "tf32" : record.candidate == "cublas-f16" ? "f16" : "f32";
}

/// A dense product: of a GPU and an element type, for a layer of so many rows and columns and so many columns of B.
using DenseProduct = std::tuple<DeviceKey, std::string, std::int64_t, std::int64_t, long long>;

/// Each dense product that the journals have, with the time of the fastest algorithm that the library offered.
std::map<DenseProduct, double> dense_products() {
  std::map<DenseProduct, double> products;
  for (const JournalRecords& journal : read_journals({ESC_SOURCE_DIR "/tests/bench/journals"})) {
    for (const Record& one : journal.records) {
      const auto* const record = std::get_if<CandidateRecord>(&one);
      // Rates of float64 are in no device's file.
      const bool is_dense = record != nullptr && record->candidate.starts_with("cublas") &&
                            record->candidate != "cublas-fp64" && !record->samples.empty();
      if (!is_dense) {
        continue;
      }
      const LayerShape shape = shape_of(record->item);
      const DenseProduct product{record->item.device, type_of(*record), shape.rows, shape.columns, shape.bcol};
      const double time = median(record->samples);
      const auto [known, is_new] = products.emplace(product, time);
      known->second = std::min(known->second, time);
    }
  }
  return products;
}

/// The mean of |log(predicted / measured)| for each GPU and element type.
std::map<std::pair<std::string, std::string>, double> mean_errors() {
  std::map<std::pair<std::string, std::string>, std::vector<double>> errors;
  for (const auto& [product, time] : dense_products()) {
    const auto& [key, type, rows, columns, bcol] = product;
    const Device* const device = known_device(key);
    const LayerShape shape{.bcol = bcol, .rows = rows, .columns = columns, .dtype = type};
    errors[{device->name, type}].push_back(std::abs(std::log(*dense_microseconds(shape, *device) / time)));
  }
  std::map<std::pair<std::string, std::string>, double> means;
  for (const auto& [group, of_group] : errors) {
    means[group] = std::accumulate(of_group.begin(), of_group.end(), 0.0) / static_cast<double>(of_group.size());
  }
  return means;
}

TEST(DenseCost, IsNearWhatJournalsHave) {
  const std::map<std::pair<std::string, std::string>, double> errors = mean_errors();
  EXPECT_EQ(errors.size(), 5U) << "float16 was measured on the H200 alone";
  for (const auto& [group, error] : errors) {
    EXPECT_LT(error, 0.1) << group.first << ", " << group.second;
  }
}

TEST(DenseCost, GrowsWithTheProductAndIsUnknownWithoutRates) {
  const LayerShape shape{
      .bcol = 64, .rows = 4096, .columns = 4096, .nonzeros = 1, .dtype = "f16", .cache = CacheState::cold};
  const auto of = [](LayerShape one, const std::string& gpu) {
    const auto found = std::ranges::find(known_devices(), gpu, &Device::name);
    return dense_microseconds(one, *found);
  };
  LayerShape wider = shape;
  wider.bcol = 1024;
  EXPECT_NEAR(*of(shape, "h200"), 10.97, 2) << "measured with tests/bench/cold_products.cu";
  EXPECT_NEAR(*of(wider, "h200"), 41.85, 6);
  EXPECT_GT(*of(shape, "h100"), *of(shape, "h200")) << "its memory is slower";
  EXPECT_FALSE(of(shape, "a100")) << "no file has the rates of its tensor cores";
  LayerShape doubles = shape;
  doubles.dtype = "f64";
  EXPECT_FALSE(of(doubles, "h200"));
}

}  // namespace
}  // namespace esc::tuning

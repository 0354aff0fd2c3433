// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/user_tables.h"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

#include "generator/support/json_result.h"

namespace esc::tuning {
namespace {

std::string family_of(const Schedule& schedule) {
  const std::string text = print(schedule);
  return text.substr(0, text.find(':'));
}

std::string figure_text(const std::optional<Figure>& figure) {
  return figure ? fmt::format("{:.5g}{}", figure->value, figure->measured ? "" : " (not measured)") : "-";
}

/// Of several products, their kernels and the sum of the logarithms of their ratios.
struct Sum {
  std::size_t products = 0;
  std::size_t kernels = 0;
  double log_ratio = 0;
};

}  // namespace

std::vector<CorrectionGroup> correction_groups(const UserMeasurements& measurements) {
  const DeviceCatalog without(measurements.catalog->devices());
  std::map<std::tuple<DeviceKey, std::string, std::string, std::string>, Sum> sums;
  for (const DeviceMeasurements& device : measurements.corrections) {
    const ScheduleModel& model = without.model(device.key);
    for (const TimedProduct& product : device.products) {
      std::map<std::string, Sum> families;
      for (const TimedSchedule& one : product.schedules) {
        const double expected = model.expected_microseconds(one.schedule, product.shape, device.key);
        Sum& family = families[family_of(one.schedule)];
        ++family.kernels;
        family.log_ratio += std::isfinite(expected) ? std::log(one.microseconds / expected) : 0;
      }
      for (const auto& [family, of_product] : families) {
        Sum& sum = sums[{device.key, product.shape.dtype, product.shape.layout, family}];
        ++sum.products;
        sum.kernels += of_product.kernels;
        sum.log_ratio += of_product.log_ratio;
      }
    }
  }
  std::vector<CorrectionGroup> groups;
  for (const auto& [place, sum] : sums) {
    const auto& [device, dtype, layout, family] = place;
    groups.push_back({device, dtype, layout, family, sum.products, sum.kernels,
                      std::exp(sum.log_ratio / static_cast<double>(sum.kernels))});
  }
  return groups;
}

Table device_table(const std::vector<Device>& devices) {
  Table table{.title = "GPUs",
              .columns = {text_column("--gpu"),
                          text_column("product"),
                          text_column("device"),
                          {"memory, GB/s"},
                          {"L2 cache, GB/s"},
                          {"float32, GFLOP/s"},
                          {"TF32, GFLOP/s"},
                          {"float16, GFLOP/s"}},
              .rows = {}};
  for (const Device& device : devices) {
    table.rows.push_back({device.name, device.product, print(device.key), figure_text(device.memory_gigabytes),
                          figure_text(device.l2_gigabytes), figure_text(device.fp32_gigaflops),
                          figure_text(device.tf32_gigaflops), figure_text(device.f16_gigaflops)});
  }
  return table;
}

Table database_table(const std::vector<ScheduleDatabase>& databases) {
  Table table{.title = "Schedule databases",
              .columns = {text_column("device"),
                          text_column("type"),
                          text_column("layout"),
                          {"candidates"},
                          {"classes"},
                          {"layers of their own"}},
              .rows = {}};
  for (const ScheduleDatabase& database : databases) {
    table.rows.push_back({database.describe(), database.head().dtype, database.head().layout,
                          fmt::format("{}", database.candidates().size()), fmt::format("{}", database.classes().size()),
                          fmt::format("{}", database.layers().size())});
  }
  return table;
}

Table correction_table(const std::vector<CorrectionGroup>& groups) {
  Table table{.title = "Corrections: measured times over those that are expected without them",
              .columns = {text_column("device"),
                          text_column("type"),
                          text_column("layout"),
                          text_column("family"),
                          {"products"},
                          {"kernels"},
                          {"mean ratio"}},
              .rows = {}};
  for (const CorrectionGroup& group : groups) {
    table.rows.push_back({print(group.device), group.dtype, group.layout, group.family,
                          fmt::format("{}", group.products), fmt::format("{}", group.kernels),
                          fmt::format("{:.3f}", group.ratio)});
  }
  return table;
}

std::string user_tables(const UserMeasurements& measurements) {
  std::string text;
  for (const Table& table : {device_table(measurements.devices), correction_table(correction_groups(measurements)),
                             database_table(measurements.databases)}) {
    if (!table.rows.empty()) {
      text += (text.empty() ? "" : "\n") + markdown(table);
    }
  }
  return text;
}

std::string user_json(const UserMeasurements& measurements) {
  nlohmann::json devices = nlohmann::json::array();
  for (const Device& device : measurements.devices) {
    nlohmann::json one{{"gpu", device.name}, {"product", device.product}, {"device", print(device.key)}};
    for (const auto& [key, figure] : figures_of(device)) {
      if (*figure) {
        one[key] = {{"value", (*figure)->value}, {"measured", (*figure)->measured}, {"source", (*figure)->source}};
      }
    }
    devices.push_back(one);
  }
  nlohmann::json corrections = nlohmann::json::array();
  for (const CorrectionGroup& group : correction_groups(measurements)) {
    corrections.push_back({{"device", print(group.device)},
                           {"dtype", group.dtype},
                           {"layout", group.layout},
                           {"family", group.family},
                           {"products", group.products},
                           {"kernels", group.kernels},
                           {"mean_ratio", std::round(1e4 * group.ratio) / 1e4}});
  }
  nlohmann::json databases = nlohmann::json::array();
  for (const ScheduleDatabase& database : measurements.databases) {
    databases.push_back({{"device", print(database.head().key)},
                         {"product", database.head().device},
                         {"dtype", database.head().dtype},
                         {"layout", database.head().layout},
                         {"candidates", database.candidates().size()},
                         {"classes", database.classes().size()},
                         {"layers", database.layers().size()}});
  }
  return json_result("own measurements", "done",
                     {{"devices", devices}, {"corrections", corrections}, {"databases", databases}});
}

}  // namespace esc::tuning

// SPDX-License-Identifier: Apache-2.0
#include "generator/report/model_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "generator/emit/model_speed.h"
#include "generator/matrix/typed_elements.h"

namespace esc {
namespace {

std::uint64_t element_bytes(const ModelBundle& model) {
  return static_cast<std::uint64_t>(bytes_of(kernel_element(model.dtype).value_or(ScalarType::f32)));
}

std::string ratio(std::uint64_t bytes, std::uint64_t over) {
  return with_digits(static_cast<double>(bytes) / static_cast<double>(over));
}

double zeros_of(const ModelLayer& layer) {
  return 1 -
         static_cast<double>(layer.nonzeros) / (static_cast<double>(layer.rows) * static_cast<double>(layer.columns));
}

/// "4 of 4 kernels", of those that the layer has.
std::string verified(const ModelBundle& model, const ModelLayer& layer) {
  std::set<std::string> kernels;
  for (const ModelVariant& variant : layer.variants) {
    kernels.insert(variant.kernel);
  }
  const auto passed = std::ranges::count_if(kernels, [&model](const std::string& name) {
    const std::optional<VerificationRecord>& record = model.kernels.at(name).verification;
    return record && record->passed;
  });
  return fmt::format("{} of {}", passed, kernels.size());
}

/// What became of a layer that was measured.
std::string fate_of(const MeasuredLayer& layer) {
  if (!layer.kept.empty()) {
    return "dense: " + layer.kept;
  }
  return layer.dense_above ? fmt::format("dense above {}", *layer.dense_above) : "ours";
}

/// Times and speed-up for each number of columns; blanks for those that the layer was not measured with.
void add_times(std::vector<std::string>& row, const MeasuredTimes& times, const std::string& name) {
  const auto found = times.layers.find(name);
  for (const std::int64_t columns : times.columns()) {
    std::optional<MeasuredProduct> product;
    if (found != times.layers.end()) {
      const auto at = std::ranges::find(found->second.products, columns, &MeasuredProduct::columns);
      product = at != found->second.products.end() ? std::optional(*at) : std::nullopt;
    }
    row.push_back(product ? fmt::format("{:.2f} / {:.2f}", product->dense, product->ours) : "-");
    row.push_back(product ? with_digits(product->dense / product->ours) : "-");
  }
  if (!times.layers.empty()) {
    row.push_back(found == times.layers.end() ? "not measured" : fate_of(found->second));
  }
}

}  // namespace

std::uint64_t dense_bytes(const ModelBundle& model, const ModelLayer& layer) {
  return static_cast<std::uint64_t>(layer.rows) * static_cast<std::uint64_t>(layer.columns) * element_bytes(model);
}

std::uint64_t csr_bytes(const ModelBundle& model, const ModelLayer& layer) {
  return static_cast<std::uint64_t>(layer.nonzeros) * (element_bytes(model) + 4) +
         (static_cast<std::uint64_t>(layer.rows) + 1) * 4;
}

Table layer_table(const ModelBundle& model, const MeasuredTimes& times) {
  Table table{
      "Bytes of the packed matrices over those of the layer as a dense matrix and as compressed rows; kernels that "
      "were verified.",
      {text_column("layer"), {"shape"}, {"% zeros"}, {"bytes"}, {"of dense"}, {"of CSR"}, {"verified"}},
      {}};
  const bool knows_speed =
      std::ranges::any_of(model.layers, [](const ModelLayer& layer) { return !speed_over_libraries(layer).empty(); });
  if (knows_speed) {
    table.columns.push_back(text_column("N: expected over a library"));
  }
  for (const std::int64_t columns : times.columns()) {
    table.columns.push_back({fmt::format("n = {}: dense / ours, us", columns)});
    table.columns.push_back({"speed-up"});
  }
  if (!times.layers.empty()) {
    table.columns.push_back(text_column("runs"));
  }
  for (const ModelLayer& layer : model.layers) {
    std::vector<std::string> row{layer.name,
                                 fmt::format("{} x {}", layer.rows, layer.columns),
                                 percent(zeros_of(layer), 1),
                                 std::to_string(layer.packed_bytes()),
                                 ratio(layer.packed_bytes(), dense_bytes(model, layer)),
                                 ratio(layer.packed_bytes(), csr_bytes(model, layer)),
                                 verified(model, layer)};
    if (knows_speed) {
      const std::string speed = speed_over_libraries(layer);
      row.push_back(speed.empty() ? "not known" : speed);
    }
    add_times(row, times, layer.name);
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table total_table(const MeasuredTimes& times) {
  Table table{"Microseconds of one product of each layer that was measured, one after the other.",
              {{"columns of B"}, {"layers"}, {"dense us"}, {"now us"}, {"speed-up"}},
              {}};
  for (const TotalTime& total : total_times(times)) {
    table.rows.push_back({std::to_string(total.columns), std::to_string(total.layers), with_digits(total.dense),
                          with_digits(total.now), with_digits(total.speed_up())});
  }
  return table;
}

Table expected_table(const ModelBundle& model) {
  ModelSpeed sums;
  for (const ModelLayer& layer : model.layers) {
    add_expected_times(sums, layer);
  }
  Table table{
      "Microseconds of one product of each layer that is like measured ones, one after the other, with the operands in "
      "the L2 cache; beside them the faster one of cuBLAS and cuSPARSE for each.",
      {text_column("measured on"), {"N"}, {"layers"}, {"library us"}, {"ours us"}, {"speed-up"}},
      {}};
  for (const auto& [key, sum] : sums) {
    table.rows.push_back({key.first, std::to_string(key.second), std::to_string(sum.layers), with_digits(sum.library),
                          with_digits(sum.ours), with_digits(sum.library / sum.ours)});
  }
  return table;
}

Table kernel_table(const ModelBundle& model) {
  Table table{
      "The kernel for each number of columns of B, and where its schedule is from. Layers share kernels; each was "
      "verified with one of them.",
      {text_column("layer"),
       {"N"},
       text_column("from"),
       text_column("schedule"),
       text_column("chosen by"),
       text_column("kernel"),
       text_column("verified with")},
      {}};
  for (const ModelLayer& layer : model.layers) {
    for (const ModelVariant& variant : layer.variants) {
      const ModelKernel& kernel = model.kernels.at(variant.kernel);
      table.rows.push_back({layer.name, std::to_string(variant.bcol), fmt::format("sm_{}", variant.capability),
                            variant.schedule, variant.schedule_source, variant.kernel,
                            kernel.verified_with.empty() ? "not verified" : kernel.verified_with});
    }
  }
  return table;
}

Table left_out_table(const ModelBundle& model) {
  Table table{"", {text_column("tensor"), text_column("why it has no kernel")}, {}};
  for (const auto& [name, reason] : model.left_out) {
    table.rows.push_back({name, reason});
  }
  return table;
}

}  // namespace esc

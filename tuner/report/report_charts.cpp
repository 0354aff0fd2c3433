// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/report_charts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "generator/support/means.h"
#include "tuner/report/roofline.h"

namespace esc::tuning {
namespace {

constexpr std::array drawn_rivals{Rival::best_exact, Rival::cublas_tf32, Rival::cusparse};

/// Ascending.
std::vector<double> speed_ups(const GroupSummary& group, Rival rival) {
  std::vector<double> ratios;
  for (const ItemSummary& item : group.items) {
    if (const std::optional<double> ratio = speed_up(item, rival)) {
      ratios.push_back(*ratio);
    }
  }
  std::ranges::sort(ratios);
  return ratios;
}

}  // namespace

XyChart speed_up_chart(const GroupSummary& group) {
  XyChart chart{.title = fmt::format("Speed-up over the share of zeros, N = {}", group.bcol),
                .horizontal = {"zeros, %"},
                .vertical = {"times as fast as the library", true, 2},
                .series = {},
                .level = 1};
  for (const Rival rival : drawn_rivals) {
    XyChart::Series series{"over " + print(rival, group.setting.dtype), XyChart::Style::marks, {}};
    for (const ItemSummary& item : group.items) {
      if (const std::optional<double> ratio = speed_up(item, rival)) {
        series.points.push_back({100 * item.item.layer.sparsity(), *ratio,
                                 fmt::format("{}: {:.2f} x {}", item.name, *ratio, print(rival, group.setting.dtype))});
      }
    }
    chart.series.push_back(std::move(series));
  }
  return chart;
}

Table speed_up_table(const GroupSummary& group) {
  Table table{fmt::format("Speed-ups of each layer, N = {}", group.bcol),
              {text_column("layer"), {"zeros, %"}, {"ours, us"}},
              {}};
  for (const Rival rival : drawn_rivals) {
    table.columns.push_back({"over " + print(rival, group.setting.dtype)});
  }
  std::vector<const ItemSummary*> ordered;
  for (const ItemSummary& item : group.items) {
    ordered.push_back(&item);
  }
  std::ranges::stable_sort(ordered, {}, [](const ItemSummary* item) { return item->item.layer.sparsity(); });
  for (const ItemSummary* item : ordered) {
    std::vector<std::string> row{item->name, percent(item->item.layer.sparsity(), 1), with_digits(item->microseconds)};
    for (const Rival rival : drawn_rivals) {
      row.push_back(with_digits(speed_up(*item, rival)));
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

XyChart distribution_chart(const std::vector<GroupSummary>& groups, Rival rival) {
  XyChart chart{.title = "Cumulative distribution of the speed-ups over " + print(rival, groups),
                .horizontal = {"times as fast as the library", true, 2},
                .vertical = {"layers with at most this speed-up, %"},
                .series = {},
                .level = std::nullopt};
  for (const GroupSummary& group : groups) {
    XyChart::Series series{fmt::format("N = {}", group.bcol), XyChart::Style::steps, {}};
    const std::vector<double> ratios = speed_ups(group, rival);
    for (std::size_t place = 0; place < ratios.size(); ++place) {
      if (place == 0) {
        series.points.push_back({ratios[place], 0});
      }
      series.points.push_back(
          {ratios[place], 100.0 * static_cast<double>(place + 1) / static_cast<double>(ratios.size())});
    }
    chart.series.push_back(std::move(series));
  }
  return chart;
}

Table distribution_table(const std::vector<GroupSummary>& groups, Rival rival) {
  Table table{
      "Speed-ups over " + print(rival, groups) + ": the value that the given share of the layers does not exceed.",
      {{"N"}, {"layers"}, {"least"}, {"10 %"}, {"25 %"}, {"median"}, {"75 %"}, {"90 %"}, {"largest"}},
      {}};
  for (const GroupSummary& group : groups) {
    const std::vector<double> ratios = speed_ups(group, rival);
    std::vector<std::string> row{std::to_string(group.bcol), std::to_string(ratios.size())};
    for (const double share : {0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0}) {
      row.push_back(with_digits(quantile(ratios, share)));
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table roofline_table(const std::vector<GroupSummary>& groups) {
  Table table{"Where the winners are.",
              {text_column("layer"), {"N"}, {"packed A, bytes"}, {"operations per byte"}, {"GFLOP/s"}},
              {}};
  for (const GroupSummary& group : groups) {
    for (const ItemSummary& item : group.items) {
      if (const std::optional<RooflinePoint> point = roofline_point(item)) {
        table.rows.push_back({item.name, std::to_string(group.bcol), std::to_string(item.kernel->packed_bytes),
                              with_digits(point->intensity), with_digits(point->gigaflops, 0)});
      }
    }
  }
  return table;
}

}  // namespace esc::tuning

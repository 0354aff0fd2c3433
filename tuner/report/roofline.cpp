// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/roofline.h"

#include <fmt/format.h>

#include <algorithm>

#include "generator/schedule/device_ceilings.h"
#include "generator/schedule/element_types.h"

namespace esc::tuning {
namespace {

/// A slope up to the peak, then the peak.
XyChart::Series ceiling(const std::string& name, double gigabytes, double peak, double from, double to) {
  XyChart::Series series{fmt::format("{}, {:g} GB/s", name, gigabytes), XyChart::Style::line, {}};
  const double ridge = peak / gigabytes;
  for (const double intensity : {from, std::clamp(ridge, from, to), to}) {
    series.points.push_back({intensity, std::min(peak, intensity * gigabytes)});
  }
  return series;
}

}  // namespace

double bytes_of_b(const WorkItem& item) {
  return bytes_of_type(item.dtype) * static_cast<double>(item.layer.columns) *
         static_cast<double>(item.product().count);
}

double bytes_of_c(const WorkItem& item) {
  return bytes_of_type(item.dtype) * static_cast<double>(item.layer.rows) * static_cast<double>(item.product().count);
}

std::optional<RooflinePoint> roofline_point(const ItemSummary& item) {
  // Elements of B that several columns read are moved once, and nobody says how many these are.
  const std::string& layout = item.item.nest.layout;
  if ((layout != "kn" && layout != "nk") || !item.microseconds || !item.kernel || item.kernel->packed_bytes <= 0 ||
      item.item.layer.nonzeros == 0) {
    return std::nullopt;
  }
  const double operations =
      2.0 * static_cast<double>(item.item.layer.nonzeros) * static_cast<double>(item.item.product().count);
  const double bytes = static_cast<double>(item.kernel->packed_bytes) + bytes_of_b(item.item) + bytes_of_c(item.item);
  return RooflinePoint{&item, operations / bytes, operations / *item.microseconds / 1e3};
}

XyChart roofline(const std::vector<GroupSummary>& groups) {
  XyChart chart{.title = "Roofline: what the winners achieve over what they have to move",
                .horizontal = {"operations per byte of packed A, B and C", true, 2},
                .vertical = {"GFLOP/s", true, 10},
                .series = {},
                .level = std::nullopt};
  double from = 1;
  double to = 1;
  bool first = true;
  for (const GroupSummary& group : groups) {
    XyChart::Series series{fmt::format("N = {}", group.bcol), XyChart::Style::marks, {}};
    for (const ItemSummary& item : group.items) {
      if (const std::optional<RooflinePoint> point = roofline_point(item)) {
        series.points.push_back({point->intensity, point->gigaflops,
                                 fmt::format("{}: {:.2f} operations per byte, {:.0f} GFLOP/s", label(item),
                                             point->intensity, point->gigaflops)});
        from = first ? point->intensity : std::min(from, point->intensity);
        to = first ? point->intensity : std::max(to, point->intensity);
        first = false;
      }
    }
    chart.series.push_back(std::move(series));
  }
  if (const auto ceilings = groups.empty() || first ? std::nullopt : device_ceilings(groups.front().setting.device)) {
    const double peak = ceilings->fp32_gigaflops;
    chart.series.push_back(ceiling("memory", ceilings->memory_gigabytes, peak, from, to));
    if (ceilings->l2_gigabytes) {
      chart.series.push_back(ceiling("L2", *ceilings->l2_gigabytes, peak, from, to));
    }
    chart.series.push_back(
        {fmt::format("FP32 peak, {:g} GFLOP/s", peak), XyChart::Style::line, {{from, peak}, {to, peak}}});
  }
  return chart;
}

}  // namespace esc::tuning

// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/coarsening_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "generator/schedule/occupancy.h"
#include "generator/schedule/schedule.h"
#include "generator/schedule/settings.h"
#include "generator/support/error.h"
#include "generator/support/means.h"

namespace esc::tuning {
namespace {

using Place = std::pair<int, int>;

/// UFi and UFk of a schedule of the family; absent for another one, and for one that this version does not know.
std::optional<Place> place_of(const std::string& text, const std::string& family) {
  if (!text.starts_with(family + ":") || !is_accepted([&] { parse_schedule(text); })) {
    return std::nullopt;
  }
  const Schedule schedule = parse_schedule(text);
  if (const auto* atomic = std::get_if<AtomicSchedule>(&schedule)) {
    return Place{atomic->ufi, atomic->ufk};
  }
  if (const auto* panel = std::get_if<PanelSchedule>(&schedule)) {
    return Place{panel->ufi, panel->ufk};
  }
  return std::nullopt;
}

/// The fastest schedule of each place, for one layer.
std::map<Place, const CandidateResult*> fastest_by_place(const ItemResults& results, const std::string& family) {
  std::map<Place, const CandidateResult*> fastest;
  for (const auto& [text, result] : results.search) {
    if (result.outcome != Outcome::ok || result.microseconds <= 0) {
      continue;
    }
    if (const std::optional<Place> place = place_of(text, family)) {
      const CandidateResult*& best = fastest[*place];
      best = best == nullptr || result.microseconds < best->microseconds ? &result : best;
    }
  }
  return fastest;
}

struct Sums {
  std::vector<double> relative_times;
  std::vector<double> warps;
};

}  // namespace

std::optional<int> warps_on(const DeviceKey& device, const KernelFacts& kernel) {
  try {
    return resident_warps(kernel, sm_limits(device.capability));
  } catch (const UserError&) {
    return std::nullopt;
  }
}

std::map<std::pair<int, int>, CoarseningCell> coarsening_map(const GroupSummary& group,
                                                             const std::map<ItemKey, ItemResults>& items,
                                                             const std::string& family) {
  std::map<Place, Sums> sums;
  for (const ItemSummary& item : group.items) {
    const auto fastest = fastest_by_place(items.at(key_of(item.item)), family);
    double best = 0;
    for (const auto& [place, result] : fastest) {
      best = best == 0 ? result->microseconds : std::min(best, result->microseconds);
    }
    for (const auto& [place, result] : fastest) {
      sums[place].relative_times.push_back(result->microseconds / best);
      if (const auto warps = result->kernel ? warps_on(group.setting.device, *result->kernel) : std::nullopt) {
        sums[place].warps.push_back(*warps);
      }
    }
  }
  std::map<Place, CoarseningCell> cells;
  for (const auto& [place, sum] : sums) {
    CoarseningCell& cell = cells[place];
    cell.layers = sum.relative_times.size();
    cell.relative_time = geometric_mean(sum.relative_times).value_or(1);
    double total = 0;
    for (const double warps : sum.warps) {
      total += warps;
    }
    if (!sum.warps.empty()) {
      cell.warps = total / static_cast<double>(sum.warps.size());
    }
  }
  return cells;
}

HeatMap heat_map(const std::map<std::pair<int, int>, CoarseningCell>& cells, const std::string& title) {
  HeatMap map{.title = title, .row_label = "UFi", .column_label = "UFk", .cells = {}};
  for (const auto& [place, cell] : cells) {
    map.cells[place] = {cell.relative_time, cell.warps ? fmt::format("{:.0f} warps", *cell.warps) : ""};
  }
  return map;
}

}  // namespace esc::tuning

#include "tests/support/reference_regions.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace esc::tests {
namespace {

/// The values of a column of A in the rows of a panel.
using PanelColumn = std::vector<double>;
/// The columns of a lane group, in the order in which it reads them.
using GroupList = std::vector<std::pair<std::int64_t, PanelColumn>>;
/// The lists of the lane groups of a region.
using Region = std::vector<GroupList>;

/// The columns in which a row of the panel is non-zero, ascending.
std::map<std::int64_t, PanelColumn> columns_of_panel(const SparseMatrix& matrix, std::int64_t panel, int height) {
  std::map<std::int64_t, PanelColumn> columns;
  for (std::int64_t row = panel * height; row < std::min<std::int64_t>(matrix.rows, (panel + 1) * height); ++row) {
    for (auto entry = static_cast<std::size_t>(matrix.offsets[static_cast<std::size_t>(row)]);
         entry < static_cast<std::size_t>(matrix.offsets[static_cast<std::size_t>(row) + 1]); ++entry) {
      PanelColumn& column = columns[matrix.column_of[entry]];
      column.resize(static_cast<std::size_t>(height));
      column[static_cast<std::size_t>(row - panel * height)] = matrix.values[entry];
    }
  }
  return columns;
}

std::vector<Region> deal(const SparseMatrix& matrix, const PanelSchedule& schedule) {
  const std::int64_t block_rows = std::int64_t{schedule.panels} * schedule.ufi;
  const std::int64_t panels = (matrix.rows + block_rows - 1) / block_rows * schedule.panels;
  const int warp_panels = schedule.warp_panels();
  std::vector<Region> regions(static_cast<std::size_t>(panels / warp_panels * schedule.warps),
                              Region(static_cast<std::size_t>(warp_panels * schedule.groups)));
  for (std::int64_t panel = 0; panel < panels; ++panel) {
    std::int64_t part = 0;
    for (const auto& [column, values] : columns_of_panel(matrix, panel, schedule.ufi)) {
      const std::int64_t region = panel / warp_panels * schedule.warps + part / schedule.groups;
      const std::int64_t group = panel % warp_panels * schedule.groups + part % schedule.groups;
      regions[static_cast<std::size_t>(region)][static_cast<std::size_t>(group)].emplace_back(column, values);
      part = (part + 1) % (schedule.warps * schedule.groups);
    }
  }
  return regions;
}

/// Fills every list up to the same length, a multiple of `multiple`; returns that.
std::size_t fill_up(Region& region, std::size_t multiple, std::size_t height) {
  std::size_t steps = 0;
  for (const GroupList& list : region) {
    steps = std::max(steps, list.size());
  }
  steps = (steps + multiple - 1) / multiple * multiple;
  for (GroupList& list : region) {
    const std::int64_t column = list.empty() ? 0 : list.back().first;
    list.resize(steps, {column, PanelColumn(height)});
  }
  return steps;
}

}  // namespace

ReferenceRegions reference_regions(const SparseMatrix& matrix, const PanelSchedule& schedule) {
  const auto height = static_cast<std::size_t>(schedule.ufi);
  std::vector<Region> regions = deal(matrix, schedule);
  ReferenceRegions result;
  // A region has room for one round of steps even where it has none, for loads that run ahead.
  auto most_steps = static_cast<std::size_t>(schedule.ufk);
  for (Region& region : regions) {
    const std::size_t steps = fill_up(region, static_cast<std::size_t>(schedule.ufk), height);
    result.steps.elements.push_back(static_cast<double>(steps));
    most_steps = std::max(most_steps, steps);
  }
  for (const Region& region : regions) {
    for (std::size_t step = 0; step < most_steps; ++step) {
      for (const GroupList& list : region) {
        const bool there = step < list.size();
        const PanelColumn nothing(height, std::nan(""));
        const PanelColumn& values = there ? list[step].second : nothing;
        result.columns.elements.push_back(there ? static_cast<double>(list[step].first) : -1);
        result.values.elements.insert(result.values.elements.end(), values.begin(), values.end());
      }
    }
  }
  const auto count = static_cast<std::int64_t>(regions.size());
  const std::int64_t groups = schedule.warp_panels() * schedule.groups;
  result.steps.extents = {count};
  result.columns.extents = {count, static_cast<std::int64_t>(most_steps), groups};
  result.values.extents = {count, static_cast<std::int64_t>(most_steps), groups, schedule.ufi};
  return result;
}

}  // namespace esc::tests

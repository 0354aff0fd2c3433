// SPDX-License-Identifier: Apache-2.0
#include "tuner/space/cuts.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "generator/schedule/kernel_estimate.h"
#include "generator/schedule/occupancy.h"
#include "tuner/space/item_cost.h"

namespace esc::tuning {
namespace {

/// A schedule with all that is known of it before it is built.
struct Prospect {
  Schedule schedule;
  std::string text;
  double microseconds = 0;
  std::string reason;  ///< empty where it is kept
};

using Group = std::tuple<std::string, int, int>;

int columns_of(const AtomicSchedule& schedule) { return 32 * schedule.warptile; }
int columns_of(const PanelSchedule& schedule) { return schedule.columns; }
int columns_of(const RowsSchedule& schedule) { return schedule.columns; }
int columns_of(const StreamSchedule& schedule) { return schedule.columns; }
int columns_of(const GatherSchedule&) { return GatherSchedule::columns; }
int columns_of(const BitmapSchedule& schedule) { return schedule.columns; }

Group group_of(const Schedule& schedule) {
  return {family(schedule), row_tile_height(schedule),
          std::visit([](const auto& one) { return columns_of(one); }, schedule)};
}

int least_warps(const Schedule& schedule) {
  if (const auto* atomic = std::get_if<AtomicSchedule>(&schedule)) {
    return atomic->ufk == 1 ? 17 : 13;
  }
  return std::holds_alternative<StreamSchedule>(schedule) || std::holds_alternative<GatherSchedule>(schedule) ||
                 std::holds_alternative<BitmapSchedule>(schedule)
             ? 4
             : 8;
}

std::vector<Prospect> prospects(const std::vector<Schedule>& space, const std::vector<Schedule>& always,
                                const WorkItem& item) {
  std::vector<Prospect> result;
  std::set<std::string> seen;
  const auto add = [&](const Schedule& schedule) {
    std::string text = print(schedule);
    if (seen.insert(text).second) {
      result.push_back({schedule, std::move(text), predicted_cost(schedule, item).microseconds, {}});
    }
  };
  std::for_each(space.begin(), space.end(), add);
  std::for_each(always.begin(), always.end(), add);
  std::sort(result.begin(), result.end(), [](const Prospect& left, const Prospect& right) {
    return std::tie(left.microseconds, left.text) < std::tie(right.microseconds, right.text);
  });
  return result;
}

std::string too_slow(double factor) { return fmt::format("predicted to take more than {:g} times the best", factor); }
std::string too_many(std::size_t most) {
  return fmt::format("not among the {} that are predicted to be the fastest", most);
}

/// Says of each prospect, the best first, why it is cut.
void mark(std::vector<Prospect>& sorted, const WorkItem& item, const CutLimits& limits) {
  std::map<Group, std::size_t> of_group;
  std::size_t kept = 0;
  std::optional<double> best;
  for (Prospect& prospect : sorted) {
    if (auto reason = occupancy_cut(prospect.schedule, estimated_kernel(prospect.schedule, item), item.device)) {
      prospect.reason = *reason;
      continue;
    }
    best = best.value_or(prospect.microseconds);
    if (of_group[group_of(prospect.schedule)]++ < limits.of_group) {
      ++kept;
    } else if (prospect.microseconds > limits.factor * *best) {
      prospect.reason = too_slow(limits.factor);
    } else if (kept >= limits.most) {
      prospect.reason = too_many(limits.most);
    } else {
      ++kept;
    }
  }
}

}  // namespace

std::optional<std::string> occupancy_cut(const Schedule& schedule, const KernelFacts& kernel, const DeviceKey& device) {
  const SmLimits limits = sm_limits(device.capability);
  const int blocks = resident_blocks(kernel, limits);
  if (blocks == 0) {
    return "does not fit on a multiprocessor";
  }
  const bool fills_device = kernel.blocks > static_cast<std::int64_t>(blocks) * device.multiprocessors;
  if (fills_device && resident_warps(kernel, limits) < least_warps(schedule)) {
    return "keeps too few warps on a multiprocessor";
  }
  return {};
}

Candidates choose_candidates(const std::vector<Schedule>& space, const WorkItem& item, const CutLimits& limits,
                             const std::vector<Schedule>& always, bool exhaustive) {
  std::vector<Prospect> sorted = prospects(space, always, item);
  mark(sorted, item, limits);
  Candidates candidates;
  for (const Prospect& prospect : sorted) {
    const bool demanded = std::find(always.begin(), always.end(), prospect.schedule) != always.end();
    if (prospect.reason.empty() || demanded) {
      candidates.kept.push_back({prospect.schedule, prospect.microseconds, {}});
    } else if (exhaustive) {
      candidates.kept.push_back({prospect.schedule, prospect.microseconds, prospect.reason});
    } else {
      candidates.cut.push_back({prospect.schedule, prospect.reason, prospect.microseconds});
    }
  }
  return candidates;
}

}  // namespace esc::tuning

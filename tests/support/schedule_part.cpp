// SPDX-License-Identifier: Apache-2.0
#include "tests/support/schedule_part.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <variant>

#include "generator/matrix/drawn_value.h"
#include "generator/schedule/settings.h"
#include "tests/support/covering_sample.h"
#include "tests/support/run_size.h"

namespace esc::tests {
namespace {

constexpr std::array<std::int64_t, 9> bcols{1, 4, 31, 32, 33, 64, 100, 128, 257};

template <class Legal>
std::vector<ScheduleFor> for_every_bcol(const Legal& legal) {
  std::vector<ScheduleFor> all;
  for (const std::int64_t bcol : bcols) {
    for (const auto& schedule : legal(bcol)) {
      all.push_back({bcol, schedule});
    }
  }
  return all;
}

template <class Schedule>
const std::vector<Schedule>& found_once(std::vector<Schedule> (*legal)(long long), std::int64_t bcol) {
  static std::map<std::int64_t, std::vector<Schedule>> found;
  const auto [entry, is_new] = found.try_emplace(bcol);
  if (is_new) {
    entry->second = legal(bcol);
  }
  return entry->second;
}

struct KeysOf {
  int bcol = 0;

  /// No line of the kernel depends on what bCol is beyond that it allows the schedule.
  std::vector<int> operator()(const AtomicSchedule& one) const {
    return {one.ufi, one.ufk, one.warptile, one.threads, one.compaction};
  }
  std::vector<int> operator()(const PanelSchedule& one) const {
    return {bcol, one.ufi, one.columns, one.vector, one.groups, one.warps, one.row_tiles, one.ufk, one.stage, one.pdl};
  }
  std::vector<int> operator()(const StreamSchedule& one) const {
    return {bcol,      one.columns, one.row_tiles,
            one.warps, one.stages,  one.share,
            one.rows,  one.pdl,     one.copies == StreamSchedule::Copies::tma};
  }
  std::vector<int> operator()(const GatherSchedule& one) const { return {bcol, one.sets, one.warps, one.pdl}; }
  std::vector<int> operator()(const BitmapSchedule& one) const {
    return {bcol, one.columns, one.row_tiles, one.warps, one.stages, one.packed_tiles, one.has_warpgroups(), one.pdl};
  }
  std::vector<int> operator()(const RowsSchedule& one) const {
    return {bcol, one.columns, one.vector, one.unroll, one.task, one.light, one.warps, one.pdl};
  }
};

}  // namespace

std::vector<ScheduleFor> legal_atomic() {
  std::vector<ScheduleFor> all;
  // Each schedule that is legal for any bCol is legal for the widest; those for which it is take turns.
  for (AtomicSchedule schedule : legal_atomic_schedules(bcols.back())) {
    const std::int64_t least = schedule.threads <= 32 && schedule.warptile == 1
                                   ? 1
                                   : std::max<std::int64_t>(schedule.threads, 32 * schedule.warptile);
    const auto first = std::ranges::find_if(bcols, [least](std::int64_t bcol) { return bcol >= least; });
    for (const bool compaction : {true, false}) {
      schedule.compaction = compaction;
      all.push_back({first[static_cast<std::ptrdiff_t>(all.size()) % (bcols.end() - first)], schedule});
    }
  }
  return all;
}

const std::vector<PanelSchedule>& legal_panel_for(std::int64_t bcol) { return found_once(legal_panel_schedules, bcol); }

const std::vector<RowsSchedule>& legal_rows_for(std::int64_t bcol) { return found_once(legal_rows_schedules, bcol); }

std::vector<ScheduleFor> legal_panel() { return for_every_bcol(legal_panel_for); }
std::vector<ScheduleFor> legal_rows() { return for_every_bcol(legal_rows_for); }

std::vector<ScheduleFor> legal_gather() {
  std::vector<ScheduleFor> all;
  for (const GatherSchedule& schedule : legal_gather_schedules(bcols.front())) {
    all.push_back({bcols[all.size() % bcols.size()], schedule});
  }
  return all;
}

std::vector<ScheduleFor> legal_bitmap(bool are_contiguous) {
  std::vector<ScheduleFor> all;
  for (const BitmapSchedule& schedule : legal_bitmap_schedules({bcols.back(), are_contiguous})) {
    const auto is_legal = [&](std::int64_t bcol) {
      return is_accepted([&] { check_legal(schedule, {bcol, are_contiguous}); });
    };
    const auto first = std::ranges::find_if(bcols, is_legal);
    all.push_back({first[static_cast<std::ptrdiff_t>(all.size()) % (bcols.end() - first)], schedule});
  }
  return all;
}

std::vector<int> keys_of(const ScheduleFor& one) {
  return std::visit(KeysOf{static_cast<int>(one.bcol)}, one.schedule);
}

std::vector<ScheduleFor> ordinary_part(const std::vector<ScheduleFor>& legal) {
  return in_this_build(covering_part(legal, keys_of));
}

std::vector<ScheduleFor> drawn_part(const std::vector<ScheduleFor>& legal,
                                    const std::function<std::size_t(std::int64_t bcol)>& wanted) {
  std::map<std::int64_t, std::size_t> all;
  for (const ScheduleFor& one : legal) {
    ++all[one.bcol];
  }
  std::vector<ScheduleFor> part = ordinary_part(legal);
  std::ranges::copy_if(legal, std::back_inserter(part), [&](const ScheduleFor& one) {
    std::uint64_t hash = seed_of_the_run();
    for (const char character : print(one.schedule)) {
      hash = mix_bits(hash ^ static_cast<unsigned char>(character));
    }
    return hash % all[one.bcol] < wanted(one.bcol);
  });
  return part;
}

}  // namespace esc::tests

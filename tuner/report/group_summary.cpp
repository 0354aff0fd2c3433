// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/group_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "generator/support/means.h"

namespace esc::tuning {
namespace {

Comparison compare(const std::vector<ItemSummary>& items, std::optional<double> ItemSummary::* ours, Rival rival) {
  std::vector<double> speed_ups;
  for (const ItemSummary& item : items) {
    const std::optional<double> theirs = time_of(item, rival);
    if (theirs && item.*ours) {
      speed_ups.push_back(*theirs / *(item.*ours));
    }
  }
  const auto faster =
      static_cast<std::size_t>(std::ranges::count_if(speed_ups, [](double ratio) { return ratio > 1; }));
  return {speed_ups.size(), geometric_mean(speed_ups), share_of(faster, speed_ups.size())};
}

void fill(GroupSummary& group) {
  std::vector<double> times;
  for (const ItemSummary& item : group.items) {
    if (item.microseconds) {
      times.push_back(*item.microseconds);
    }
    if (item.verdict) {
      ++group.verdicts[*item.verdict];
    }
  }
  group.right = times.size();
  group.microseconds = geometric_mean(times);
  for (const Rival rival : every_rival) {
    group.plain[rival] = compare(group.items, &ItemSummary::microseconds, rival);
    group.chain[rival] = compare(group.items, &ItemSummary::chain_microseconds, rival);
  }
}

}  // namespace

Setting setting_of(const ItemSummary& item) {
  return {item.item.device, item.item.dtype, item.item.cache, item.item.nest.layout};
}

std::string print(const Setting& setting) {
  return fmt::format("{}, {}, L2 {}{}", print(setting.device), setting.dtype, print(setting.cache),
                     setting.layout == "kn" ? "" : ", " + setting.layout);
}

std::string print(Rival rival, const std::vector<GroupSummary>& groups) {
  const std::string dtype = groups.empty() ? "f32" : groups.front().setting.dtype;
  const bool is_one =
      std::ranges::all_of(groups, [&](const GroupSummary& group) { return group.setting.dtype == dtype; });
  return is_one || rival != Rival::cublas_fp32 ? print(rival, dtype) : "cuBLAS in the layer's type";
}

std::vector<GroupSummary> group(const std::vector<ItemSummary>& items) {
  std::map<std::pair<Setting, std::int64_t>, std::vector<ItemSummary>> by_key;
  for (const ItemSummary& item : items) {
    by_key[{setting_of(item), item.item.bcol}].push_back(item);
  }
  std::vector<GroupSummary> groups;
  for (auto& [key, members] : by_key) {
    GroupSummary group;
    group.setting = key.first;
    group.bcol = key.second;
    group.items = std::move(members);
    fill(group);
    groups.push_back(std::move(group));
  }
  return groups;
}

}  // namespace esc::tuning

// SPDX-License-Identifier: Apache-2.0
#include "generator/schedule/gone_entries.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "generator/schedule/gone_schedules.h"

namespace esc {
namespace {

/// Closes the gaps between the candidates that are left, with their losses alone in the classes.
void number_anew(DatabaseEntries& entries) {
  std::ranges::sort(entries.candidates, {},
                    [](const CandidateEntry& entry) { return std::tuple(entry.bcol, entry.number); });
  std::map<long long, std::vector<std::size_t>> numbers;  // that they had, by bCol
  for (CandidateEntry& entry : entries.candidates) {
    std::vector<std::size_t>& of_bcol = numbers[entry.bcol];
    of_bcol.push_back(static_cast<std::size_t>(std::exchange(entry.number, static_cast<int>(of_bcol.size()))));
  }
  for (ClassEntry& entry : entries.classes) {
    std::vector<CandidateLoss> left;
    for (const std::size_t number : numbers[entry.layers.bcol]) {
      left.push_back(entry.losses[number]);
    }
    entry.losses = std::move(left);
  }
  std::erase_if(entries.classes, [](const ClassEntry& entry) { return entry.losses.empty(); });
}

}  // namespace

std::size_t leave_out_gone(DatabaseEntries& entries, std::string_view dtype) {
  const auto leave_out = [&](auto& some) {
    return std::erase_if(some, [&](const auto& entry) { return is_gone(entry.schedule, dtype); });
  };
  const std::size_t gone = leave_out(entries.candidates) + leave_out(entries.layers) + leave_out(entries.defaults);
  number_anew(entries);
  return gone;
}

}  // namespace esc

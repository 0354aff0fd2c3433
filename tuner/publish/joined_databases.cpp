// SPDX-License-Identifier: Apache-2.0
#include "tuner/publish/joined_databases.h"

#include <algorithm>
#include <iterator>
#include <set>

namespace esc::tuning {
namespace {

long long bcol_of(const ClassEntry& entry) { return entry.layers.bcol; }
long long bcol_of(const auto& entry) { return entry.bcol; }

/// Appends the entries for other numbers of columns than these.
template <class Entry>
void append_others(std::vector<Entry>& entries, const std::vector<Entry>& there, const std::set<long long>& made) {
  std::ranges::copy_if(there, std::back_inserter(entries),
                       [&](const Entry& entry) { return !made.contains(bcol_of(entry)); });
}

ScheduleDatabase joined(const ScheduleDatabase& made, const ScheduleDatabase& there) {
  DatabaseEntries entries{made.candidates(), made.classes(), made.layers(), made.defaults()};
  std::set<long long> bcols;
  const auto note = [&](const auto& some) {
    std::ranges::transform(some, std::inserter(bcols, bcols.end()), [](const auto& entry) { return bcol_of(entry); });
  };
  note(made.candidates());
  note(made.layers());
  note(made.defaults());
  append_others(entries.candidates, there.candidates(), bcols);
  append_others(entries.classes, there.classes(), bcols);
  append_others(entries.layers, there.layers(), bcols);
  append_others(entries.defaults, there.defaults(), bcols);
  return ScheduleDatabase(made.head(), std::move(entries));
}

}  // namespace

std::vector<ScheduleDatabase> joined_databases(std::vector<ScheduleDatabase> made,
                                               const std::vector<ScheduleDatabase>& there) {
  for (const ScheduleDatabase& old : there) {
    const auto own = std::ranges::find(made, old.head().layout, [](const auto& one) { return one.head().layout; });
    if (own == made.end()) {
      made.push_back(old);
    } else if (own->head() == old.head()) {
      *own = joined(*own, old);
    }
  }
  return made;
}

}  // namespace esc::tuning

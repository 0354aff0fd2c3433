// SPDX-License-Identifier: Apache-2.0
#include "tuner/records/gone_records.h"

#include <algorithm>
#include <string>

#include "generator/schedule/gone_schedules.h"

namespace esc::tuning {
namespace {

bool names_gone(const Record& record) {
  const auto* const candidate = std::get_if<CandidateRecord>(&record);
  const std::string& schedule = candidate != nullptr ? candidate->candidate : std::get<DecisionRecord>(record).winner;
  return esc::is_gone(schedule, item_of(record).dtype);
}

}  // namespace

std::size_t count_gone(const std::vector<Record>& records) {
  return static_cast<std::size_t>(std::ranges::count_if(records, names_gone));
}

std::vector<Record> without_gone(std::vector<Record> records) {
  std::erase_if(records, names_gone);
  return records;
}

}  // namespace esc::tuning

// SPDX-License-Identifier: Apache-2.0
#include "tuner/commands/known_records.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "generator/commands/own_measurements.h"
#include "tuner/records/gone_records.h"
#include "tuner/records/record_text.h"

namespace esc {

std::vector<tuning::Record> read_known_records(const std::vector<std::string>& files, const Console& console) {
  std::vector<tuning::Record> all;
  for (const std::string& file : files) {
    std::vector<tuning::Record> records = tuning::read_records({file});
    say_gone({file, tuning::count_gone(records)}, console);
    std::ranges::move(tuning::without_gone(std::move(records)), std::back_inserter(all));
  }
  return all;
}

}  // namespace esc

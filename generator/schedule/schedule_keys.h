// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace esc {

/// A key of a family's schedules. Parser, printer, help and reference are made from these.
struct ScheduleKey {
  std::string_view name;     ///< "tile"
  std::string_view form;     ///< what its value looks like: "MxKxN", "NUMBER", "on|off"
  std::string_view meaning;  ///< in a sentence without a full stop
  std::string_view old;      ///< the keys that said it before, separated by spaces; read, and not printed
};

/// A family of schedules and its keys, in the order in which they are printed.
struct ScheduleFamily {
  std::string_view name;
  std::string_view purpose;
  std::vector<ScheduleKey> keys;
};

/// All families.
const std::vector<ScheduleFamily>& schedule_families();

/// The family of this name. Throws Defect where there is none.
const ScheduleFamily& schedule_family(std::string_view name);

/// The names of the families.
std::vector<std::string> schedule_family_names();

/// "bitmap|cp_async" and so on: the words that the value of a key may be; empty where it is a number or a tile.
std::vector<std::string> words_of(const ScheduleKey& key);

}  // namespace esc

// SPDX-License-Identifier: Apache-2.0
#include "generator/commands/own_measurements.h"

namespace esc {

void say_gone(const GoneEntries& gone, const Console& console) {
  if (gone.count > 0) {
    console.say(describe(gone));
  }
}

UserMeasurements read_own_measurements(const std::string& database, const Console& console) {
  UserMeasurements own = read_measurements(database);
  for (const GoneEntries& gone : own.gone) {
    say_gone(gone, console);
  }
  return own;
}

}  // namespace esc

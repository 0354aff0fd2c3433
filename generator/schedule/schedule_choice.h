// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "generator/schedule/dense_comparison.h"
#include "generator/schedule/measured_ratios.h"
#include "generator/schedule/measurement.h"
#include "generator/schedule/schedule.h"
#include "generator/schedule/schedule_database.h"

namespace esc {

/// A schedule with where it came from, for the manifest and the user.
struct ScheduleChoice {
  Schedule schedule;
  std::string source;  ///< "user", or "database: ...", "published: ...", "default: ..." with the evidence
  std::vector<std::string> notes = {};        ///< what the user should know: that a library is faster, for example
  std::optional<DatabaseHead> database = {};  ///< that it is from; absent where it is from none
  bool is_own = false;  ///< measured of the very layer by a database of the user: only his own limit of bytes counts
  std::vector<Directive> script = {};           ///< of the user's own, in place of the schedule; empty: none
  std::optional<Measurement> evidence = {};     ///< of the very layer or of a class close to it
  std::optional<MeasuredRatios> measured = {};  ///< of exactly this case, as `settled` finds; absent where it was not
  std::string not_measured = {};                ///< why it was not; empty where nobody has asked
  std::optional<DenseComparison> beside_dense = {};  ///< on the device that it is made for, where that is known
};

/// The choice with what its evidence says of a case, whose schedule is that of the choice: the numbers that were
/// measured of exactly that, or why there are none, and notes where a library was faster.
ScheduleChoice settled(ScheduleChoice choice, const MeasuredCase& wanted);

/// Whether a schedule's text is a script of directives and not one of a family.
bool is_script(std::string_view text);

/// A sentence for each word of a script that the release before used and the next one does not read; none for a
/// schedule of a family. Throws ScheduleError.
std::vector<std::string> old_words_notes(const std::string& text);

/// The schedule or script of this text. Throws ScheduleError.
ScheduleChoice parse_choice(const std::string& text, const std::string& source);

/// What the choice is made of: the script, or the directives that the schedule stands for, with one that places the
/// nest's epilogue where it has one.
std::vector<Directive> directives_of(const ScheduleChoice& choice, bool finishes_sums);
/// The text by which it is given, and the name of its family: "script" for a script.
std::string text_of(const ScheduleChoice& choice);
std::string family_of(const ScheduleChoice& choice);

/// Throws ScheduleError unless the schedule is legal for these columns. What a script may say its steps decide.
void check_legal(const ScheduleChoice& choice, const ProductColumns& columns);

}  // namespace esc

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "generator/schedule/schedule_database.h"

namespace esc {

/// The finite number that is the whole of a text; absent where it is none.
std::optional<double> finite_in(std::string_view text);

/// The words of one line of a schedule database, taken from the front. Each that is not what is asked for is refused
/// by a UserError, whose place is that of the line.
class DatabaseLine {
 public:
  DatabaseLine(std::string text, std::string place);

  std::string word();
  /// The layout that is here; that of kn where a number is.
  std::string layout();
  /// The state of the cache that is here; the given one where a number is.
  CacheState cache_or(CacheState otherwise);
  /// A whole number from `least` to `most`.
  long long number(long long least, long long most);
  long long bcol();
  /// bCol, and four numbers that are twice a logarithm.
  LayerClass layers();
  /// A ratio of times; absent for "-".
  std::optional<double> ratio();
  /// A number above 0, which is what the phrase says; absent for "-".
  std::optional<double> positive(const char* what);
  /// One that is legal for these columns in this layout; absent where it is gone whatever the type.
  std::optional<Schedule> schedule_for(const std::string& layout, long long bcol);
  /// All losses that are left in the line.
  std::vector<CandidateLoss> losses();
  /// What is left of the line; absent where it is gone whatever the type.
  std::optional<Schedule> schedule();
  /// The first digits of a pattern's SHA-256.
  std::string pattern();
  ScheduleEvidence evidence();
  DeviceKey device_key();
  /// What is left of the line, with blanks inside it.
  std::string rest();
  /// Refuses a line of which something is left.
  void end();

  [[noreturn]] void refuse(const std::string& rule) const;

 private:
  /// What `read` refuses, with this line as its place.
  template <typename Read>
  auto without_place(Read read) -> decltype(read());

  /// The next word; empty at the end of the line.
  std::string next_word();
  void skip_blanks();
  bool has_name_next();

  std::string text_;
  std::size_t at_ = 0;  ///< what is before it is read
  std::string place_;
};

}  // namespace esc

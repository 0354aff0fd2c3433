// SPDX-License-Identifier: Apache-2.0
#include "generator/schedule/database_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>
#include <utility>

#include "generator/schedule/gone_schedules.h"
#include "generator/support/error.h"

namespace esc {
namespace {

constexpr std::string_view blanks = " \t\n\v\f\r";

}  // namespace

std::optional<double> finite_in(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool is_whole = error == std::errc() && end == text.data() + text.size();
  return is_whole && std::isfinite(value) ? std::optional(value) : std::nullopt;
}

DatabaseLine::DatabaseLine(std::string text, std::string place) : text_(std::move(text)), place_(std::move(place)) {}

template <typename Read>
auto DatabaseLine::without_place(Read read) -> decltype(read()) {
  try {
    return read();
  } catch (const UserError& problem) {
    throw UserError(place_, fmt::format("{} {}", problem.place(), problem.rule()), problem.remedy());
  }
}

void DatabaseLine::skip_blanks() { at_ = std::min(text_.find_first_not_of(blanks, at_), text_.size()); }

std::string DatabaseLine::next_word() {
  skip_blanks();
  const std::size_t begin = at_;
  at_ = std::min(text_.find_first_of(blanks, begin), text_.size());
  return text_.substr(begin, at_ - begin);
}

std::string DatabaseLine::word() {
  std::string next = next_word();
  if (next.empty()) {
    refuse("ends too early");
  }
  return next;
}

bool DatabaseLine::has_name_next() {
  skip_blanks();
  return at_ < text_.size() && text_[at_] >= 'a' && text_[at_] <= 'z';
}

std::string DatabaseLine::layout() {
  constexpr std::size_t longest = 64;
  if (!has_name_next()) {
    return "kn";
  }
  const std::string name = word();
  if (name.size() > longest || name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_.") != std::string::npos) {
    refuse(fmt::format("has '{}' where the name of a layout is needed", name));
  }
  if (name == "kn") {
    refuse("names the layout kn, which is meant without a name");
  }
  return name;
}

CacheState DatabaseLine::cache_or(CacheState otherwise) {
  if (!has_name_next()) {
    return otherwise;
  }
  const std::string text = word();
  for (const CacheState state : {CacheState::warm, CacheState::cold}) {
    if (text == print(state)) {
      return state;
    }
  }
  refuse(fmt::format("has '{}' where warm or cold is needed", text));
}

long long DatabaseLine::number(long long least, long long most) {
  const std::string text = word();
  long long value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < least || value > most) {
    refuse(fmt::format("has '{}' where a whole number from {} to {} is needed", text, least, most));
  }
  return value;
}

long long DatabaseLine::bcol() { return number(1, 0x7fffffff); }

LayerClass DatabaseLine::layers() {
  const auto twice_logarithm = [this] { return static_cast<int>(number(-126, 126)); };
  LayerClass found{.bcol = bcol()};
  found.rows = twice_logarithm();
  found.columns = twice_logarithm();
  found.mean_row = twice_logarithm();
  found.longest_row = twice_logarithm();
  return found;
}

std::optional<double> DatabaseLine::ratio() { return positive("a ratio of times"); }

std::optional<double> DatabaseLine::positive(const char* what) {
  const std::string text = word();
  if (text == "-") {
    return std::nullopt;
  }
  const std::optional<double> value = finite_in(text);
  if (!value || *value <= 0) {
    refuse(fmt::format("has '{}' where {}, above 0, or - is needed", text, what));
  }
  return value;
}

std::optional<Schedule> DatabaseLine::schedule_for(const std::string& layout, long long bcol) {
  return without_place([&, text = word()]() -> std::optional<Schedule> {
    if (is_gone(text)) {
      return std::nullopt;
    }
    const Schedule result = parse_schedule(text);
    // Whether columns are one after the other the name of another layout does not say: the schedule is fitted to
    // them when it is taken.
    check_legal(result, {bcol, layout == "kn"});
    return result;
  });
}

std::optional<Schedule> DatabaseLine::schedule() {
  return without_place(
      [&, text = rest()] { return is_gone(text) ? std::nullopt : std::optional(parse_schedule(text)); });
}

std::vector<CandidateLoss> DatabaseLine::losses() {
  std::vector<CandidateLoss> result;
  for (std::string text = next_word(); !text.empty(); text = next_word()) {
    const bool estimated = text.starts_with('~');
    const std::optional<double> percent = finite_in(std::string_view(text).substr(estimated ? 1 : 0));
    if (!percent || *percent < 0) {
      refuse(fmt::format("has '{}' where a loss in per cent, 0 or more, with or without ~ in front, is needed", text));
    }
    result.push_back({*percent, estimated});
  }
  return result;
}

std::string DatabaseLine::pattern() {
  const std::string text = word();
  if (text.size() < 16 || text.size() > 64 || text.find_first_not_of("0123456789abcdef") != std::string::npos) {
    refuse(fmt::format("has '{}' where 16 to 64 lower-case hexadecimal digits are needed", text));
  }
  return text;
}

ScheduleEvidence DatabaseLine::evidence() {
  ScheduleEvidence found{.matrices = static_cast<int>(number(0, 0x7fffffff))};
  found.loss = ratio();
  found.worst = ratio();
  found.over_exact = ratio();
  found.over_tf32 = ratio();
  return found;
}

DeviceKey DatabaseLine::device_key() {
  return without_place([&, text = word()] { return parse_device_key(text); });
}

std::string DatabaseLine::rest() {
  skip_blanks();
  return text_.substr(std::exchange(at_, text_.size()));
}

void DatabaseLine::end() {
  if (const std::string more = rest(); !more.empty()) {
    refuse(fmt::format("goes on with '{}'", more));
  }
}

void DatabaseLine::refuse(const std::string& rule) const {
  throw UserError(place_, rule, "the comments of a file that esctune publish wrote say what a line holds");
}

}  // namespace esc

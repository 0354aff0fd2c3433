#include "generator/schedule/schedule_database.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "generator/support/error.h"

namespace esc {

extern const std::string_view h200_database;

namespace {

/// A layer's place among the classes, before rounding.
struct Logarithms {
  double bcol = 0;
  double rows = 0;
  double columns = 0;
  double sparsity = 0;
};

Logarithms logarithms(const LayerShape& shape) {
  const double elements = static_cast<double>(shape.rows) * static_cast<double>(shape.columns);
  const double nonzeros = std::max<double>(1, static_cast<double>(shape.nonzeros));
  return {std::log2(static_cast<double>(shape.bcol)), std::log2(static_cast<double>(shape.rows)),
          std::log2(static_cast<double>(shape.columns)), std::log2(elements / nonzeros)};
}

int rounded(double value) { return static_cast<int>(std::lround(value)); }

double distance(const Logarithms& at, const LayerClass& layers) {
  return 2 * std::abs(at.bcol - layers.bcol) + std::abs(at.rows - layers.rows) +
         0.5 * std::abs(at.columns - layers.columns) + std::abs(at.sparsity - layers.sparsity);
}

DatabaseEntry parse_entry(const std::string& line, const std::string& place) {
  std::istringstream stream(line);
  DatabaseEntry entry;
  std::string schedule;
  std::string more;
  stream >> entry.layers.bcol >> entry.layers.rows >> entry.layers.columns >> entry.layers.sparsity >> schedule >>
      entry.matrices >> entry.loss;
  if (!stream || stream >> more) {
    throw UserError(place, "is not an entry of a schedule database",
                    "write bcol rows columns sparsity schedule matrices loss");
  }
  entry.schedule = parse_schedule(schedule);
  return entry;
}

}  // namespace

LayerClass class_of(const LayerShape& shape) {
  const Logarithms at = logarithms(shape);
  return {rounded(at.bcol), rounded(at.rows), rounded(at.columns), rounded(at.sparsity)};
}

ScheduleDatabase ScheduleDatabase::parse(std::string_view text, const std::string& file) {
  ScheduleDatabase database;
  std::istringstream lines{std::string(text)};
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (line.starts_with('#')) {
      if (database.device_.empty()) {
        database.device_ = line.substr(std::min(line.size(), line.find_first_not_of("# ")));
      }
    } else if (!line.empty()) {
      database.entries_.push_back(parse_entry(line, fmt::format("{}:{}", file, number)));
    }
  }
  return database;
}

std::optional<ScheduleDatabase::Match> ScheduleDatabase::nearest(const LayerShape& shape) const {
  const Logarithms at = logarithms(shape);
  std::optional<Match> best;
  for (const DatabaseEntry& entry : entries_) {
    const double here = distance(at, entry.layers);
    if (!best || here < best->distance) {
      best = Match{entry, here};
    }
  }
  return best;
}

const ScheduleDatabase& shipped_database() {
  static const ScheduleDatabase database = ScheduleDatabase::parse(h200_database, "h200_f32.txt");
  return database;
}

}  // namespace esc

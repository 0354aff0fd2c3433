#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "generator/schedule/schedule.h"

namespace esc {

/// What a schedule is chosen for.
struct LayerShape {
  long long bcol = 1;
  std::int64_t rows = 1;
  std::int64_t columns = 1;
  std::int64_t nonzeros = 0;
};

/// A class of layers: logarithms to base 2, rounded, of the number of columns of B, of the sizes of A and of the reciprocal
/// of its density.
struct LayerClass {
  int bcol = 0;
  int rows = 0;
  int columns = 0;
  int sparsity = 0;
  auto operator<=>(const LayerClass&) const = default;
};

LayerClass class_of(const LayerShape& shape);

/// The best schedule for one class, with its evidence.
struct DatabaseEntry {
  LayerClass layers;
  Schedule schedule;
  int matrices = 0;  ///< of the class that were measured
  double loss = 1;   ///< geometric mean of its time over the best schedule of each of them
};

/// The schedules that were measured on one device, by class.
class ScheduleDatabase {
 public:
  /// Reads lines "bcol rows columns sparsity schedule matrices loss", separated by blanks, beside comments that begin with #.
  /// The first comment line names the device. Throws UserError (place: file and line) for anything else.
  static ScheduleDatabase parse(std::string_view text, const std::string& file);

  /// "one NVIDIA H200 ..."
  const std::string& device() const { return device_; }
  const std::vector<DatabaseEntry>& entries() const { return entries_; }

  /// The entry of the nearest class: the sum of the distances in its four logarithms, where a step in the columns of B counts
  /// twice and one in the columns of A half, because schedules depend on the first most and on the second least.
  /// Absent when the database is empty.
  struct Match {
    DatabaseEntry entry;
    double distance = 0;
  };
  std::optional<Match> nearest(const LayerShape& shape) const;

 private:
  std::string device_;
  std::vector<DatabaseEntry> entries_;
};

/// The database that is part of this program, measured on an H200.
const ScheduleDatabase& shipped_database();

}  // namespace esc

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "generator/schedule/device_key.h"
#include "generator/schedule/layer_class.h"
#include "generator/schedule/schedule.h"

namespace esc {

/// What is known of a schedule on some matrices. Ratios of times are geometric means over them, absent where not
/// measured.
struct ScheduleEvidence {
  int matrices = 0;
  std::optional<double> loss = {};   ///< its time over that of the best schedule of each
  std::optional<double> worst = {};  ///< the largest of these ratios
  std::optional<double> over_exact =
      {};  ///< time of the faster one of a dense product in FP32 and a sparse library over its time
  std::optional<double> over_tf32 = {};  ///< time of a dense product in TF32 over its time
  bool operator==(const ScheduleEvidence&) const = default;
};

/// One of the schedules among which a layer of any class gets its own, for a bCol.
struct CandidateEntry {
  long long bcol = 1;
  int number = 0;  ///< from 0 on, without gaps
  Schedule schedule;
  bool operator==(const CandidateEntry&) const = default;
};

/// What a candidate loses on the layers of a class.
struct CandidateLoss {
  double percent = 0;      ///< geometric mean of its time over that of the best schedule of each layer, above 1
  bool estimated = false;  ///< whether it was not measured, or not right, on some of the layers
  bool operator==(const CandidateLoss&) const = default;
};

/// What was measured on the layers of one class.
struct ClassEntry {
  LayerClass layers;
  int matrices = 1;
  /// Geometric means of the time of the faster one of a dense product in FP32 and a sparse library, and of that of a
  /// dense product in TF32, over that of the best schedule of each layer; absent where not measured.
  std::optional<double> over_exact = {};
  std::optional<double> over_tf32 = {};
  std::vector<CandidateLoss> losses;  ///< by the candidate's number
  /// Geometric mean of the time of that faster one, with an L2 cache that holds the operands; absent where not
  /// measured.
  std::optional<double> exact_microseconds = {};
  bool operator==(const ClassEntry&) const = default;
};

/// The best schedule of one layer, which gains over what the classes give for it.
struct LayerEntry {
  long long bcol = 1;
  std::string pattern;  ///< SHA-256 of its pattern: the first digits, 16 or more
  Schedule schedule;
  std::optional<double> gain = {};  ///< time of the schedule by the classes over that of this one
  std::optional<double> over_exact = {};
  std::optional<double> over_tf32 = {};
  bool operator==(const LayerEntry&) const = default;
};

/// The best single schedule for all layers from some number of columns of B on.
struct DefaultEntry {
  long long bcol = 1;
  Schedule schedule;
  ScheduleEvidence evidence = {};
  bool operator==(const DefaultEntry&) const = default;
};

/// Where the entries of a database are from.
enum class DatabaseOrigin { measured, published };

/// What a database is of.
struct DatabaseHead {
  DeviceKey key;
  std::string device;  ///< "NVIDIA H200": information
  std::string dtype = "f32";
  DatabaseOrigin origin = DatabaseOrigin::measured;
  std::string layout = "kn";  ///< how B and C lie: "kn", "nk" or another name of layout_class
  bool operator==(const DatabaseHead&) const = default;
};

/// "one NVIDIA H200 (sm90-132sm-60mib, measured)".
std::string describe(const DatabaseHead& head);

/// The entries of a database.
struct DatabaseEntries {
  std::vector<CandidateEntry> candidates = {};
  std::vector<ClassEntry> classes = {};
  std::vector<LayerEntry> layers = {};
  std::vector<DefaultEntry> defaults = {};
  bool operator==(const DatabaseEntries&) const = default;
};

/// The best schedules on one device for one element type and one layout.
class ScheduleDatabase {
 public:
  /// Entries in any order. Two entries for one thing, gaps in the numbers of candidates, and a class that has not one
  /// loss for each candidate of its bCol, are defects of the caller.
  ScheduleDatabase(DatabaseHead head, DatabaseEntries entries);

  /// What the text of a file has for layout kn; throws as databases_in does.
  static ScheduleDatabase parse(std::string_view text, const std::string& file);

  const DatabaseHead& head() const { return head_; }
  std::string describe() const { return esc::describe(head_); }
  /// By bCol and number, by class, by layer and by bCol, each in ascending order.
  const std::vector<CandidateEntry>& candidates() const { return entries_.candidates; }
  const std::vector<ClassEntry>& classes() const { return entries_.classes; }
  const std::vector<LayerEntry>& layers() const { return entries_.layers; }
  const std::vector<DefaultEntry>& defaults() const { return entries_.defaults; }

  /// The candidates and the classes of one bCol.
  std::span<const CandidateEntry> candidates_of(long long bcol) const;
  std::span<const ClassEntry> classes_of(long long bcol) const;
  /// The bCol with classes that is the nearest by its logarithm, the lesser one of two; absent where there is none.
  std::optional<long long> nearest_bcol(long long bcol) const;

  /// The entry of the layer's class; null where there is none.
  const ClassEntry* own_class(const LayerShape& shape) const;

  /// The entry of this very layer, by the whole of its pattern; null where there is none.
  const LayerEntry* layer(const LayerShape& shape) const;

  /// The default of the nearest bCol that is not above this one, else that of the least; null where there is none.
  const DefaultEntry* default_for(long long bcol) const;

  /// Whether it is part of the program, so that it was made beside the rules of schedules and is asked together with
  /// them. Two databases are equal that differ in nothing else.
  bool is_shipped() const { return shipped_; }
  /// The same database as a part of the program.
  ScheduleDatabase as_shipped() const;
  /// The same database with other entries.
  ScheduleDatabase with_entries(DatabaseEntries entries) const;

  bool operator==(const ScheduleDatabase& other) const { return head_ == other.head_ && entries_ == other.entries_; }

 private:
  DatabaseHead head_;
  DatabaseEntries entries_;
  bool shipped_ = false;
};

/// The databases in the text of a file, one for each layout, that of kn first, which is there in any case. Reads what
/// `print` writes; lines may be in any order, so that two files can be merged line by line. Throws UserError (place:
/// file and line) for anything else, and for what the constructor takes for a defect.
std::vector<ScheduleDatabase> databases_in(std::string_view text, const std::string& file);

/// The same, with what was left out of them: candidates, defaults and layers whose schedules are gone (`is_gone`). The
/// other candidates are numbered anew, and a class without a candidate goes, too.
struct ReadDatabases {
  std::vector<ScheduleDatabase> databases;
  std::size_t gone = 0;  ///< entries that named such schedules
};
ReadDatabases read_databases(std::string_view text, const std::string& file);

/// The text of a file: the head and one entry a line, sorted, after comments that say what the columns are. The
/// databases are of one device and element type, and each of another layout, in any order; those of kn name none. The
/// same databases give the same bytes.
std::string print(const std::vector<ScheduleDatabase>& databases);
std::string print(const ScheduleDatabase& database);

/// "sm90-132sm-60mib_f32.txt".
std::string file_name(const DatabaseHead& head);

/// The databases that are part of this program.
const std::vector<ScheduleDatabase>& shipped_databases();

/// The one that holds where no device is named: measured on an H200.
const ScheduleDatabase& shipped_database();

/// The measured one among those of a layout and an element type whose device is the nearest by `device_distance`: what
/// was measured on another device serves a layer better than what is merely published for its own. Where none is
/// measured, the nearest published one; null where none is of the layout and the type.
const ScheduleDatabase* find_nearest(const std::vector<ScheduleDatabase>& databases, const DeviceKey& device,
                                     const std::string& layout = "kn", const std::string& dtype = "f32");

/// The same of layout kn in f32, of which there must be one.
const ScheduleDatabase& nearest_database(const std::vector<ScheduleDatabase>& databases, const DeviceKey& device);

/// The nearest of the shipped ones.
const ScheduleDatabase& nearest_database(const DeviceKey& device);

/// The shipped one with the paper's schedules for the A100.
const ScheduleDatabase& published_database();

}  // namespace esc

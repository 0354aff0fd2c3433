// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <mutex>
#include <vector>

#include "tuner/records/device_rates.h"
#include "tuner/records/locked_file.h"
#include "tuner/records/record.h"

namespace esc::tuning {

/// A file of records that is only ever appended to, after a line that says what it is. Each line is on the disk when
/// `write` returns: whoever kills the program, or pulls the plug, loses nothing but the candidate in flight. One writer
/// at a time.
class Journal {
 public:
  /// Opens the file for going on, or begins it. A part of a record that a killed writer left at its end is removed.
  /// Throws UserError when the file is another writer's, is no journal, holds anything else that is no record, or
  /// cannot be written; then it is left as it was.
  explicit Journal(const std::filesystem::path& file);

  /// What was in the file when it was opened.
  const std::vector<Record>& records() const { return records_; }
  const std::vector<RatesRecord>& rates() const { return rates_; }
  /// Bytes of an unfinished line that were removed.
  std::size_t removed_bytes() const { return removed_bytes_; }
  /// Safe to call in parallel. Throws UserError when it cannot be written; then nothing of the record is in the file.
  void write(const Record& record);
  void write(const RatesRecord& record);

 private:
  void write_line(const std::string& text);
  [[noreturn]] void fail(const std::string& what) const;
  /// Removes what there is of the record that is being written, and fails.
  [[noreturn]] void take_back(const std::string& what);

  std::filesystem::path file_;
  LockedFile locked_;
  std::mutex mutex_;
  std::size_t bytes_ = 0;
  std::size_t removed_bytes_ = 0;
  std::vector<Record> records_;
  std::vector<RatesRecord> rates_;
};

}  // namespace esc::tuning

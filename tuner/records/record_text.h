// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "tuner/records/device_rates.h"
#include "tuner/records/record.h"

namespace esc::tuning {

/// The first line of a journal, without its end: what the file is, and in which format.
std::string journal_header();

/// A record as one line of JSON, keys sorted, without its end.
std::string print(const Record& record);
std::string print(const RatesRecord& record);

/// The record in a line. Throws UserError, with `place`, for what `print` has not written.
Record parse_record(const std::string& line, const std::string& place);

/// The records of a journal's text.
struct JournalText {
  bool has_header = false;
  std::vector<Record> records;
  std::vector<RatesRecord> rates;
  std::vector<std::string> damaged;  ///< "FILE:LINE: why", for lines that hold no record
  std::string unfinished;            ///< what is after the last end of a line: a killed writer can leave a part

  /// Whether it is a journal at all, or the beginning of one: it says so, or has records from before journals did, or
  /// is what a writer leaves that was killed in its first line.
  bool is_journal() const;
};

/// Whether a killed writer, or a disk that has lost its last pages, can have left this after the last end of a line.
bool may_be_unfinished_record(const std::string& text);

/// Reads what can be read; what cannot is listed. Journals that were put after each other are one.
JournalText parse_journal(const std::string& text, const std::string& file);

/// The records of some files. Throws UserError for a file that cannot be read and for a damaged line, a part of a line
/// at the end excepted.
std::vector<Record> read_records(const std::vector<std::string>& files);

/// The rates of devices in a file. Throws UserError as read_records does.
std::vector<RatesRecord> read_rates(const std::string& file);

}  // namespace esc::tuning

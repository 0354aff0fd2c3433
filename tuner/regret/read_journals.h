// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tuner/records/record.h"

namespace esc::tuning {

/// The records of one file: times of several files are not compared with each other.
struct JournalRecords {
  std::string name;  ///< the file's, without its folder and endings
  std::vector<Record> records;
  std::int64_t of_unknown_matrices = 0;  ///< times of matrices of which the journal does not say how large they are
};

/// The journals of esctune and of esc-bench among the given files, or in the given folders, by name. What ends in .xz
/// is unpacked. Throws UserError for a file that cannot be read, that is no journal or has a damaged line, and, with
/// status missing_tool, where there is no program that unpacks it.
std::vector<JournalRecords> read_journals(const std::vector<std::string>& files_and_folders);

}  // namespace esc::tuning

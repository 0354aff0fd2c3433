// SPDX-License-Identifier: Apache-2.0
#include "tuner/commands/begun_journal.h"

#include <system_error>

#include "generator/commands/own_measurements.h"
#include "tuner/records/gone_records.h"

namespace esc {
namespace {

namespace fs = std::filesystem;

bool is_there(const fs::path& file) {
  std::error_code ignored;
  return fs::exists(file, ignored);
}

}  // namespace

BegunJournal::BegunJournal(const fs::path& file) : file_(file), is_new_(!is_there(file)), journal_(file) {}

BegunJournal::~BegunJournal() {
  // The journal is still open, so that no other run can have begun to write it.
  std::error_code problem;
  if (is_new_ && fs::is_regular_file(file_, problem) && fs::file_size(file_, problem) == 0 && !problem) {
    fs::remove(file_, problem);
  }
}

void say_left_out(const tuning::Journal& journal, const std::string& file, const Console& console) {
  if (journal.removed_bytes() > 0) {
    console.say(fmt::format("{}: an unfinished line of {} bytes was removed", file, journal.removed_bytes()));
  }
  say_gone({file, tuning::count_gone(journal.records())}, console);
}

}  // namespace esc

// SPDX-License-Identifier: Apache-2.0
#include "tuner/records/journal.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "generator/support/error.h"
#include "generator/support/file.h"
#include "tuner/records/record_text.h"

namespace esc::tuning {
namespace {

namespace fs = std::filesystem;

/// The name of a new file is on the disk only when its folder is.
void flush_folder_of(const fs::path& file) {
  const fs::path folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor >= 0) {
    ::fsync(descriptor);
    ::close(descriptor);
  }
}

}  // namespace

void Journal::fail(const std::string& what) const {
  throw UserError(
      file_.string(), what + ": " + std::generic_category().message(errno),
      "free some space or give another place; what is in the file is whole, and the same command goes on from there");
}

Journal::Journal(const fs::path& file) : file_(file), locked_(file, O_RDWR | O_CREAT | O_APPEND) {
  std::error_code ignored;
  const std::string text = fs::is_regular_file(file, ignored) ? read_file(file, most_journal_bytes) : "";
  JournalText content = parse_journal(text, file.string());
  if (!content.is_journal()) {
    throw UserError(file.string(), "is no journal of esctune", "give another file; nothing of this one is changed");
  }
  if (!content.damaged.empty()) {
    throw UserError("", content.damaged.front());
  }
  if (!may_be_unfinished_record(content.unfinished)) {
    throw UserError(file.string(), "does not end as a journal does",
                    "give another file; nothing of this one is changed");
  }
  bytes_ = text.size() - content.unfinished.size();
  removed_bytes_ = content.unfinished.size();
  records_ = std::move(content.records);
  rates_ = std::move(content.rates);
  if (removed_bytes_ > 0 && ::ftruncate(locked_.descriptor(), static_cast<off_t>(bytes_)) != 0) {
    fail("cannot be shortened by an unfinished line");
  }
  flush_folder_of(file);
}

void Journal::take_back(const std::string& what) {
  const int reason = errno;
  static_cast<void>(::ftruncate(locked_.descriptor(), static_cast<off_t>(bytes_)));
  errno = reason;
  fail(what);
}

void Journal::write(const Record& record) { write_line(print(record)); }
void Journal::write(const RatesRecord& record) { write_line(print(record)); }

void Journal::write_line(const std::string& text) {
  std::string line = text + '\n';
  const std::lock_guard lock(mutex_);
  if (bytes_ == 0) {
    line.insert(0, journal_header() + '\n');
  }
  for (std::size_t written = 0; written < line.size();) {
    const ssize_t count = ::write(locked_.descriptor(), line.data() + written, line.size() - written);
    if (count < 0 && errno == EINTR) {
      continue;
    }
    if (count <= 0) {
      take_back("cannot be written");
    }
    written += static_cast<std::size_t>(count);
  }
  if (::fdatasync(locked_.descriptor()) != 0 && errno != EINVAL) {  // EINVAL: a pipe, say, which has no disk
    take_back("cannot be flushed to the disk");
  }
  bytes_ += line.size();
}

}  // namespace esc::tuning

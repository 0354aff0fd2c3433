// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/esc_bench_journal.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "generator/support/error.h"
#include "generator/support/file.h"

namespace esc::bench {

namespace fs = std::filesystem;

JournalContent read_journal(const std::string& text, const std::string& file) {
  JournalContent content;
  int number = 0;
  for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', content.whole_bytes)) {
    const std::string line = text.substr(content.whole_bytes, end - content.whole_bytes);
    content.whole_bytes = end + 1;
    ++number;
    const auto damaged = [&] {
      return UserError(fmt::format("{}:{}", file, number), "is not a line that this program has written",
                       "give another file, or mend this one");
    };
    if (!nlohmann::json::accept(line)) {
      throw damaged();
    }
    if (number == 1) {
      content.first_line = line;
    }
    try {
      if (const std::optional<PairResult> pair = parse_pair(line)) {
        content.completed.push_back(*pair);
      }
    } catch (const nlohmann::json::exception&) {
      throw damaged();
    }
  }
  return content;
}

Journal Journal::create(const fs::path& file, const std::string& first_line) {
  if (fs::exists(file)) {
    throw UserError(file.string(), "is there already", "give --resume to go on with it, or another name");
  }
  Journal journal;
  journal.file_ = file;
  journal.out_.open(file, std::ios::binary);
  journal.write(first_line);
  return journal;
}

Journal Journal::resume(const fs::path& file, const std::string& first_line) {
  if (!fs::exists(file)) {
    return create(file, first_line);
  }
  JournalContent content = read_journal(read_file(file, most_journal_bytes), file.string());
  if (!content.first_line.empty() && content.first_line != first_line) {
    throw UserError(file.string(), "was measured on another device, with other versions, schedules or options",
                    "give another file");
  }
  fs::resize_file(file, content.whole_bytes);
  Journal journal;
  journal.file_ = file;
  journal.completed_ = std::move(content.completed);
  journal.out_.open(file, std::ios::binary | std::ios::app);
  if (content.first_line.empty()) {
    journal.write(first_line);
  }
  return journal;
}

void Journal::write(const std::string& line) {
  if (file_.empty()) {
    return;
  }
  out_ << line << '\n' << std::flush;
  if (!out_) {
    throw UserError(file_.string(), "cannot be written", "free some space, or give another place");
  }
}

}  // namespace esc::bench

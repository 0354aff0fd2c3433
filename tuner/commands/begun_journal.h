// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "generator/commands/console.h"
#include "tuner/records/journal.h"

namespace esc {

/// The journal that a command appends to. One that the command has begun and come to nothing with is not left behind.
class BegunJournal {
 public:
  /// Throws UserError as Journal does.
  explicit BegunJournal(const std::filesystem::path& file);
  BegunJournal(const BegunJournal&) = delete;
  BegunJournal& operator=(const BegunJournal&) = delete;
  ~BegunJournal();

  tuning::Journal& get() { return journal_; }

 private:
  std::filesystem::path file_;
  bool is_new_;
  tuning::Journal journal_;
};

/// Says what of a killed writer's last line was removed, and how many records are left out, if any.
void say_left_out(const tuning::Journal& journal, const std::string& file, const Console& console);

}  // namespace esc

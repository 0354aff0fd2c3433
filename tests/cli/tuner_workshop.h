// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/types.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "generator/support/process.h"
#include "generator/support/temporary_folder.h"
#include "tuner/records/record.h"
#include "tuner/records/record_text.h"

namespace esc::cli {

/// A folder of its own for one test, layers in it, and the real esctune with recorded measurements of them in place of
/// a GPU.
class TunerWorkshop : public ::testing::Test {
 protected:
  static constexpr std::int64_t bcols[] = {32, 64};

  void SetUp() override;

  std::filesystem::path path(const std::string& name) const { return folder_.path() / name; }
  void write(const std::string& name, std::string_view content) const;
  std::string read(const std::string& name) const;

  /// Makes layers/layerNN.smtx, and has the device measure it.
  void add_layer(int number);
  void add_layers(int count);

  /// Runs esctune in the folder; standard output and error apart.
  ProcessResult esctune(const std::vector<std::string>& words, const std::vector<std::string>& environment = {}) const;
  /// Runs a shell command there, in which $ESCTUNE is the program and $RUN a run of all layers on the recorded device.
  ProcessResult shell(const std::string& command) const;

  /// The words of a run of all layers on the recorded device, behind which others can stand.
  std::vector<std::string> run_words(const std::string& journal, const std::vector<std::string>& more = {}) const;
  /// Such a run that must end well; what it prints.
  std::string run(const std::string& journal, const std::vector<std::string>& more = {},
                  const std::vector<std::string>& environment = {}) const;

  /// The records of a journal that must have whole lines alone.
  tuning::JournalText records_in(const std::string& journal) const;
  /// "layer/bCol" of each item that the journal has decided.
  std::multiset<std::string> decided_in(const std::string& journal) const;
  /// The records of the journal in the order of esctune merge.
  std::string merged(const std::string& journal) const;

  /// The command must exit with the status, say nothing on standard output and one line on standard error that begins
  /// with "esctune: " and contains the words, and leave no file behind.
  void expect_refusal(const std::vector<std::string>& words, const std::string& expected, int status = 2) const;

 private:
  std::set<std::string> files() const;

  TemporaryFolder folder_;
  std::string measured_;
};

/// esctune while it runs. It gets stuck after about eight items, because nobody reads what it says on standard error,
/// so that something can happen to it before it ends, however fast it is.
class StuckRun {
 public:
  StuckRun(std::vector<std::string> words, const std::filesystem::path& folder);
  StuckRun(const StuckRun&) = delete;
  StuckRun& operator=(const StuckRun&) = delete;
  ~StuckRun();

  /// Waits until the journal has so many records.
  void await_lines(const std::filesystem::path& file, std::size_t lines) const;
  void send(int signal) const;
  /// Reads what it says, so that it goes on, to its end.
  ProcessResult end();

 private:
  pid_t process_ = -1;
  int output_ = -1;
  int errors_ = -1;
};

}  // namespace esc::cli

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "generator/support/process.h"
#include "generator/support/temporary_folder.h"

namespace esc::cli {

/// What is in a folder: relative path -> content, folders with the content "folder". Hidden files included.
using Snapshot = std::map<std::string, std::string>;

/// A folder of its own for one test, and the real escgen run in it.
class Workshop : public ::testing::Test {
 protected:
  const std::filesystem::path& folder() const { return folder_.path(); }
  std::filesystem::path path(const std::string& name) const { return folder() / name; }

  /// Runs escgen with the workshop as its working directory; standard output and error apart. `verify` draws its calls
  /// from the seed of the run, so that a run can be repeated, unless the arguments name another.
  ProcessResult escgen(std::vector<std::string> arguments, ProcessOptions options = {}) const;
  /// Runs a shell command there, in which $ESCGEN is the program.
  ProcessResult shell(const std::string& command) const;

  void write(const std::string& name, std::string_view content) const;
  std::string read(const std::string& name) const;
  /// Replaces the one place, or with `every` all places, where `from` is in a file; fails the test when there is
  /// none.
  void replace(const std::string& name, const std::string& from, const std::string& to, bool every = false) const;

  /// What is below a folder of the workshop; empty when the folder does not exist.
  Snapshot snapshot(const std::string& name) const;

  /// Writes a.mtx, 13 x 17 with 88 non-zeros, and generates out/a from it for bCol 40 with the schedule 4-7-1-32; more
  /// options, another schedule among them, may be given.
  void make_bundle(const std::vector<std::string>& more = {"--no-verify"}) const;
  /// Writes NAME, the same matrix in the format of the ending.
  void write_matrix(const std::string& name = "a.mtx") const;

  /// The command must exit with the status, say nothing on standard output and one line on standard error that begins
  /// with "escgen: " and contains the words, and leave the workshop as it was.
  void expect_refusal(const std::vector<std::string>& arguments, const std::string& words, int status = 2) const;

 private:
  TemporaryFolder folder_;
};

/// An output with every line that was broken for the width of a page in one piece again.
std::string unbroken(std::string output);

/// The one JSON text of an output; fails the test when it is not one.
nlohmann::json parse_json(const std::string& text);

/// Names of a JSON object.
std::vector<std::string> keys(const nlohmann::json& object);

}  // namespace esc::cli

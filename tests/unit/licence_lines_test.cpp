// SPDX-License-Identifier: Apache-2.0
// Who looks at one file learns how it may be used: sources of the project name its licence, generated files grant their
// use.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace esc::testing {
namespace {

namespace fs = std::filesystem;

/// How a line of comment begins in the file; empty where it is no source.
std::string_view comment_sign(const fs::path& file) {
  static const std::vector<std::string> kSlashes = {".c", ".cpp", ".cu", ".cuh", ".h"};
  static const std::vector<std::string> kHashes = {".cmake", ".py", ".sh"};
  const std::string name = file.filename().string();
  const bool is_template = file.extension() == ".in" || file.extension() == ".template";
  const fs::path ending = (is_template ? file.stem() : file).extension();
  if (std::find(kSlashes.begin(), kSlashes.end(), ending) != kSlashes.end()) {
    return "//";
  }
  const bool has_hashes = std::find(kHashes.begin(), kHashes.end(), ending) != kHashes.end();
  return has_hashes || name == "CMakeLists.txt" || name == "Dockerfile" || file == ".ci/run" ? "#" : "";
}

/// The first lines of a file, at most so many.
std::vector<std::string> head(const fs::path& file, std::size_t count) {
  std::vector<std::string> lines;
  std::ifstream text(file);
  for (std::string line; lines.size() < count && std::getline(text, line);) {
    lines.push_back(line);
  }
  return lines;
}

/// The files of the project, as paths from its root, without those of builds and of tools.
std::vector<fs::path> project_files() {
  const fs::path root = ESC_SOURCE_DIR;
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(root)) {
    const std::string name = entry.path().filename().string();
    if (entry.is_regular_file()) {
      files.push_back(name);
    } else if (entry.is_directory() && name != "build" && (name == ".ci" || name.front() != '.')) {
      for (const fs::directory_entry& inner : fs::recursive_directory_iterator(entry)) {
        if (inner.is_regular_file()) {
          files.push_back(fs::relative(inner.path(), root));
        }
      }
    }
  }
  return files;
}

bool is_generated(const fs::path& file) { return *file.begin() == "generated" && file.extension() != ".sh"; }

TEST(LicenceLines, StandAtTheHeadOfEverySource) {
  std::size_t seen = 0;
  for (const fs::path& file : project_files()) {
    const std::string_view sign = comment_sign(file);
    if (sign.empty() || is_generated(file)) {
      continue;
    }
    ++seen;
    const std::vector<std::string> lines = head(ESC_SOURCE_DIR / file, 2);
    const std::size_t at = !lines.empty() && lines[0].starts_with("#!") ? 1 : 0;
    ASSERT_LT(at, lines.size()) << file << " is empty";
    EXPECT_EQ(lines[at], std::string(sign) + " SPDX-License-Identifier: Apache-2.0") << file;
  }
  EXPECT_GT(seen, 1000u) << "the sources were not found";
}

TEST(LicenceLines, GrantTheUseOfGeneratedFilesWithoutConditions) {
  std::size_t seen = 0;
  for (const fs::path& file : project_files()) {
    const std::string_view sign = comment_sign(file);
    if (sign.empty() || !is_generated(file)) {
      continue;
    }
    ++seen;
    const std::vector<std::string> lines = head(ESC_SOURCE_DIR / file, 6);
    EXPECT_TRUE(std::any_of(lines.begin(), lines.end(), [](const std::string& line) {
      return line.ends_with(" SPDX-License-Identifier: 0BSD");
    })) << file;
    std::ostringstream text;
    text << std::ifstream(ESC_SOURCE_DIR / file).rdbuf();
    EXPECT_EQ(text.str().find("Apache"), std::string::npos) << file << " names the licence of the generator";
  }
  EXPECT_GE(seen, 16u) << "the bundles that are kept were not found";
}

}  // namespace
}  // namespace esc::testing

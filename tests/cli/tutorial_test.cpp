// SPDX-License-Identifier: Apache-2.0
// The commands of docs/tutorial.md, word by word, one behind the other. Those that need a GPU are left out where there is none.

#include <cstdlib>
#include <sstream>

#include "generator/support/file.h"
#include "generator/verify/nvcc.h"
#include "tests/cli/workshop.h"

namespace esc::cli {
namespace {

namespace fs = std::filesystem;

struct Command {
  std::string text;
  bool needs_gpu = false;
};

std::vector<Command> commands_of(const std::string& page) {
  constexpr std::string_view mark = "    # on a GPU";
  std::vector<Command> commands;
  std::istringstream lines(page);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("    ")) {
      commands.push_back({line.substr(4), line.ends_with(mark)});
    }
  }
  return commands;
}

class Tutorial : public Workshop {
 protected:
  void SetUp() override {
    fs::create_directories(path("docs"));
    fs::create_directory_symlink(fs::path(ESC_SOURCE_DIR) / "docs/examples", path("docs/examples"));
  }

  /// Debian's Python goes before others: it is the one that has NumPy. CMake's own choice of a build program may be one that is not here.
  ProcessResult shell(const std::string& command) const {
    const std::string nvcc = find_nvcc();
    const std::string paths = fs::path(ESCGEN).parent_path().string() + (nvcc.empty() ? "" : ":" + fs::path(nvcc).parent_path().string());
    return run_process({"/bin/bash", "-c", "export PATH=" + paths + ":/usr/bin:$PATH CMAKE_GENERATOR='" ESC_CMAKE_GENERATOR "'; " + command}, {.folder = folder()});
  }
};

TEST_F(Tutorial, EveryCommandDoesWhatItSays) {
  if (shell("python3 -c 'import numpy'").status != 0) {
    GTEST_SKIP() << "Python has no NumPy here";
  }
  const bool has_nvcc = !find_nvcc().empty();
  const bool has_gpu = fs::exists("/dev/nvidia0");
  std::size_t run = 0;
  std::string left_out;
  for (const Command& command : commands_of(read_file(ESC_SOURCE_DIR "/docs/tutorial.md"))) {
    const bool compiles = command.text.starts_with("cmake ");
    if ((command.needs_gpu && !has_gpu) || (compiles && !has_nvcc)) {
      left_out += "\n  " + command.text;
      continue;
    }
    const ProcessResult done = shell(command.text);
    EXPECT_EQ(done.status, 0) << command.text << "\n" << done.output << done.errors;
    ++run;
  }
  EXPECT_GE(run, has_nvcc ? 10U : 8U);
  EXPECT_TRUE(fs::is_regular_file(path("report.html")));
  std::cout << "left out:" << left_out << "\n";
  if (has_nvcc && !has_gpu) {
    // What can be seen of the program without a GPU: it opens the bundle's file, and says why it cannot go on.
    const ProcessResult alone = shell("build/mlp/mlp kernels/model/model.packed x.bin y.bin");
    EXPECT_EQ(alone.status, 1);
    EXPECT_THAT(alone.output + alone.errors, ::testing::HasSubstr("CUDA"));
  }
}

}  // namespace
}  // namespace esc::cli

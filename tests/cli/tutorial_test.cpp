// SPDX-License-Identifier: Apache-2.0
// The commands of the pages, word by word, one after the other: they must run in this order in one folder, and print
// what the page shows below them. ESC_UPDATE_GOLDEN=1 in the environment writes what they print now into the pages.
// Those that need a GPU are left out where there is none.

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>

#include "generator/support/file.h"
#include "generator/verify/nvcc.h"
#include "tests/cli/page.h"
#include "tests/cli/workshop.h"

namespace esc::cli {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class Pages : public Workshop {
 protected:
  void SetUp() override {
    fs::create_directories(path("docs"));
    fs::create_directory_symlink(fs::path(ESC_SOURCE_DIR) / "docs/examples", path("docs/examples"));
    for (const char* const name : {"tests", "templates"}) {
      fs::create_directory_symlink(fs::path(ESC_SOURCE_DIR) / name, path(name));
    }
  }

  /// Debian's Python goes before others: it is the one that has NumPy. CMake's own choice of a build program may be one
  /// that is not here.
  ProcessResult shell(const std::string& command) const {
    const std::string nvcc = find_nvcc();
    const std::string paths =
        fs::path(ESCGEN).parent_path().string() + (nvcc.empty() ? "" : ":" + fs::path(nvcc).parent_path().string());
    return run_process(
        {"/bin/bash", "-c",
         "export PATH=" + paths + ":/usr/bin:$PATH CMAKE_GENERATOR='" ESC_CMAKE_GENERATOR "'; " + command},
        {.folder = folder(), .errors_apart = true});
  }

  /// Runs the commands of the page that are to be run; how many they were.
  std::size_t run_page(const std::string& name, const std::function<bool(const PageCommand&)>& is_run) const {
    const std::string file = ESC_SOURCE_DIR "/" + name;
    const std::string page = read_file(file);
    const std::vector<PageCommand> commands = commands_of(page);
    std::vector<std::string> printed(commands.size());
    std::size_t run = 0;
    for (std::size_t number = 0; number < commands.size(); ++number) {
      const PageCommand& command = commands[number];
      if (!is_run(command)) {
        if (command.needs_gpu || is_ours(command)) {
          std::cout << name << ", left out: " << command.text << "\n";
        }
        printed[number] = text_of(command);
        continue;
      }
      const ProcessResult done = shell(command.text);
      EXPECT_EQ(done.status, 0) << command.text << "\n" << done.output << done.errors;
      printed[number] = done.output;
      ++run;
      if (command.shows_output && std::getenv("ESC_UPDATE_GOLDEN") == nullptr) {
        EXPECT_TRUE(shows(command, done.output)) << name << " shows below " << command.text << "\n"
                                                 << text_of(command) << "which prints\n"
                                                 << done.output << "run with ESC_UPDATE_GOLDEN=1 to accept the change";
      }
    }
    if (std::getenv("ESC_UPDATE_GOLDEN") != nullptr) {
      std::ofstream(file, std::ios::binary) << with_outputs(page, commands, printed);
    }
    return run;
  }

  /// The commands of our own programs.
  static bool is_ours(const PageCommand& command) { return command.text.starts_with("escgen "); }

  /// A layer that stands for one of the reader's.
  void sample(const std::string& file, const std::string& size) const {
    const ProcessResult done = shell("escgen sample -o " + file + " " + size);
    ASSERT_EQ(done.status, 0) << done.errors;
  }

  /// Float32 weights of these extents, of which three of four are zero, as NumPy writes them.
  void write_filters(const std::string& file, const std::vector<int>& extents) const {
    std::string shape;
    std::size_t count = 1;
    for (const int extent : extents) {
      shape += std::to_string(extent) + ", ";
      count *= static_cast<std::size_t>(extent);
    }
    std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (" + shape + "), }";
    header.append(64 - (10 + header.size() + 1) % 64, ' ');
    header += '\n';
    std::string text("\x93NUMPY\x01\x00", 8);
    text += static_cast<char>(header.size() % 256);
    text += static_cast<char>(header.size() / 256);
    write(file, text + header + elements(count));
  }

  /// A checkpoint with two layers of a language model.
  void write_checkpoint(const std::string& file) const {
    constexpr int rows = 48;
    constexpr int columns = 64;
    nlohmann::json header;
    std::string data;
    for (const std::string name : {"down_proj", "up_proj"}) {
      const std::size_t begin = data.size();
      data += elements(rows * columns);
      header["model.layers.0.mlp." + name + ".weight"] = {
          {"dtype", "F32"}, {"shape", {rows, columns}}, {"data_offsets", {begin, data.size()}}};
    }
    const std::string text = header.dump();
    const std::uint64_t length = text.size();
    std::string whole(sizeof length, '\0');
    std::memcpy(whole.data(), &length, sizeof length);
    write(file, whole + text + data);
  }

 private:
  static std::string text_of(const PageCommand& command) {
    std::string text;
    for (const std::string& line : command.output) {
      text += line + "\n";
    }
    return text;
  }

  static std::string elements(std::size_t count) {
    std::string bytes;
    for (std::size_t at = 0; at < count; ++at) {
      const float element = at * 2654435761U % 4096 < 1024 ? 0.5F : 0.0F;
      bytes.append(reinterpret_cast<const char*>(&element), sizeof element);
    }
    return bytes;
  }
};

TEST_F(Pages, TheTutorialDoesWhatItSays) {
  if (shell("python3 -c 'import numpy'").status != 0) {
    GTEST_SKIP() << "Python has no NumPy here";
  }
  const bool has_nvcc = !find_nvcc().empty();
  const bool has_gpu = fs::exists("/dev/nvidia0");
  const std::size_t run = run_page("docs/tutorial.md", [&](const PageCommand& command) {
    return (has_gpu || !command.needs_gpu) && (has_nvcc || !command.text.starts_with("cmake "));
  });
  EXPECT_GE(run, has_nvcc ? 10U : 8U);
  EXPECT_TRUE(fs::is_regular_file(path("report.html")));
  if (has_nvcc && !has_gpu) {
    // What can be seen of the program without a GPU: it opens the bundle's file, and says why it cannot go on.
    const ProcessResult alone = shell("build/mlp/mlp kernels/model/model.packed x.bin y.bin");
    EXPECT_EQ(alone.status, 1);
    EXPECT_THAT(alone.output + alone.errors, HasSubstr("CUDA"));
  }
}

// The page on nests goes on with what the reader has made by then.
TEST_F(Pages, TheReadmeAndNestsRunInTheirOrder) {
  sample("ffn1.npy", "--rows 96 --cols 256 --sparsity 0.5");
  write_checkpoint("model.safetensors");
  EXPECT_EQ(run_page("README.md", is_ours), 3U);
  write_filters("weights.npy", {6, 4, 3, 3});
  write_filters("filters.npy", {32, 1, 3, 3});
  sample("matrices.npy", "--rows 80 --cols 32");
  sample("weights.smtx", "--rows 64 --cols 96");
  EXPECT_EQ(run_page("docs/guide/nests.md", is_ours), 4U);
}

TEST_F(Pages, HowItWorksShowsNestsAsTheyArePrinted) {
  EXPECT_EQ(run_page("docs/concepts/how-it-works.md", is_ours), 2U);
}

TEST_F(Pages, ModelsArePrintedAsTheirPageSaysIt) {
  const std::string page = read_file(ESC_SOURCE_DIR "/docs/guide/models.md");
  const std::string begin = "```json\n{\n  \"model\"";
  const std::size_t spec = page.find(begin);
  ASSERT_NE(spec, page.npos);
  write("spec.json", page.substr(spec + 8, page.find("```", spec + 3) - spec - 8));
  fs::copy_file(ESC_SOURCE_DIR "/tests/data/models/layers.safetensors", path("layers.safetensors"));
  EXPECT_EQ(run_page("docs/guide/models.md",
                     [](const PageCommand& command) {
                       return is_ours(command) && command.text.find("times.json") == std::string::npos;
                     }),
            8U);
}

TEST(Page, ShowsWhatIsPrinted) {
  const std::string page =
      "A page.\n\n    $ escgen a\n    one\n    ...\n    four\n\n    escgen b    # on a GPU\n    "
      "build/release/bin/escgen c\n\n```c\n    int i;\n```\n\n    $ escgen d\n    five\n";
  const std::vector<PageCommand> commands = commands_of(page);
  ASSERT_EQ(commands.size(), 4U);
  EXPECT_TRUE(shows(commands[0], "one\ntwo\nthree\nfour\n"));
  EXPECT_TRUE(shows(commands[0], "one\nfour\n"));
  EXPECT_FALSE(shows(commands[0], "one\ntwo\n"));
  EXPECT_FALSE(shows(commands[0], "none\nfour\n"));
  EXPECT_TRUE(commands[1].needs_gpu && !commands[1].shows_output);
  EXPECT_EQ(commands[2].text, "escgen c");
  EXPECT_FALSE(shows(commands[3], "five\nsix\n"));
  EXPECT_EQ(with_outputs(page, commands, {"other\n", "", "", "six\nseven\n"}),
            page.substr(0, page.size() - 9) + "    six\n    seven\n");
}

}  // namespace
}  // namespace esc::cli

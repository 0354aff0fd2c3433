// SPDX-License-Identifier: Apache-2.0
// What `cmake --install` leaves, moved to another folder, and a project in a tree of its own that finds it: kernels are generated when they
// must be, and only then.

#include <chrono>
#include <cstring>
#include <thread>

#include "generator/support/file.h"
#include "generator/verify/nvcc.h"
#include "tests/cli/workshop.h"

namespace esc::cli {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class Installed : public Workshop {
 protected:
  void SetUp() override {
    run({ESC_CMAKE, "--install", ESC_BUILD_DIR, "--component", "programs", "--prefix", path("first")});
    fs::rename(path("first"), path("usr"));
  }

  /// Runs a command, which must succeed; what it said.
  std::string run(const std::vector<std::string>& command) const {
    const ProcessResult result = run_process(command, {.folder = folder()});
    EXPECT_EQ(result.status, 0) << result.output;
    return result.output;
  }

  /// Makes the first row of a tensor of layers.safetensors zero.
  void prune_first_row(const std::string& name) const {
    std::string file = read("layers.safetensors");
    std::uint64_t length = 0;
    std::memcpy(&length, file.data(), sizeof length);
    const nlohmann::json tensor = parse_json(file.substr(sizeof length, length))[name];
    const std::size_t begin = tensor["data_offsets"][0];
    const std::size_t end = tensor["data_offsets"][1];
    const std::size_t row_bytes = (end - begin) / tensor["shape"][0].get<std::size_t>();
    file.replace(sizeof length + length + begin, row_bytes, row_bytes, '\0');
    wait_for_the_clock();
    write("layers.safetensors", file);
  }

  /// What the program of the model says; without a GPU it comes as far as the table of layers, and says what is missing.
  std::string opened_model() const {
    return run_process({path("build/app"), path("build/esc_kernels/layers/model.packed")}, {.folder = folder()}).output;
  }

  /// Returns when a file that is written is newer than all that there are, so that a build sees it: a file system
  /// counts time in ticks.
  void wait_for_the_clock() const {
    const auto tick = [&] {
      write("clock", "");
      return fs::last_write_time(path("clock"));
    };
    for (const fs::file_time_type now = tick(); tick() == now;) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }

  ProcessResult build(const std::string& target) const {
    return run_process({ESC_CMAKE, "--build", "build", "--target", target}, {.folder = folder()});
  }
};

TEST_F(Installed, ProgramsRunWhereverTheyAreMovedTo) {
  write_matrix();
  EXPECT_THAT(run({path("usr/bin/esctune"), "--version"}), StartsWith("esctune "));
  EXPECT_THAT(run({path("usr/bin/escgen"), "generate", "a.mtx", "--bcol", "8", "--epilogue", "gelu", "-o", "out"}), HasSubstr("(written)"));
  for (const char* const page : {"usr/share/man/man1/escgen.1", "usr/share/bash-completion/completions/escgen", "usr/share/esc/nests/spmm.c"}) {
    EXPECT_TRUE(fs::is_regular_file(path(page))) << page;
  }
}

TEST_F(Installed, AProjectMakesItsKernelsAgainWhenTheyMustBe) {
  const std::string nvcc = find_nvcc();
  if (nvcc.empty()) {
    GTEST_SKIP() << "nvcc is not on this machine";
  }
  const auto write_values = [&](const std::string& first) {
    wait_for_the_clock();
    write("a.mtx", "%%MatrixMarket matrix coordinate real general\n5 7 4\n1 1 " + first + "\n2 1 0.5\n2 7 -1\n5 3 2\n");
  };
  write_values("1");
  fs::copy_file(ESC_SOURCE_DIR "/tests/data/models/layers.safetensors", path("layers.safetensors"));
  const auto configure = [&](const std::vector<std::string>& options) {
    std::vector<std::string> command{ESC_CMAKE, "-S", ESC_SOURCE_DIR "/tests/cli/network", "-B", "build", "-G", ESC_CMAKE_GENERATOR,
                                     "-DCMAKE_CUDA_COMPILER=" + nvcc, "-DCMAKE_PREFIX_PATH=" + path("usr").string(),
                                     "-DMATRIX=" + path("a.mtx").string(),
                                     "-DMODEL=" + path("layers.safetensors").string(), "-DAPP=" ESC_SOURCE_DIR "/docs/examples/model/main.cpp"};
    command.insert(command.end(), options.begin(), options.end());
    run(command);
  };
  configure({});
  const ProcessResult first = build("all");
  ASSERT_EQ(first.status, 0) << first.output;
  EXPECT_EQ(run({path("build/network"), "build/esc_kernels/layer/layer.packed"}), "the layer is usable\n");
  EXPECT_TRUE(fs::is_regular_file(path("build/esc_kernels/query/manifest.json"))) << "a layer of the model";
  EXPECT_THAT(opened_model(), StartsWith("3 layers\n"));
  EXPECT_THAT(build("all").output, Not(HasSubstr("Generating")));
  run({ESC_CMAKE, "--install", "build", "--prefix", path("network")});
  EXPECT_THAT(read("network/lib/cmake/network/network.cmake"),
              AllOf(HasSubstr("network::layer "), HasSubstr("network::layers "), Not(HasSubstr(folder().string()))));
  EXPECT_TRUE(fs::is_regular_file(path("network/include/layers.h")));

  // Other values in the same pattern: another packed matrix.
  const std::string packed = read("build/esc_kernels/layer/layer.packed");
  write_values("3");
  EXPECT_THAT(build("layer_esc_bundle").output, HasSubstr("Generating"));
  EXPECT_NE(read("build/esc_kernels/layer/layer.packed"), packed);

  // Another pattern of one layer: the build makes its model again, but compiles no kernel that stays the same.
  prune_first_row("up_proj.weight");
  const ProcessResult again = build("app");
  EXPECT_EQ(again.status, 0) << again.output;
  EXPECT_THAT(again.output, AllOf(HasSubstr("Generating kernels of layers"), HasSubstr("layers_panel_24x40"), Not(HasSubstr("layers_panel_40x24"))));
  EXPECT_THAT(opened_model(), StartsWith("3 layers\n"));

  // The same bundles, now under version control.
  fs::rename(path("build/esc_kernels"), path("bundles"));
  configure({"-DCHECK=ON", "-DBUNDLES=" + path("bundles").string()});
  EXPECT_EQ(build("layer_esc_bundle").status, 0);
  EXPECT_EQ(build("layers_esc_bundle").status, 0);
  prune_first_row("gate_proj.weight");
  EXPECT_THAT(build("layers_esc_bundle").output, HasSubstr("stale"));
  write_values("4");
  const ProcessResult stale = build("layer_esc_bundle");
  EXPECT_NE(stale.status, 0);
  EXPECT_THAT(stale.output, HasSubstr("stale"));
}

TEST_F(Installed, APrunedNetworkRunsInAGraph) {
  const std::string nvcc = find_nvcc();
  if (nvcc.empty()) {
    GTEST_SKIP() << "nvcc is not on this machine";
  }
  if (run_process({"python3", "-c", "import numpy"}).status != 0) {
    GTEST_SKIP() << "Python has no NumPy here";
  }
  const bool has_gpu = fs::exists("/dev/nvidia0");
  run({"python3", ESC_SOURCE_DIR "/docs/examples/prune.py", "model.npz"});
  run({ESC_CMAKE, "-S", ESC_SOURCE_DIR "/tests/cli/pruned_network", "-B", "build", "-G", ESC_CMAKE_GENERATOR, "-DCMAKE_CUDA_COMPILER=" + nvcc,
       "-DCMAKE_PREFIX_PATH=" + path("usr").string(), "-DMODEL=" + path("model.npz").string(), "-DEXAMPLES=" ESC_SOURCE_DIR "/docs/examples",
       std::string("-DARCHITECTURES=") + (has_gpu ? "native" : "90")});
  const ProcessResult built = build("mlp");
  ASSERT_EQ(built.status, 0) << built.output;
  if (!has_gpu) {
    GTEST_SKIP() << "the network is built, but there is no GPU to run it on";
  }
  EXPECT_THAT(run({path("build/mlp"), "build/esc_kernels/model/model.packed", "x.bin", "y.bin"}), StartsWith("no error; the largest difference is "));
}

TEST(Builds, AreShownWithAProjectThatIsBuilt) {
  const std::string page = read_file(ESC_SOURCE_DIR "/docs/builds.md");
  const auto without_licence = [](const std::string& name) {
    const std::string file = read_file(ESC_SOURCE_DIR "/docs/examples/model/" + name);
    return file.substr(file.find('\n') + 1);
  };
  EXPECT_THAT(page, HasSubstr("```cpp\n" + without_licence("main.cpp") + "```\n"));
  EXPECT_THAT(page, HasSubstr("```cmake\n" + without_licence("CMakeLists.txt") + "```\n"));
}

}  // namespace
}  // namespace esc::cli

// SPDX-License-Identifier: Apache-2.0
// What `cmake --install` leaves, moved to another folder, and a project in a tree of its own that finds it: kernels are
// generated when they must be, and only then.

#include <chrono>
#include <cstring>
#include <regex>
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

/// A folder in which a project is built.
class Project : public Workshop {
 protected:
  ProcessResult build(const std::string& target) const {
    return run_process({ESC_CMAKE, "--build", "build", "--target", target}, {.folder = folder()});
  }
};

class Installed : public Project {
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

  /// What the program of the model says; without a GPU it comes as far as the table of layers, and says what is
  /// missing.
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
};

TEST_F(Installed, ProgramsRunWhereverTheyAreMovedTo) {
  write_matrix();
  EXPECT_THAT(run({path("usr/bin/esctune"), "--version"}), StartsWith("esctune "));
  EXPECT_THAT(run({path("usr/bin/escgen"), "generate", "a.mtx", "--bcol", "8", "--epilogue", "gelu", "-o", "out"}),
              HasSubstr("(written)"));
  for (const char* const page :
       {"usr/share/man/man1/escgen.1", "usr/share/bash-completion/completions/escgen", "usr/share/esc/nests/spmm.c"}) {
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
    std::vector<std::string> command{ESC_CMAKE,
                                     "-S",
                                     ESC_SOURCE_DIR "/tests/cli/network",
                                     "-B",
                                     "build",
                                     "-G",
                                     ESC_CMAKE_GENERATOR,
                                     "-DCMAKE_CUDA_COMPILER=" + nvcc,
                                     "-DCMAKE_PREFIX_PATH=" + path("usr").string(),
                                     "-DMATRIX=" + path("a.mtx").string(),
                                     "-DMODEL=" + path("layers.safetensors").string(),
                                     "-DAPP=" ESC_SOURCE_DIR "/docs/examples/model/main.cpp"};
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
  EXPECT_THAT(again.output, AllOf(HasSubstr("Generating kernels of layers"), HasSubstr("layers_panel_24x40"),
                                  Not(HasSubstr("layers_panel_40x24"))));
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
  run({ESC_CMAKE, "-S", ESC_SOURCE_DIR "/tests/cli/pruned_network", "-B", "build", "-G", ESC_CMAKE_GENERATOR,
       "-DCMAKE_CUDA_COMPILER=" + nvcc, "-DCMAKE_PREFIX_PATH=" + path("usr").string(),
       "-DMODEL=" + path("model.npz").string(), "-DEXAMPLES=" ESC_SOURCE_DIR "/docs/examples",
       std::string("-DARCHITECTURES=") + (has_gpu ? "native" : "90")});
  const ProcessResult built = build("mlp");
  ASSERT_EQ(built.status, 0) << built.output;
  if (!has_gpu) {
    GTEST_SKIP() << "the network is built, but there is no GPU to run it on";
  }
  EXPECT_THAT(run({path("build/mlp"), "build/esc_kernels/model/model.packed", "x.bin", "y.bin"}),
              StartsWith("no error; the largest difference is "));
}

/// Projects that configure with the functions as they are in the sources, without a CUDA compiler.
class AddKernels : public Project {
 protected:
  void SetUp() override {
    write_matrix();
    write("main.cpp", "int main() {}\n");
  }

  /// What CMake says of these lines, without its line breaks; the build tree is new.
  ProcessResult configure(const std::string& lines, const std::string& languages = "NONE") const {
    fs::remove_all(path("build"));
    write("CMakeLists.txt",
          "cmake_minimum_required(VERSION 3.19)\n"
          "project(app LANGUAGES " +
              languages +
              ")\n"
              "set(CMAKE_CUDA_COMPILER nvcc)\n"
              "add_executable(esc::escgen IMPORTED)\n"
              "set_target_properties(esc::escgen PROPERTIES IMPORTED_LOCATION " ESCGEN
              ")\n"
              "include(" ESC_SOURCE_DIR
              "/cmake/EscAddKernels.cmake)\n"
              "add_executable(app main.cpp)\n"
              "add_executable(other main.cpp)\n" +
              lines);
    ProcessResult said =
        run_process({ESC_CMAKE, "-S", ".", "-B", "build", "-G", ESC_CMAKE_GENERATOR}, {.folder = folder()});
    said.output = std::regex_replace(said.output, std::regex("[ \n]+"), " ");
    return said;
  }

  void expect_words(const std::string& lines, const std::string& words) const {
    SCOPED_TRACE(lines);
    const ProcessResult refused = configure(lines);
    EXPECT_NE(refused.status, 0);
    EXPECT_THAT(refused.output, HasSubstr(words));
    EXPECT_EQ(refused.output.find("CMake Error", refused.output.find("CMake Error") + 1), std::string::npos)
        << refused.output;
  }
};

TEST_F(AddKernels, SaysWhatIsWrongWithItsArguments) {
  for (const char* const bcol : {"0", "-1", "016", "8,16", "many", "2147483648", "99999999999999999999"}) {
    expect_words(
        std::string("esc_add_kernels(app MATRIX a.mtx BCOL 8 ") + bcol + ")\n",
        std::string("esc_add_kernels(app): BCOL ") + bcol + " is no number of columns of B; give whole numbers");
  }
  expect_words("esc_add_kernels(app MATRIX a.mtx BCOL 8 16 8)\n", "esc_add_kernels(app): BCOL has a number twice");
  for (const char* const architecture : {"sm_90", "ninety", "90-cubin", "9.0"}) {
    expect_words(std::string("esc_add_kernels(app MATRIX a.mtx BCOL 8 ARCHITECTURES 80 ") + architecture + ")\n",
                 std::string("esc_add_kernels(app): ARCHITECTURES ") + architecture +
                     " is no architecture; name them as CMake does");
  }
  expect_words("esc_add_kernels(app MATRIX a.mtx BCOL 8 ARCHITECTURES native)\n",
               "has found no GPU here that kernels are for; name the architecture, as in ARCHITECTURES 90");
  expect_words("esc_add_kernels(app MATRIX a.mtx BCOL 8 ARCHITECTURES all-major)\n",
               "ARCHITECTURES all-major is not known to CMake");
  expect_words("esc_add_kernels(app MATRIX a.mtx BCOL 8 NAME my-layer)\n",
               "NAME my-layer cannot be the prefix of C functions");
  expect_words("esc_add_kernels(app MATRIX b.mtx BCOL 8)\n",
               "b.mtx; where the build makes a MATRIX, add the command that does so before");
}

TEST_F(AddKernels, SaysThatOtherKernelsNeedAnotherName) {
  const std::string first = "esc_add_kernels(app MATRIX a.mtx BCOL 8)\n";
  expect_words(first + "esc_add_kernels(other MATRIX a.mtx BCOL 16)\n",
               "esc_add_kernels(other): the target a is there already, made with other arguments; give these kernels "
               "another NAME, as in NAME a_2, or the same arguments");
  expect_words(first + "esc_add_kernels(other MATRIX a.mtx BCOL 8 DTYPE f16)\n",
               "give these kernels another NAME, as in NAME a_2");
  expect_words(first + "esc_add_kernels(other MATRIX a.mtx BCOL 8 16)\n",
               "the target a_esc_bundle is there already, made with other arguments; give these kernels another NAME, "
               "as in NAME a_2");
  expect_words("add_custom_target(a)\n" + first,
               "esc_add_kernels(app): there is a target a already; give the kernels another NAME");
}

TEST_F(AddKernels, AreSharedByTargetsThatAskForTheSame) {
  const ProcessResult done = configure(
      "set(CMAKE_CUDA_ARCHITECTURES_NATIVE 70-real 90-real)\n"
      "foreach(target app other)\n"
      "  esc_add_kernels(${target} MATRIX a.mtx BCOL 8 16 ARCHITECTURES native NO_VERIFY)\n"
      "  get_target_property(libraries ${target} LINK_LIBRARIES)\n"
      "  message(STATUS \"${target} links ${libraries}.\")\n"
      "endforeach()\n"
      "get_target_property(architectures a_n8 CUDA_ARCHITECTURES)\n"
      "message(STATUS \"for ${architectures}.\")\n"
      "add_custom_command(OUTPUT made.mtx COMMAND ${CMAKE_COMMAND} -E copy ${CMAKE_CURRENT_SOURCE_DIR}/a.mtx "
      "made.mtx)\n"
      "esc_add_kernels(app MATRIX ${CMAKE_CURRENT_BINARY_DIR}/made.mtx BCOL 8 ARCHITECTURES 90)\n",
      "CXX");
  EXPECT_EQ(done.status, 0) << done.output;
  EXPECT_THAT(done.output, AllOf(HasSubstr("app links a_n8;a_n16."), HasSubstr("other links a_n8;a_n16."),
                                 HasSubstr("for 90a-real.")));
  EXPECT_EQ(build("a_esc_bundle").status, 0);
  EXPECT_THAT(read("build/esc_kernels/a_n8/manifest.json"), HasSubstr("\"sm_90\""));
}

TEST(Builds, AreShownWithAProjectThatIsBuilt) {
  const std::string page = read_file(ESC_SOURCE_DIR "/docs/guide/builds.md");
  const auto without_licence = [](const std::string& name) {
    const std::string file = read_file(ESC_SOURCE_DIR "/docs/examples/model/" + name);
    return file.substr(file.find('\n') + 1);
  };
  EXPECT_THAT(page, HasSubstr("```cpp\n" + without_licence("main.cpp") + "```\n"));
  EXPECT_THAT(page, HasSubstr("```cmake\n" + without_licence("CMakeLists.txt") + "```\n"));
}

}  // namespace
}  // namespace esc::cli

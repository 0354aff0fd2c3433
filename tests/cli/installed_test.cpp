// SPDX-License-Identifier: Apache-2.0
// What `cmake --install` leaves, moved to another folder, and a project in a tree of its own that finds it: kernels are generated when they
// must be, and only then.

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
    write("a.mtx", "%%MatrixMarket matrix coordinate real general\n5 7 4\n1 1 " + first + "\n2 1 0.5\n2 7 -1\n5 3 2\n");
  };
  write_values("1");
  fs::create_directory(path("models"));
  for (const char* const file : {"model.safetensors.index.json", "model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"}) {
    fs::copy_file(fs::path(ESC_SOURCE_DIR) / "tests/data/models" / file, path("models") / file);
  }
  const std::string page = read_file(ESC_SOURCE_DIR "/docs/builds.md");
  const std::size_t program = page.find("```cpp\n") + std::string("```cpp\n").size();
  write("documented.cpp", page.substr(program, page.find("```", program) - program));
  const auto configure = [&](const std::vector<std::string>& options) {
    std::vector<std::string> command{ESC_CMAKE, "-S", ESC_SOURCE_DIR "/tests/cli/network", "-B", "build", "-G", ESC_CMAKE_GENERATOR,
                                     "-DCMAKE_CUDA_COMPILER=" + nvcc, "-DCMAKE_PREFIX_PATH=" + path("usr").string(),
                                     "-DMATRIX=" + path("a.mtx").string(), "-DDOCUMENTED=" + path("documented.cpp").string(),
                                     "-DMODEL=" + path("models/model.safetensors.index.json").string()};
    command.insert(command.end(), options.begin(), options.end());
    run(command);
  };
  configure({});
  ASSERT_EQ(build("network").status, 0);
  EXPECT_EQ(run({path("build/network"), "build/esc_kernels/layer/layer.packed", "build/esc_kernels/model/model.packed"}),
            "the layer is usable\nlayers of the model: 2\n");
  EXPECT_TRUE(fs::is_regular_file(path("build/esc_kernels/b/manifest.json"))) << "a tensor by itself";
  ASSERT_EQ(build("documented").status, 0);
  const ProcessResult documented = run_process({path("build/documented"), path("build/esc_kernels/model/model.packed")}, {.folder = folder()});
  EXPECT_TRUE(documented.status == 0 || documented.output.find("CUDA") != std::string::npos) << documented.output;
  EXPECT_THAT(build("network").output, Not(HasSubstr("Generating")));
  run({ESC_CMAKE, "--install", "build", "--prefix", path("network")});
  EXPECT_THAT(read("network/lib/cmake/network/network.cmake"), AllOf(HasSubstr("network::layer"), HasSubstr("network::model"), Not(HasSubstr(folder().string()))));

  // Another model: what is built next is configured first, and makes its kernels again.
  EXPECT_TRUE(fs::is_regular_file(path("network/include/model.h")));
  const std::string first_manifest = read("build/esc_kernels/model/manifest.json");
  std::string part = read("models/model-00002-of-00002.safetensors");
  part.back() = static_cast<char>(part.back() ^ 0x3f);
  write("models/model-00002-of-00002.safetensors", part);
  EXPECT_THAT(build("model").output, HasSubstr("Generating kernels of model"));
  EXPECT_NE(read("build/esc_kernels/model/manifest.json"), first_manifest);

  // Other values in the same pattern: another packed matrix.
  const std::string packed = read("build/esc_kernels/layer/layer.packed");
  write_values("3");
  EXPECT_THAT(build("layer_esc_bundle").output, HasSubstr("Generating"));
  EXPECT_NE(read("build/esc_kernels/layer/layer.packed"), packed);

  // The same bundle, now under version control.
  fs::rename(path("build/esc_kernels"), path("bundles"));
  configure({"-DCHECK=ON", "-DBUNDLES=" + path("bundles").string()});
  EXPECT_EQ(build("layer_esc_bundle").status, 0);
  EXPECT_EQ(build("model_esc_bundle").status, 0);
  write_values("4");
  const ProcessResult stale = build("layer_esc_bundle");
  EXPECT_NE(stale.status, 0);
  EXPECT_THAT(stale.output, HasSubstr("stale"));
}

}  // namespace
}  // namespace esc::cli

// SPDX-License-Identifier: Apache-2.0
// The bundles of generated/spec.json: what the generator makes of their matrices now is what is under version control,
// as texts or as digests, right, and accepted by every compiler that a user may bring.

#include <algorithm>
#include <functional>
#include <regex>
#include <sstream>

#include "generator/support/file.h"
#include "generator/verify/nvcc.h"
#include "tests/cli/workshop.h"
#include "tests/support/run_size.h"

namespace esc::cli {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::StartsWith;

const fs::path kept_bundles = ESC_SOURCE_DIR "/generated";

/// All bundles, generated once for all tests, and how they differ from what is kept of them.
class AllBundles {
 public:
  AllBundles() : comparison_(run_process({kept_bundles / "regenerate.sh", "--into", folder_.path() / "all", ESCGEN})) {}

  fs::path path() const { return folder_.path() / "all"; }
  const ProcessResult& comparison() const { return comparison_; }

 private:
  TemporaryFolder folder_;
  ProcessResult comparison_;
};

const AllBundles& all_bundles() {
  static const AllBundles all;
  return all;
}

/// A bundle of the spec, how many kernels it has, and the oldest architecture that it is compiled for.
struct Kept {
  std::string name;
  std::size_t kernels;
  std::string oldest_architecture = "80";
};

void PrintTo(const Kept& kept, std::ostream* stream) { *stream << kept.name; }

class GeneratedBundles : public Workshop {
 protected:
  /// Runs a compiler, which must have nothing to say but what is asked for; what it said.
  std::string compile(const std::vector<std::string>& command) const {
    const ProcessResult result = run_process(command, {.folder = folder()});
    EXPECT_EQ(result.status, 0) << result.output;
    return result.output;
  }

  fs::path file(const std::string& bundle, const std::string& ending) const {
    return all_bundles().path() / bundle / (bundle + ending);
  }
};

TEST_F(GeneratedBundles, AreWhatIsGeneratedNow) {
  EXPECT_EQ(all_bundles().comparison().status, 0)
      << all_bundles().comparison().output << "generated/regenerate.sh makes them again";
}

TEST_F(GeneratedBundles, StaySmall) {
  std::uintmax_t bytes = 0;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(kept_bundles)) {
    bytes += entry.is_regular_file() ? entry.file_size() : 0;
  }
  EXPECT_LT(bytes, 700'000u);
}

TEST_F(GeneratedBundles, GrantTheirUseWithoutConditions) {
  std::size_t texts = 0;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(all_bundles().path())) {
    if (entry.is_regular_file() && entry.path().extension() != ".packed" && entry.path().extension() != ".json") {
      const std::string text = read_file(entry.path());
      EXPECT_THAT(text, HasSubstr(" SPDX-License-Identifier: 0BSD\n")) << entry.path();
      EXPECT_THAT(text, Not(HasSubstr("Apache"))) << entry.path();
      ++texts;
    }
  }
  EXPECT_EQ(texts, 20u * 4);
}

class GeneratedBundle : public GeneratedBundles, public ::testing::WithParamInterface<Kept> {};

TEST_P(GeneratedBundle, PassesItsVerification) {
  const ProcessResult verified = escgen({"verify", all_bundles().path() / GetParam().name});
  EXPECT_EQ(verified.status, 0) << verified.errors;
  EXPECT_THAT(verified.output, StartsWith("passed by emulation: "));
}

TEST_P(GeneratedBundle, TransformerCompilesWithTheHostCompilerAlone) {
  EXPECT_EQ(compile({ESC_HOST_COMPILER, "-std=c++17", "-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Werror", "-O1",
                     "-c", "-o", "transformer.o", file(GetParam().name, "_transformer.cpp")}),
            "");
}

TEST_P(GeneratedBundle, HeaderIsC99AndWorksWithoutCuda) {
  write("user.c", "#include \"" + GetParam().name + ".h\"\n#include \"" + GetParam().name + ".h\"\n" +
                      "size_t bytes(void) { return " + GetParam().name + "_packed_bytes(); }\n");
  EXPECT_EQ(compile({ESC_HOST_COMPILER, "-x", "c", "-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Wstrict-prototypes",
                     "-Werror", "-DESC_HOST_ONLY", "-I", all_bundles().path() / GetParam().name, "-c", "-o", "user.o",
                     "user.c"}),
            "");
}

/// The architectures that the bundles are promised for, and the newest that nvcc knows; of those an ordinary run draws
/// one for each bundle.
std::vector<std::string> architectures(const std::string& bundle, const std::string& nvcc, const std::string& oldest) {
  int newest = 0;
  std::istringstream lines(run_process({nvcc, "--list-gpu-arch"}).output);
  for (std::string line; std::getline(lines, line);) {
    newest = std::max(newest, line.starts_with("compute_") ? std::atoi(line.c_str() + 8) : 0);
  }
  std::vector<std::string> compiled_for{"90", std::to_string(newest)};
  if (oldest != "90") {
    compiled_for.push_back(oldest);
  }
  if (!tests::full_sweep()) {
    const std::size_t drawn = std::hash<std::string>()(bundle) + tests::seed_of_the_run();
    compiled_for = {compiled_for[drawn % compiled_for.size()]};
  }
  return compiled_for;
}

TEST_P(GeneratedBundle, KernelCompilesWithoutWarningsAndWithoutSpills) {
  const std::string nvcc = find_nvcc();
  if (nvcc.empty()) {
    GTEST_SKIP() << "nvcc is not on this machine";
  }
  std::vector<std::string> command{nvcc,      "-std=c++17", "-O3",       "-Werror", "all-warnings",
                                   "-Xptxas", "-v",         "--threads", "2"};
  const std::vector<std::string> compiled_for = architectures(GetParam().name, nvcc, GetParam().oldest_architecture);
  for (const std::string& architecture : compiled_for) {
    command.insert(command.end(), {"-gencode", "arch=compute_" + architecture + ",code=sm_" + architecture});
  }
  command.insert(command.end(), {"-c", "-o", "kernel.o", file(GetParam().name, ".cu")});
  const std::string report = compile(command);
  EXPECT_THAT(report, Not(HasSubstr("warning")));
  static const std::regex spills("([0-9]+) bytes spill stores, ([0-9]+) bytes spill loads");
  std::size_t kernels = 0;
  for (auto found = std::sregex_iterator(report.begin(), report.end(), spills); found != std::sregex_iterator();
       ++found) {
    EXPECT_EQ((*found)[1], "0") << report;
    EXPECT_EQ((*found)[2], "0") << report;
    ++kernels;
  }
  EXPECT_EQ(kernels, GetParam().kernels * compiled_for.size()) << report;
}

[[maybe_unused]] const bool generated_bundle_is_sampled = tests::sample_suite("Kept/GeneratedBundle", 20);

INSTANTIATE_TEST_SUITE_P(Kept, GeneratedBundle,
                         ::testing::Values(Kept{"digits_hidden", 2}, Kept{"digits_hidden_panel", 3},
                                           Kept{"awkward_panel", 3}, Kept{"awkward_rows", 4}, Kept{"awkward_double", 3},
                                           Kept{"awkward_half", 3}, Kept{"awkward_stream", 3}, Kept{"awkward_bulk", 3},
                                           Kept{"awkward_bitmap", 5}, Kept{"awkward_sparse24", 4},
                                           Kept{"awkward_cluster", 3, "90"}, Kept{"awkward_tf32", 3},
                                           Kept{"awkward_split", 2}, Kept{"awkward_epilogue", 3}, Kept{"awkward_nk", 3},
                                           Kept{"awkward_conv", 2}, Kept{"awkward", 2}, Kept{"one_row", 2},
                                           Kept{"all_zero", 0}),
                         [](const auto& kept) { return kept.param.name; });

TEST_F(GeneratedBundles, HeaderIsC99WithCuda) {
  const fs::path nvcc = find_nvcc();
  if (nvcc.empty()) {
    GTEST_SKIP() << "nvcc is not on this machine";
  }
  write("user.c",
        "#include \"digits_hidden.h\"\n"
        "cudaError_t product(const void* packed, const float* b, float* c) {\n"
        "  return digits_hidden_spmm(packed, b, 64, c, 64, 64, 0);\n}\n");
  EXPECT_EQ(compile({ESC_HOST_COMPILER, "-x", "c", "-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-isystem",
                     nvcc.parent_path().parent_path() / "include", "-I", all_bundles().path() / "digits_hidden", "-c",
                     "-o", "user.o", "user.c"}),
            "");
}

TEST_F(GeneratedBundles, LinkIntoAProgramByNvcc) {
  const std::string nvcc = find_nvcc();
  if (nvcc.empty()) {
    GTEST_SKIP() << "nvcc is not on this machine";
  }
  write("main.cpp",
        "#include \"one_row.h\"\n"
        "int main() { return one_row_packed_bytes() == 1792 && one_row_prepare != nullptr && "
        "one_row_spmm(nullptr, nullptr, 1, nullptr, 1, 1, nullptr) == cudaErrorInvalidValue ? 0 : 1; }\n");
  compile({nvcc, "-std=c++17", "-arch=sm_90", "-Werror", "all-warnings", "-I", all_bundles().path() / "one_row", "-o",
           "program", "main.cpp", file("one_row", ".cu"), file("one_row", "_transformer.cpp")});
  EXPECT_EQ(run_process({path("program")}).status, 0);
}

/// A user's project with a bundle for sm_80 and sm_90 in it, configured again and again.
class BundleArchitectures : public GeneratedBundles {
 protected:
  /// The architectures that the bundle is compiled for, after a second configuration too, in a project of these lines.
  std::string architectures_in(const std::string& project, const std::vector<std::string>& options = {},
                               const std::vector<std::string>& environment = {}) const {
    write("CMakeLists.txt", "cmake_minimum_required(VERSION 3.18)\n" + project +
                                "\nadd_subdirectory(out/a)\nget_target_property(chosen a CUDA_ARCHITECTURES)\n"
                                "file(WRITE ${CMAKE_BINARY_DIR}/chosen \"${chosen}\")\n");
    std::filesystem::remove_all(path("build"));
    std::vector<std::string> command{ESC_CMAKE,
                                     "-S",
                                     ".",
                                     "-B",
                                     "build",
                                     "-G",
                                     ESC_CMAKE_GENERATOR,
                                     "-DCMAKE_CUDA_COMPILER=" + std::string(find_nvcc())};
    command.insert(command.end(), options.begin(), options.end());
    std::string chosen;
    for (int configuration = 0; configuration < 2; ++configuration) {
      const ProcessResult configured = run_process(command, {.folder = folder(), .environment = environment});
      EXPECT_EQ(configured.status, 0) << configured.output;
      const std::string now = read("build/chosen");
      EXPECT_TRUE(chosen.empty() || now == chosen) << chosen << " at first, then " << now;
      chosen = now;
    }
    return chosen;
  }
};

TEST_F(BundleArchitectures, AreTheProjectsWhereItHasSetThemElseTheBundles) {
  if (find_nvcc().empty()) {
    GTEST_SKIP() << "nvcc is not on this machine";
  }
  make_bundle();
  EXPECT_EQ(architectures_in("project(app LANGUAGES CXX CUDA)"), "80;90");
  EXPECT_EQ(architectures_in("project(app LANGUAGES CXX)"), "80;90") << "CUDA comes with the bundle";
  EXPECT_EQ(architectures_in("cmake_policy(SET CMP0104 OLD)\nproject(app LANGUAGES CXX CUDA)"), "80;90")
      << "where CMake has no default";
  EXPECT_EQ(architectures_in("project(app LANGUAGES CXX CUDA)", {"-DCMAKE_CUDA_ARCHITECTURES=86"}), "86");
  EXPECT_EQ(architectures_in("project(app LANGUAGES CXX)\nset(CMAKE_CUDA_ARCHITECTURES 89)"), "89");
  EXPECT_EQ(architectures_in("project(app LANGUAGES CXX CUDA)\nset(CMAKE_CUDA_ARCHITECTURES 89)"), "89");
  EXPECT_EQ(architectures_in("project(app LANGUAGES CXX CUDA)", {}, {"CUDAARCHS=90"}), "90");
}

TEST_F(GeneratedBundles, AreSubdirectoriesOfAUsersProject) {
  const std::string nvcc = find_nvcc();
  if (nvcc.empty()) {
    GTEST_SKIP() << "nvcc is not on this machine";
  }
  compile({ESC_CMAKE, "-S", ESC_SOURCE_DIR "/tests/cli/consumer", "-B", "build", "-G", ESC_CMAKE_GENERATOR,
           "-DCMAKE_CUDA_COMPILER=" + nvcc, "-DBUNDLES=" + all_bundles().path().string()});
  compile({ESC_CMAKE, "--build", "build", "--parallel", "2"});
  const ProcessResult used = run_process({path("build/consumer"), all_bundles().path()});
  EXPECT_EQ(used.status, 0);
  EXPECT_EQ(used.output, "four bundles are usable\n");
  compile({ESC_CMAKE, "--install", "build", "--prefix", path("installed")});
  EXPECT_TRUE(fs::is_regular_file(path("installed/include/awkward.h")));
}

}  // namespace
}  // namespace esc::cli

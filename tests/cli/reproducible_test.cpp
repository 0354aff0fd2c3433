// SPDX-License-Identifier: Apache-2.0
// Same input, same options, same version: the same bytes, wherever and however the program runs.

#include "tests/cli/workshop.h"

namespace esc::cli {
namespace {

namespace fs = std::filesystem;

class Reproducible : public Workshop {
 protected:
  /// Uses all threads: enough rows and lists for the parallel loops to be split.
  void SetUp() override {
    ASSERT_EQ(escgen({"sample", "-o", "a.mtx", "--rows", "203", "--cols", "97", "--seed", "5", "-q"}).status, 0);
  }

  void generate(const std::vector<std::string>& arguments, const fs::path& working_folder) const {
    std::vector<std::string> line{"generate", "--bcol", "40"};
    line.insert(line.end(), arguments.begin(), arguments.end());
    const ProcessResult generated = escgen(line, {.folder = working_folder});
    ASSERT_EQ(generated.status, 0) << generated.errors;
  }
};

TEST_F(Reproducible, SecondRun) {
  generate({"a.mtx", "-o", "one"}, folder());
  generate({"a.mtx", "-o", "two"}, folder());
  EXPECT_EQ(snapshot("one").size(), 7u);
  EXPECT_TRUE(snapshot("one") == snapshot("two"));
}

TEST_F(Reproducible, WorkingFolderAndFormOfPaths) {
  generate({"a.mtx", "-o", "one"}, folder());
  fs::create_directories(path("deep/er"));
  generate({"../../a.mtx", "-o", "./../../two"}, path("deep/er"));
  generate({path("a.mtx"), "-o", path("three")}, "/");
  generate({"./deep/../a.mtx", "-o", "deep/../four/"}, folder());
  EXPECT_TRUE(snapshot("one") == snapshot("two"));
  EXPECT_TRUE(snapshot("one") == snapshot("three"));
  EXPECT_TRUE(snapshot("one") == snapshot("four"));
  for (const auto& [name, content] : snapshot("one")) {
    EXPECT_EQ(content.find(folder().string()), content.npos) << name << " names a folder of this machine";
  }
}

TEST_F(Reproducible, NumberOfThreads) {
  generate({"a.mtx", "-o", "many"}, folder());
  const ProcessResult alone = shell("taskset -c 0 $ESCGEN generate a.mtx --bcol 40 -o alone");
  if (alone.status == 127) {
    GTEST_SKIP() << "taskset is not on this machine";
  }
  ASSERT_EQ(alone.status, 0) << alone.errors;
  EXPECT_TRUE(snapshot("many") == snapshot("alone"));
}

TEST_F(Reproducible, EnvironmentOfTheUser) {
  generate({"a.mtx", "-o", "one"}, folder());
  const ProcessResult other =
      escgen({"generate", "a.mtx", "--bcol", "40", "-o", "two"},
             {.environment = {"LC_ALL=de_DE.UTF-8", "LANG=tr_TR.UTF-8", "TZ=Asia/Tokyo", "HOME=/none", "USER=other",
                              "COLUMNS=40", "SOURCE_DATE_EPOCH=1"}});
  ASSERT_EQ(other.status, 0) << other.errors;
  EXPECT_TRUE(snapshot("one") == snapshot("two"));
}

TEST_F(Reproducible, FormatOfTheMatrixFile) {
  ASSERT_EQ(escgen({"sample", "-o", "a.npy", "--rows", "203", "--cols", "97", "--seed", "5", "-q"}).status, 0);
  generate({"a.mtx", "-o", "text"}, folder());
  generate({"a.npy", "-o", "binary"}, folder());
  const Snapshot text = snapshot("text");
  Snapshot binary = snapshot("binary");
  EXPECT_EQ(text.at("a/a.packed"), binary.at("a/a.packed"));
  // The name of the file, in the first lines and in the manifest, is the only difference.
  for (auto& [name, content] : binary) {
    for (std::size_t at = content.find("a.npy"); at != content.npos; at = content.find("a.npy", at)) {
      content.replace(at, 5, "a.mtx");
    }
  }
  EXPECT_TRUE(text == binary);
}

TEST_F(Reproducible, SampledMatrix) {
  for (const std::string structure :
       {"uniform", "rows", "columns", "blocks", "powerlaw", "wanda", "sparsegpt", "magnitude"}) {
    for (const std::string ending : {".mtx", ".smtx", ".npy"}) {
      const std::vector<std::string> line{"sample", "--structure", structure, "--rows", "40",
                                          "--cols", "30",          "-q",      "-o"};
      std::vector<std::string> one = line;
      one.push_back("one" + ending);
      std::vector<std::string> two = line;
      two.push_back("two" + ending);
      ASSERT_EQ(escgen(one).status, 0);
      ASSERT_EQ(escgen(two).status, 0);
      EXPECT_TRUE(read("one" + ending) == read("two" + ending)) << structure << ending;
    }
  }
}

}  // namespace
}  // namespace esc::cli

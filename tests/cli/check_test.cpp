// SPDX-License-Identifier: Apache-2.0
// A bundle that is on disk already: --check compares it, generating again leaves it alone, refuses it or replaces it.

#include "tests/cli/workshop.h"

namespace esc::cli {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class Check : public Workshop {
 protected:
  void SetUp() override { make_bundle(); }

  ProcessResult generate(std::vector<std::string> more) const {
    more.insert(more.begin(), {"generate", "a.mtx", "--bcol", "40", "-o", "out", "--schedule", "4-7-1-32"});
    return escgen(more);
  }

  /// --check must find the bundle stale, print these words and write nothing.
  void expect_stale(const std::vector<std::string>& words) const {
    const Snapshot before = snapshot(".");
    const ProcessResult check = generate({"--check"});
    EXPECT_EQ(check.status, 1);
    EXPECT_EQ(check.errors, "");
    EXPECT_THAT(check.output, EndsWith("check      the bundle is stale\n"));
    for (const std::string& word : words) {
      EXPECT_THAT(check.output, HasSubstr(word));
    }
    EXPECT_TRUE(snapshot(".") == before);
  }
};

TEST_F(Check, CurrentBundle) {
  const ProcessResult check = generate({"--check"});
  EXPECT_EQ(check.status, 0);
  EXPECT_EQ(check.errors, "");
  EXPECT_THAT(check.output, EndsWith("check      the bundle is current\n"));
}

TEST_F(Check, CurrentWhateverWasMeasured) {
  EXPECT_EQ(parse_json(read("out/a/manifest.json"))["verification"], nullptr);
  EXPECT_EQ(generate({"--force"}).status, 0);
  EXPECT_EQ(parse_json(read("out/a/manifest.json"))["verification"]["passed"], true);
  EXPECT_EQ(generate({"--check"}).status, 0);
  EXPECT_EQ(generate({"--check", "--no-verify"}).status, 0);
}

TEST_F(Check, ChangedLine) {
  replace("out/a/a.cu", "constexpr int threads_per_block = 32;", "constexpr int threads_per_block = 64;");
  expect_stale({"--- a.cu (on disk)\n+++ a.cu (generated)\n", "\n-constexpr int threads_per_block = 64;",
                "\n+constexpr int threads_per_block = 32;"});
}

TEST_F(Check, ChangedLineEnds) {
  const std::string text = read("out/a/CMakeLists.txt");
  write("out/a/CMakeLists.txt", text.substr(0, text.size() - 1));
  expect_stale({"+++ CMakeLists.txt (generated)\nonly the end of the last line differs\n"});
}

TEST_F(Check, EditedManifest) {
  replace("out/a/manifest.json", "\"nnz\": 88", "\"nnz\": 89");
  expect_stale({"--- manifest.json (on disk)", "-  \"nnz\": 89", "+  \"nnz\": 88"});
  write("out/a/manifest.json", "{");
  expect_stale({"--- manifest.json (on disk)"});
}

TEST_F(Check, MissingFile) {
  fs::remove(path("out/a/a.h"));
  fs::remove(path("out/a/manifest.json"));
  expect_stale({"a.h: is missing\n", "manifest.json: is missing\n"});
}

TEST_F(Check, MissingBundle) {
  fs::remove_all(path("out"));
  expect_stale({"out/a: is missing\n"});
}

TEST_F(Check, FileThatDoesNotBelong) {
  write("out/a/notes.txt", "mine");
  write("out/a/.hidden", "mine");
  expect_stale({"notes.txt: does not belong to the bundle\n", ".hidden: does not belong to the bundle\n"});
}

TEST_F(Check, FlippedByteOfThePackedMatrix) {
  std::string packed = read("out/a/a.packed");
  packed[1000] = static_cast<char>(packed[1000] ^ 1);
  write("out/a/a.packed", packed);
  expect_stale({"a.packed: differs from byte 1000 on (2048 bytes on disk, 2048 generated)\n"});
  write("out/a/a.packed", packed.substr(0, 500));
  expect_stale({"a.packed: differs from byte 500 on (500 bytes on disk, 2048 generated)\n"});
}

TEST_F(Check, FolderOrPipeInPlaceOfAFile) {
  fs::remove(path("out/a/a.cu"));
  fs::create_directory(path("out/a/a.cu"));
  fs::remove(path("out/a/a.h"));
  ASSERT_EQ(shell("mkfifo out/a/a.h").status, 0);
  const ProcessResult check = generate({"--check"});
  EXPECT_EQ(check.status, 1);
  EXPECT_THAT(check.output,
              AllOf(HasSubstr("a.cu: is not a regular file\n"), HasSubstr("a.h: is not a regular file\n")));
}

TEST_F(Check, DiffIsJsonToo) {
  write("out/a/a.cu", read("out/a/a.cu") + "\xff\n");
  const ProcessResult check = generate({"--check", "--json"});
  EXPECT_EQ(check.status, 1);
  const nlohmann::json result = parse_json(check.output);
  EXPECT_EQ(result["status"], "stale");
  EXPECT_THAT(result["diff"].get<std::string>(), HasSubstr("+++ a.cu (generated)"));
}

TEST_F(Check, OtherOptionsMakeItStale) {
  for (const std::vector<std::string>& other : {std::vector<std::string>{"--schedule", "2-2-1-32"},
                                                {"--arch", "sm_80"},
                                                {"--no-compaction"},
                                                {"--bcol", "41"}}) {
    std::vector<std::string> arguments{"generate", "a.mtx", "-o", "out", "--check"};
    arguments.insert(arguments.end(), other.begin(), other.end());
    if (other[0] != "--bcol") {
      arguments.insert(arguments.end(), {"--bcol", "40"});
    }
    if (other[0] != "--schedule") {
      arguments.insert(arguments.end(), {"--schedule", "4-7-1-32"});
    }
    EXPECT_EQ(escgen(arguments).status, 1) << other[0];
  }
}

TEST_F(Check, IdenticalBundleIsNotTouched) {
  const auto times = [&] {
    std::vector<fs::file_time_type> found{fs::last_write_time(path("out")), fs::last_write_time(path("out/a"))};
    for (const fs::directory_entry& entry : fs::directory_iterator(path("out/a"))) {
      found.push_back(entry.last_write_time());
    }
    return found;
  };
  const auto before = times();
  const ProcessResult quiet = generate({"--no-verify", "-q"});
  EXPECT_EQ(quiet.status, 0);
  EXPECT_EQ(quiet.output, "");
  const ProcessResult again = generate({"--no-verify", "--force"});
  EXPECT_EQ(again.status, 0);
  EXPECT_THAT(again.output, EndsWith("bundle     out/a (unchanged)\n"));
  EXPECT_EQ(times(), before);
}

TEST_F(Check, DifferentBundleIsReplacedOnlyWithForce) {
  replace("out/a/a.h", "#include <stddef.h>", "#include <mine.h>");
  expect_refusal({"generate", "a.mtx", "--bcol", "40", "-o", "out", "--no-verify"},
                 "out/a: holds a different bundle; see the difference with --check, replace with --force");
  const ProcessResult forced = generate({"--no-verify", "--force"});
  EXPECT_EQ(forced.status, 0);
  EXPECT_THAT(forced.output, EndsWith("bundle     out/a (written)\n"));
  EXPECT_EQ(generate({"--check"}).status, 0);
  EXPECT_EQ(snapshot("out").size(), 7u) << "nothing is left beside the bundle";
}

// Where no process can be confined a verification ends with status 3: what is refused has not come so far.
TEST_F(Check, ADifferentBundleIsRefusedBeforeTheWork) {
  const auto generate_there = [&](const std::string& more, const std::string& schedule = "--schedule 4-7-1-32") {
    SCOPED_TRACE(more);
    return shell(ESC_WITHOUT_SECCOMP " $ESCGEN -v generate a.mtx -o out " + schedule + " " + more);
  };
  const auto expect_different = [&](const ProcessResult& refused) {
    EXPECT_EQ(refused.status, 2);
    EXPECT_THAT(refused.errors, HasSubstr("out/a: holds a different bundle; see the difference with --check, replace "
                                          "with --force, or give this one another --name or output folder"));
  };
  for (const char* const other :
       {"--bcol 41", "--bcol 40 --dtype f64", "--bcol 40 --arch sm_80", "--bcol 40 --layout nk"}) {
    const ProcessResult refused = generate_there(
        other, "--schedule panel:ufi=2,columns=32,vector=1,groups=1,warps=1,panels=1,ufk=1,stage=off,pdl=off");
    expect_different(refused);
    EXPECT_THAT(refused.errors, Not(HasSubstr("packing the matrix"))) << other;
  }
  const ProcessResult with_epilogue =
      shell("$ESCGEN -v generate a.mtx --bcol 40 --epilogue relu -o out");  // whose nest is read in such a process, too
  expect_different(with_epilogue);
  EXPECT_THAT(with_epilogue.errors, Not(HasSubstr("packing the matrix")));
  const ProcessResult scheduled = generate_there("--bcol 40", "--schedule 4-2-1-32");
  expect_different(scheduled);
  EXPECT_THAT(scheduled.errors, Not(HasSubstr("packing the matrix")));
  expect_different(generate_there("--bcol 40", ""));  // what auto takes is known when it is made
  expect_different(generate_there("--bcol 40"));      // the one there was not verified
  replace("out/a/a.h", "#include <stddef.h>", "#include <mine.h>");
  expect_different(generate_there("--bcol 40"));
  write("out/a/notes.txt", "mine");
  const ProcessResult foreign = generate_there("--bcol 40");
  EXPECT_EQ(foreign.status, 2);
  EXPECT_THAT(foreign.errors, HasSubstr("out/a: holds notes.txt, which is no file of a bundle a"));
  fs::remove(path("out/a/notes.txt"));
  EXPECT_EQ(generate_there("--bcol 41 --force", "").status, 3) << "this one would have been made";
}

TEST_F(Check, ReplacesWhereNamesCannotBeExchanged) {
  const auto generate_there = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"generate", "a.mtx", "--bcol", "41", "-o", "out", "--no-verify"});
    return escgen(more, {.folder = folder(), .environment = {"LD_PRELOAD=" ESC_NO_EXCHANGE}});
  };
  EXPECT_EQ(generate_there({"--name", "fresh"}).status, 0);
  const ProcessResult forced = generate_there({"--force"});
  EXPECT_EQ(forced.status, 0) << forced.errors;
  EXPECT_EQ(parse_json(read("out/a/manifest.json"))["bcol"], 41);
  EXPECT_EQ(snapshot("out").size(), 14u) << "nothing is left beside the two bundles";
}

TEST_F(Check, FileInPlaceOfTheBundle) {
  fs::remove_all(path("out/a"));
  write("out/a", "mine");
  expect_refusal({"generate", "a.mtx", "--bcol", "40", "-o", "out", "--no-verify"}, "out/a: is not a folder");
  expect_refusal({"generate", "a.mtx", "--bcol", "40", "-o", "out", "--no-verify", "--force"},
                 "out/a: is not a folder");
  expect_stale({"out/a: is missing\n"});
}

TEST_F(Check, FolderWithOtherFilesSurvivesForce) {
  fs::create_directory(path("out/sources"));
  write("out/sources/CMakeLists.txt", "mine");
  expect_refusal({"generate", "a.mtx", "--bcol", "40", "-o", "out", "--name", "sources", "--no-verify", "--force"},
                 "out/sources: has no manifest.json of a bundle sources");
  fs::remove(path("out/sources/CMakeLists.txt"));
  EXPECT_EQ(generate({"--name", "sources", "--no-verify", "--force"}).status, 0);
}

}  // namespace
}  // namespace esc::cli

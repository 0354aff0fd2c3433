// SPDX-License-Identifier: Apache-2.0
// What the program says of itself: --version, what may have been meant, completions and the page for man(1).

#include <regex>
#include <sstream>

#include "tests/cli/workshop.h"
#include "tests/support/unwrapped.h"

namespace esc::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;
using ::testing::StartsWith;

class Help : public Workshop {
 protected:
  /// What bash completes the words to, the last of which is not at its end.
  std::string completed(const std::string& words) const {
    const ProcessResult result = shell("set -- " + words + R"(; source <($ESCGEN completion bash)
COMP_WORDS=(escgen "$@"); COMP_CWORD=$#; _escgen; printf '%s ' "${COMPREPLY[@]}")");
    EXPECT_EQ(result.status, 0) << result.errors;
    return result.output;
  }

  /// The names of options in the help of a command, or of the program where that is empty.
  std::vector<std::string> options_in_help(const std::string& command) const {
    const ProcessResult help = command.empty() ? escgen({"--help"}) : escgen({command, "--help"});
    EXPECT_EQ(help.status, 0);
    const std::regex option("\n  (?:-[a-z],)?(--[a-z-]+)");
    std::vector<std::string> names;
    for (std::sregex_iterator found(help.output.begin(), help.output.end(), option), end; found != end; ++found) {
      names.push_back((*found)[1]);
    }
    EXPECT_FALSE(names.empty());
    return names;
  }
};

TEST_F(Help, VersionNamesCommitAndWhatItWasBuiltWith) {
  const ProcessResult version = escgen({"--version"});
  EXPECT_EQ(version.status, 0);
  EXPECT_EQ(version.errors, "");
  EXPECT_THAT(version.output, MatchesRegex("escgen [0-9]+\\.[0-9]+\\.[0-9]+\ncommit     (unknown|[0-9a-f]{12})\n"
                                           "LLVM       [0-9.]+\nCUDA       (none|[0-9.]+)\n"));
}

TEST_F(Help, NoGeneratedFileNamesTheCommit) {
  const std::string version = escgen({"--version"}).output;
  const std::string commit = version.substr(version.find("commit     ") + 11, 12);
  make_bundle();
  for (const auto& [file, text] : snapshot("out")) {
    EXPECT_THAT(text, Not(HasSubstr(commit))) << file;
  }
}

TEST_F(Help, SaysWhatHoldsWhereNothingIsNamed) {
  const std::string help = tests::unwrapped(escgen({"generate", "--help"}).output);
  EXPECT_THAT(
      help,
      HasSubstr(
          "Without --gpu and --arch the kernels are built for sm_80 and sm_90, with the schedules for an NVIDIA H200"));
  EXPECT_THAT(help, HasSubstr("default: that of a file of 16 bits; f32 for f32, f64 and text"));
  EXPECT_THAT(help, HasSubstr("as in sm_90 (sm_75 to sm_121, repeatable)"));
}

TEST_F(Help, GroupsOptionsNamesListsAndStaysWithinAPage) {
  const std::string help = escgen({"generate", "--help"}).output;
  EXPECT_THAT(help, AllOf(HasSubstr("\nInput:\n"), HasSubstr("\nTarget:\n"), HasSubstr("\nSchedule:\n"),
                          HasSubstr("[default: auto]"), HasSubstr("\nGPUs: a10, a100, "),
                          HasSubstr("\nElement types: f32, "), HasSubstr("\nLayouts: kn "),
                          HasSubstr("\nEpilogue parts: bias, "), HasSubstr("\nSchedule families: ")));
  for (const std::string command :
       {"generate", "verify", "pack", "report", "inspect", "lower", "nest", "sample", "spec", "completion"}) {
    std::istringstream lines(escgen({command, "--help"}).output);
    for (std::string line; std::getline(lines, line);) {
      EXPECT_TRUE(line.size() <= 100 || line.starts_with("  escgen ")) << command << ": " << line;
    }
  }
}

TEST_F(Help, OldNamesOfOptionsAreReadAndSaidToBeOld) {
  write_matrix();
  const ProcessResult now = escgen({"inspect", "a.mtx", "--tile-rows", "2", "--json"});
  for (const std::vector<std::string>& words : {std::vector<std::string>{"inspect", "a.mtx", "--ufi", "2", "--json"},
                                                {"inspect", "a.mtx", "--ufi=2", "--json"}}) {
    const ProcessResult old = escgen(words);
    EXPECT_EQ(old.status, 0);
    EXPECT_EQ(old.output, now.output);
    EXPECT_THAT(old.errors, HasSubstr("--ufi is an old name of --tile-rows"));
  }
  EXPECT_EQ(now.errors, "");
  EXPECT_EQ(escgen({"inspect", "a.mtx", "--ufi", "2", "--json", "-q"}).errors, "");
  EXPECT_THAT(escgen({"generate", "a.mtx", "-o", "out", "--ufi", "2"}).errors, Not(HasSubstr("old name")))
      << "it is one of inspect alone";
}

TEST_F(Help, SaysWhatMayHaveBeenMeant) {
  write_matrix();
  expect_refusal({"generate", "a.mtx", "--bcoll", "8", "-o", "out"}, "did you mean --bcol? see escgen generate --help");
  expect_refusal({"generate", "a.mtx", "--bcol", "8", "--outptu=out"}, "did you mean --output? see");
  expect_refusal({"genrate", "a.mtx"}, "did you mean generate? see escgen --help");
  expect_refusal({"verify", "out", "--device", "gp"}, "gp not in {host,gpu}, did you mean gpu?");
  expect_refusal({"generate", "a.mtx", "--bcol", "8", "-o", "out", "--gpu", "h20"}, "did you mean h200? use --arch");
  expect_refusal({"generate", "a.mtx", "--bcol", "8", "-o", "out", "--epilogue", "bias+rleu"},
                 "did you mean relu? put together");
  expect_refusal({"generate", "a.mtx", "--bcol", "8", "-o", "out", "--schedule", "panle:ufi=2"},
                 "did you mean panel? the families are");
}

TEST_F(Help, SuggestsNothingThatIsNotNear) {
  expect_refusal({"frobnicate"}, "see escgen --help");
  EXPECT_THAT(escgen({"frobnicate"}).errors, Not(HasSubstr("did you mean")));
}

TEST_F(Help, BashCompletesCommandsOptionsAndValues) {
  EXPECT_EQ(completed("gen"), "generate ");
  EXPECT_EQ(completed("generate a.mtx --bc"), "--bcol ");
  EXPECT_EQ(completed("verify out --device g"), "gpu ");
  EXPECT_EQ(completed("completion ''"), "bash zsh ");
  EXPECT_THAT(completed("inspect --"),
              AllOf(HasSubstr("--tile-rows "), HasSubstr("--quiet "), Not(HasSubstr("--bcoll"))));
  EXPECT_EQ(completed("generate a.mtx --kernel ''"), " ") << "files are bash's own";
}

TEST_F(Help, CompletionsAndThePageHaveEveryOption) {
  const std::string page = escgen({"man"}).output;
  const std::string zsh = escgen({"completion", "zsh"}).output;
  EXPECT_THAT(page, StartsWith(".TH ESCGEN 1 "));
  EXPECT_THAT(zsh, StartsWith("#compdef escgen\n"));
  for (const std::string command :
       {"", "generate", "verify", "inspect", "lower", "nest", "sample", "spec", "completion"}) {
    const std::string in_bash = completed(command + " -");
    for (const std::string& option : options_in_help(command)) {
      EXPECT_THAT(page, HasSubstr("\\fB" + std::regex_replace(option, std::regex("-"), "\\-") + "\\fR")) << command;
      EXPECT_THAT(zsh, HasSubstr("*" + option + "[")) << command;
      EXPECT_THAT(in_bash, HasSubstr(option + " ")) << command;
    }
  }
}

TEST_F(Help, ThePageIsCleanRoff) {
  if (shell("command -v groff").status != 0) {
    GTEST_SKIP() << "groff is not on this machine";
  }
  const ProcessResult page = shell("$ESCGEN man | groff -man -Tutf8 -ww");
  EXPECT_EQ(page.status, 0);
  EXPECT_EQ(page.errors, "");
  EXPECT_THAT(page.output,
              AllOf(HasSubstr("--bcol"), HasSubstr("escgen generate ffn1.npy --bcol 64 --gpu h200 -o bundles")));
}

TEST_F(Help, QuietSaysNothingWhereAllIsWell) {
  make_bundle();
  const std::vector<std::string> again{"generate", "a.mtx",      "--bcol",   "40",          "-o",
                                       "out",      "--schedule", "4-7-1-32", "--no-verify", "--quiet"};
  const auto with = [&](const char* option) {
    std::vector<std::string> arguments = again;
    arguments.emplace_back(option);
    return escgen(arguments);
  };
  const auto is_silent = [](const ProcessResult& result) {
    return result.status == 0 && result.output.empty() && result.errors.empty();
  };
  EXPECT_TRUE(is_silent(escgen(again)));
  EXPECT_TRUE(is_silent(with("--check")));
  EXPECT_TRUE(is_silent(escgen({"verify", "out/a", "--quiet"})));
  EXPECT_EQ(parse_json(with("--json").output).at("status"), "unchanged");
  replace("out/a/a.h", "a_prepare", "b_prepare", true);
  const ProcessResult stale = with("--check");
  EXPECT_EQ(stale.status, 1);
  EXPECT_THAT(stale.output, HasSubstr("check      the bundle is stale"));
}

}  // namespace
}  // namespace esc::cli

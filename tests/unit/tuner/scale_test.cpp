// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <span>

#include "generator/matrix/fingerprint.h"
#include "generator/support/error.h"
#include "generator/support/file.h"
#include "generator/support/process.h"
#include "generator/support/temporary_folder.h"
#include "tuner/scale/kubernetes_job.h"
#include "tuner/scale/shard.h"
#include "tuner/scale/slurm_script.h"

namespace esc::tuning {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::Property;
using testing::Throws;

Environs environs(std::map<std::string, std::string> variables) {
  return [variables = std::move(variables)](const std::string& name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  };
}

/// As long as real ones, and as different from each other.
std::string pattern(int number) { return sha256_of_text(std::to_string(number)); }

TEST(Shard, IsReadFromItsText) {
  EXPECT_EQ(parse_shard("0/1", environs({})), (Shard{0, 1}));
  EXPECT_EQ(parse_shard("3/4", environs({})), (Shard{3, 4}));
}

TEST(Shard, RefusesWhatIsNoPart) {
  for (const char* text :
       {"", "/", "1", "4/4", "1/0", "-1/4", "1/-4", "a/4", "1/4/2", "1/ 4", "+1/4", "1.0/4", "99999999999/4", "AUTO"}) {
    EXPECT_THROW(parse_shard(text, environs({})), UserError) << text;
  }
}

TEST(Shard, IsThatOfASlurmArray) {
  EXPECT_EQ(
      parse_shard(
          "auto",
          environs({{"SLURM_ARRAY_TASK_ID", "7"}, {"SLURM_ARRAY_TASK_COUNT", "4"}, {"SLURM_ARRAY_TASK_MIN", "5"}})),
      (Shard{2, 4}));
  EXPECT_EQ(parse_shard("auto", environs({{"SLURM_ARRAY_TASK_ID", "0"}, {"SLURM_ARRAY_TASK_COUNT", "4"}})),
            (Shard{0, 4}));
}

TEST(Shard, IsThatOfAKubernetesJob) {
  EXPECT_EQ(parse_shard("auto", environs({{"JOB_COMPLETION_INDEX", "3"}, {"ESC_SHARD_COUNT", "8"}})), (Shard{3, 8}));
  EXPECT_THAT([] { parse_shard("auto", environs({{"JOB_COMPLETION_INDEX", "3"}})); },
              Throws<UserError>(Property(&UserError::what, HasSubstr("ESC_SHARD_COUNT"))));
}

TEST(Shard, IsNotGuessed) {
  EXPECT_THROW(parse_shard("auto", environs({})), UserError);
  EXPECT_THROW(parse_shard("auto", environs({{"SLURM_ARRAY_TASK_ID", "1"}})), UserError);
  EXPECT_THROW(parse_shard("auto", environs({{"SLURM_ARRAY_TASK_ID", "x"}, {"SLURM_ARRAY_TASK_COUNT", "4"}})),
               UserError);
  EXPECT_THROW(parse_shard("auto", environs({{"SLURM_ARRAY_TASK_ID", "4"}, {"SLURM_ARRAY_TASK_COUNT", "4"}})),
               UserError);
  // A task below the least of the array.
  EXPECT_THROW(
      parse_shard(
          "auto",
          environs({{"SLURM_ARRAY_TASK_ID", "1"}, {"SLURM_ARRAY_TASK_COUNT", "4"}, {"SLURM_ARRAY_TASK_MIN", "2"}})),
      UserError);
}

TEST(Shard, PartsAreDisjointWholeAndEven) {
  constexpr unsigned int parts = 7;
  std::map<unsigned int, int> sizes;
  for (int layer = 0; layer < 400; ++layer) {
    for (const std::int64_t bcol : {1, 32, 64, 128}) {
      int owners = 0;
      for (unsigned int index = 0; index < parts; ++index) {
        if (is_in({index, parts}, pattern(layer), bcol)) {
          ++owners;
          ++sizes[index];
        }
      }
      ASSERT_EQ(owners, 1);
      ASSERT_TRUE(is_in({0, 1}, pattern(layer), bcol));
    }
  }
  for (const auto& [index, size] : sizes) {
    EXPECT_NEAR(size, 400 * 4 / 7, 60) << index;  // four standard deviations
  }
}

/// Known answers, of Python's hashlib: runs of different versions on different hosts must agree.
TEST(Shard, NeverMovesAnItem) {
  std::string owners;
  for (int layer = 0; layer < 12; ++layer) {
    for (unsigned int index = 0; index < 4; ++index) {
      owners += is_in({index, 4}, pattern(layer), 64) ? std::to_string(index) : "";
    }
  }
  EXPECT_EQ(owners, "233032303201");
}

SlurmJob small_job() {
  return {{.program = "esctune", .arguments = {"layers", "--bcol", "32,64"}, .output = "night.jsonl", .tasks = 3}, {}};
}

KubernetesJob small_kubernetes_job() { return {small_job(), "images/esctune:1", "layers"}; }

TEST(ShellWord, IsOneWordWhateverIsInIt) {
  EXPECT_EQ(shell_word("layers/a-b_c.smtx"), "layers/a-b_c.smtx");
  EXPECT_EQ(shell_word(""), "''");
  EXPECT_EQ(shell_word("two words"), "'two words'");
  EXPECT_EQ(shell_word("it's"), "'it'\\''s'");
  for (const std::string text :
       {"a b", "$(id)", "`id`", "it's", "a\"b", "*", "~", "#x", "a=b", "x;y", "!", "\\", "-n", "{a,b}", "ä"}) {
    const ProcessResult result = run_process({"/bin/bash", "-c", "printf '<%s>' " + shell_word(text)});
    EXPECT_EQ(result.output, "<" + text + ">");
  }
}

TEST(SlurmScript, HasAnArrayJobAndAMergeBehindIt) {
  const std::string script = slurm_script(small_job());
  EXPECT_THAT(script, HasSubstr("--array=0-2 "));
  EXPECT_THAT(script, HasSubstr("--gres=gpu:1"));
  EXPECT_THAT(script, HasSubstr("--output=night.%a.log"));
  EXPECT_THAT(
      script,
      HasSubstr("exec esctune run --shard auto --output night.\"${SLURM_ARRAY_TASK_ID}\".jsonl layers --bcol 32,64\n"));
  EXPECT_THAT(script, HasSubstr("--dependency=\"afterany:${tuning%%;*}\""));
  EXPECT_THAT(script, HasSubstr("exec esctune merge \"${parts[@]}\" --output night.jsonl\n"));
  EXPECT_THAT(script, Not(HasSubstr("@@")));
  EXPECT_EQ(script, slurm_script(small_job()));
}

TEST(SlurmScript, PassesOnWhatSbatchIsToldFurther) {
  SlurmJob job = small_job();
  job.gpus = 0;
  job.options = {"--partition=gpu nodes", "--account=a"};
  const std::string script = slurm_script(job);
  EXPECT_THAT(script, Not(HasSubstr("--gres")));
  EXPECT_THAT(script, HasSubstr("--output=night.%a.log '--partition=gpu nodes' '--account=a' <<"));
  EXPECT_THAT(script, HasSubstr("--output=night.merge.log '--partition=gpu nodes' '--account=a' <<"));
}

TEST(SlurmScript, RefusesWhatCannotStandInIt) {
  const auto refused = [](auto change) {
    SlurmJob job = small_job();
    change(job);
    EXPECT_THROW(slurm_script(job), UserError);
  };
  refused([](SlurmJob& job) { job.tasks = 0; });
  refused([](SlurmJob& job) { job.minutes = 0; });
  refused([](SlurmJob& job) { job.output = ""; });
  refused([](SlurmJob& job) { job.output = "folder/"; });
  refused([](SlurmJob& job) { job.output = "a\nb"; });
  refused([](SlurmJob& job) { job.output = "a\\b"; });
  refused([](SlurmJob& job) { job.arguments = {"END_OF_TASK\nid"}; });
  refused([](SlurmJob& job) { job.options = {"\r"}; });
  refused([](SlurmJob& job) { job.program = "\n"; });
}

TEST(KubernetesJob, IsAnIndexedJobWhoseTasksHaveRecordsOfTheirOwn) {
  KubernetesJob job = small_kubernetes_job();
  job.arguments.emplace_back("$(it's)");
  const std::string text = kubernetes_job(job);
  for (const char* const part :
       {"  completionMode: Indexed\n  completions: 3\n  parallelism: 3\n", "activeDeadlineSeconds: 7200\n",
        "image: \"images/esctune:1\"\n", "- name: ESC_SHARD_COUNT\n              value: \"3\"\n",
        "cpu: 8\n              nvidia.com/gpu: 1\n", "claimName: \"layers\"\n",
        "#   esctune merge night.*.jsonl $(ls night.jsonl 2>/dev/null) --output night.jsonl\n"}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
  EXPECT_THAT(text, Not(HasSubstr("@@")));
  EXPECT_EQ(text, kubernetes_job(job));
  const std::size_t at = text.find("- \"exec") + 2;
  std::string line = nlohmann::json::parse(text.substr(at, text.find('\n', at) - at));
  EXPECT_THAT(line, HasSubstr("$$(it")) << "Kubernetes makes one $ of two in front of a bracket";
  line.erase(line.find("$$("), 1);
  const ProcessResult run =
      run_process({"/bin/sh", "-c", "JOB_COMPLETION_INDEX=2\nprintf '<%s>'" + line.substr(std::string("exec").size())});
  EXPECT_EQ(run.output, "<esctune><run><--shard><auto><--output><night.2.jsonl><layers><--bcol><32,64><$(it's)>");
}

TEST(KubernetesJob, RefusesWhatCannotStandInIt) {
  const auto refused = [](auto change) {
    KubernetesJob job = small_kubernetes_job();
    change(job);
    EXPECT_THROW(kubernetes_job(job), UserError);
  };
  refused([](KubernetesJob& job) { job.tasks = 0; });
  refused([](KubernetesJob& job) { job.image = ""; });
  refused([](KubernetesJob& job) { job.claim = ""; });
  refused([](KubernetesJob& job) { job.claim = "a\nb"; });
  refused([](KubernetesJob& job) { job.output = "/data/night.jsonl"; });
  refused([](KubernetesJob& job) { job.program = "\n"; });
}

/// The script in a folder where stand-ins for the program and for sbatch write down what they are told. That for sbatch
/// runs what it is given at once, as task 1 of the array.
class SlurmScriptRun : public testing::Test {
 protected:
  ProcessResult run(SlurmJob job, bool leaves_records = true) const {
    job.program = path("the program").string();
    job.output = "100 % of 'it'.jsonl";
    write_file_whole(path("script"), slurm_script(job));
    write_file_whole(path("the program"), std::string(R"(#!/bin/bash
printf '[%s]' "$@" >>calls; echo >>calls
)") + (leaves_records ? "[[ $1 == run ]] && touch \"$5\"\nexit 0\n" : ""));
    write_file_whole(path("sbatch"), R"(#!/bin/bash
printf '%s\n' "$@" >>options
SLURM_ARRAY_TASK_ID=1 bash -s
echo "7;cluster"
)");
    return run_process({"/bin/bash", "-c",
                        "cd \"$1\" && chmod +x sbatch 'the program' && PATH=$1:$PATH bash script 2>&1", "bash",
                        folder_.path().string()});
  }

  std::filesystem::path path(const std::string& name) const { return folder_.path() / name; }

 private:
  TemporaryFolder folder_;
};

TEST_F(SlurmScriptRun, TakesNamesThatNeedQuoting) {
  SlurmJob job = small_job();
  job.arguments = {"it's a layer", "$HOME", "--bcol", "32", "--", "-w.smtx"};
  const ProcessResult result = run(job);
  EXPECT_EQ(result.status, 0) << result.output;
  EXPECT_EQ(result.output, "array job 7, and 7, which unites its records\n");
  EXPECT_EQ(read_file(path("calls")),
            "[run][--shard][auto][--output][100 % of 'it'.1.jsonl][it's a layer][$HOME][--bcol][32][--][-w.smtx]\n"
            "[merge][100 % of 'it'.1.jsonl][--output][100 % of 'it'.jsonl]\n");
  const std::string options = read_file(path("options"));
  EXPECT_THAT(options, HasSubstr("\n--output=100 %% of 'it'.%a.log\n"));
  EXPECT_THAT(options, HasSubstr("\n--dependency=afterany:7\n"));
}

TEST_F(SlurmScriptRun, UnitesTheTasksWithWhatTheResultHeldBefore) {
  write_file_whole(path("100 % of 'it'.jsonl"), "");
  EXPECT_EQ(run(small_job()).status, 0);
  EXPECT_THAT(read_file(path("calls")),
              HasSubstr("[merge][100 % of 'it'.1.jsonl][100 % of 'it'.jsonl][--output][100 % of 'it'.jsonl]\n"));
}

TEST_F(SlurmScriptRun, FindsNoRecordsInWhatTheResultHeldBefore) {
  write_file_whole(path("100 % of 'it'.jsonl"), "");
  EXPECT_THAT(run(small_job(), false).output, HasSubstr("none of the tasks has left records"));
  EXPECT_THAT(read_file(path("calls")), Not(HasSubstr("[merge]")));
}

}  // namespace
}  // namespace esc::tuning

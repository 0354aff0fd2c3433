// SPDX-License-Identifier: Apache-2.0
// The job that a script of `slurm_script` submits, on a real Slurm of one node, with the real esctune and recorded
// measurements in place of GPUs.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "generator/matrix/matrix_reader.h"
#include "generator/matrix/matrix_writer.h"
#include "generator/matrix/sample.h"
#include "generator/support/file.h"
#include "generator/support/process.h"
#include "generator/support/temporary_folder.h"
#include "tuner/records/record_text.h"
#include "tuner/run/layer_list.h"
#include "tuner/scale/shard.h"
#include "tuner/scale/slurm_script.h"

namespace esc::tuning {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* schedules[] = {
    "panel: tile=1x32, thread=1x4, split_k=8, lane_groups=4, unroll_k=4, stage_a=off, pdl=on",
    "panel: tile=2x32, thread=2x4, split_k=8, lane_groups=4, unroll_k=4, stage_a=off, pdl=on",
    "panel: tile=2x32, thread=2x4, split_k=16, lane_groups=4, unroll_k=4, stage_a=on, pdl=on",
};
constexpr std::int64_t bcols[] = {32, 64};
constexpr int first_layers = 6;

bool is_installed(const std::string& program) {
  return run_process({"/bin/bash", "-c", "command -v \"$1\"", "bash", program}).status == 0;
}

class SlurmJobs : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* program : {"munged", "slurmctld", "slurmd", "sbatch"}) {
      if (!is_installed(program)) {
        GTEST_SKIP() << program << " is not installed";
      }
    }
    if (geteuid() != 0) {
      GTEST_SKIP() << "a cluster of its own needs root";
    }
    // Where containers forbid what the daemons need, no job can be tried.
    write_file_whole(path("nothing.sh"), "true\n");
    constexpr int no_cluster = 3;
    if (const ProcessResult probe = on_cluster("nothing.sh"); probe.status == no_cluster) {
      GTEST_SKIP() << probe.output;
    }
    fs::create_directory(path("the layers"));
    std::string space;
    for (const char* schedule : schedules) {
      space += std::string(schedule) + "\n";
    }
    write_file_whole(path("space.txt"), space);
    for (int layer = 0; layer < first_layers; ++layer) {
      add_layer(layer);
    }
  }

  fs::path path(const std::string& name) const { return folder_.path() / name; }

  /// A layer in the job's folder, and what the recorded device has measured of it.
  void add_layer(int number) {
    const fs::path file = path("the layers") / ("layer" + std::to_string(number) + ".smtx");
    write_matrix(
        sample_matrix({.rows = 64, .columns = 64, .sparsity = 0.8, .seed = static_cast<std::uint64_t>(number)}), file);
    CandidateRecord record;
    record.environment = {"0.1.0", "13.0", "NVIDIA H200", "13.0"};
    record.item.layer = facts_of(read_matrix(file.string(), {}), file.string());
    record.item.device = {90, 132, std::uint64_t{60} << 20U};
    record.builder = "nvrtc 13.0";
    for (const std::int64_t bcol : bcols) {
      record.item.bcol = bcol;
      double microseconds = 2 + 0.1 * number;
      for (const char* schedule : schedules) {
        record.candidate = schedule;
        record.samples.assign(50, microseconds);
        measured_ += print(Record(record)) + "\n";
        microseconds += 0.2;
      }
    }
    write_file_whole(path("measured.jsonl"), measured_);
  }

  static std::vector<std::string> arguments() {
    return {"the layers", "--bcol", "32,64", "--space", "space.txt", "--replay", "measured.jsonl"};
  }

  std::string esctune(std::vector<std::string> words) const {
    words.insert(words.begin(), ESCTUNE);
    const ProcessResult result = run_process(words, {.folder = folder_.path()});
    EXPECT_EQ(result.status, 0) << result.output;
    return result.output;
  }

  /// Runs a script that submits jobs on a fresh cluster, to their end.
  ProcessResult on_cluster(const std::string& script) {
    return run_process({"/bin/bash", std::string(ESC_SOURCE_DIR) + "/tests/cli/slurm/run_cluster.sh",
                        path("cluster" + std::to_string(++clusters_)).string(), script},
                       {.folder = folder_.path()});
  }

  /// Submits the job to a fresh cluster and waits for its end; the united records.
  std::string run_job() {
    write_file_whole(path("job.sh"), slurm_script({{.program = ESCTUNE,
                                                    .arguments = arguments(),
                                                    .output = "night of 'it'.jsonl",
                                                    .tasks = 3,
                                                    .gpus = 1,
                                                    .cores = 1,
                                                    .minutes = 5},
                                                   {}}));
    const ProcessResult result = on_cluster("job.sh");
    EXPECT_EQ(result.status, 0) << result.output;
    return fs::exists(path("night of 'it'.jsonl")) ? read_file(path("night of 'it'.jsonl"))
                                                   : "nothing was united: " + result.output;
  }

  /// What one process, without a cluster, leaves of the same work.
  std::string run_alone() const {
    std::vector<std::string> words = arguments();
    words.insert(words.begin(), "run");
    words.insert(words.end(), {"--output", "alone.jsonl"});
    esctune(words);
    esctune({"merge", "alone.jsonl", "--output", "alone.merged.jsonl"});
    return read_file(path("alone.merged.jsonl"));
  }

 private:
  TemporaryFolder folder_;
  std::string measured_;
  int clusters_ = 0;
};

std::set<std::string> lines_of(const std::string& text) {
  std::set<std::string> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    lines.insert(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

std::ptrdiff_t decisions_in(const std::vector<Record>& records) {
  return std::ranges::count_if(records,
                               [](const Record& record) { return std::holds_alternative<DecisionRecord>(record); });
}

TEST_F(SlurmJobs, UniteTheRecordsOfTasksThatShareTheLayers) {
  const std::string united = run_job();
  EXPECT_EQ(united, run_alone());
  EXPECT_EQ(decisions_in(parse_journal(united, "united").records), first_layers * 2);
  // More than one task had a part of it.
  EXPECT_TRUE(fs::exists(path("night of 'it'.0.jsonl")));
  EXPECT_LT(read_file(path("night of 'it'.0.jsonl")).size(), united.size());

  // Another layer: what was measured stays, and nothing but that layer is added.
  add_layer(first_layers);
  const std::string more = run_job();
  const std::set<std::string> before = lines_of(united);
  const std::set<std::string> after = lines_of(more);
  EXPECT_TRUE(std::ranges::includes(after, before));
  for (const std::string& line : after) {
    if (!before.contains(line)) {
      EXPECT_THAT(line, HasSubstr("layer6.smtx"));
    }
  }
  EXPECT_GT(after.size(), before.size());
}

/// A task that comes to nothing keeps nobody's records from being united.
TEST_F(SlurmJobs, UniteWhatThereIsWhateverBecameOfATask) {
  fs::create_directory(path("night of 'it'.1.jsonl"));  // where task 1 would write
  const JournalText united = parse_journal(run_job(), "united");
  EXPECT_THAT(united.damaged, IsEmpty());
  EXPECT_FALSE(united.records.empty());
  for (const Record& record : united.records) {
    EXPECT_FALSE(is_in({1, 3}, item_of(record).layer.pattern, item_of(record).bcol));
  }
  EXPECT_LT(decisions_in(united.records), first_layers * 2);
}

}  // namespace
}  // namespace esc::tuning

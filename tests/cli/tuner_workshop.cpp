// SPDX-License-Identifier: Apache-2.0
#include "tests/cli/tuner_workshop.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <fstream>
#include <thread>

#include "generator/matrix/matrix_reader.h"
#include "generator/matrix/matrix_writer.h"
#include "generator/matrix/sample.h"
#include "generator/support/file.h"
#include "generator/support/spawn.h"
#include "tuner/run/layer_list.h"

namespace esc::cli {

namespace fs = std::filesystem;
using tuning::CandidateRecord;
using tuning::Outcome;
using tuning::Record;

namespace {

/// What the recorded device has measured, with its time on layer 0.
constexpr std::pair<const char*, double> schedules[] = {
    {"panel: tile=1x32, thread=1x4, split_k=8, lane_groups=4, unroll_k=4, stage_a=off, pdl=on", 3.0},
    {"panel: tile=2x32, thread=2x4, split_k=8, lane_groups=4, unroll_k=4, stage_a=off, pdl=on", 2.0},
    {"panel: tile=2x32, thread=2x4, split_k=16, lane_groups=4, unroll_k=4, stage_a=on, pdl=on", 2.5},
};
constexpr std::pair<const char*, double> peers[] = {{"cublas-fp32", 6.0}, {"cublas-tf32", 4.0}, {"cusparse", 9.0}};
constexpr const char* failing =
    "panel: tile=4x32, thread=4x4, split_k=8, lane_groups=4, unroll_k=4, stage_a=off, pdl=on";

/// Times around one, as a device gives them, the same in every run.
std::vector<double> times_around(double microseconds) {
  std::vector<double> times;
  for (int number = 0; number < 25; ++number) {
    times.push_back(microseconds * (1 + 0.001 * (number * 7 % 11 - 5)));
  }
  return times;
}

/// The least that a pipe can hold, and what of it is left to a run that nobody listens to: some lines.
constexpr int bytes_of_pipe = 4096;
constexpr std::size_t bytes_until_stuck = 1200;
const std::string filling(bytes_of_pipe - bytes_until_stuck, '-');

std::string read_to_end(int descriptor) {
  std::string text;
  std::array<char, 4096> buffer;
  for (ssize_t count = ::read(descriptor, buffer.data(), buffer.size()); count != 0;
       count = ::read(descriptor, buffer.data(), buffer.size())) {
    text.append(buffer.data(), static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
  }
  return text;
}

}  // namespace

void TunerWorkshop::SetUp() {
  fs::create_directory(path("layers"));
  std::string space;
  for (const auto& [schedule, microseconds] : schedules) {
    space += fmt::format("{}\n", schedule);
  }
  write("space.txt", space + failing + "  # runs into a limit\n");
}

void TunerWorkshop::write(const std::string& name, std::string_view content) const {
  std::ofstream(path(name), std::ios::binary) << content;
}

std::string TunerWorkshop::read(const std::string& name) const { return read_file(path(name)); }

void TunerWorkshop::add_layer(int number) {
  const std::string name = fmt::format("layers/layer{:02}.smtx", number);
  write_matrix(sample_matrix({.rows = 64, .columns = 64, .sparsity = 0.8, .seed = static_cast<std::uint64_t>(number)}),
               path(name));
  CandidateRecord record;
  record.environment = {"0.1.0", "13.0", "NVIDIA H200", "13.0"};
  record.item.layer = tuning::facts_of(read_matrix(path(name).string()), name);
  record.item.device = {90, 132, std::uint64_t{60} << 20U};
  const auto measure = [&](const char* candidate, const char* builder, double microseconds) {
    record.candidate = candidate;
    record.builder = builder;
    record.samples = times_around(microseconds * (1 + 0.1 * number) * static_cast<double>(record.item.bcol) / 32);
    measured_ += print(Record(record)) + "\n";
  };
  for (const std::int64_t bcol : bcols) {
    record.item.bcol = bcol;
    for (const auto& [schedule, microseconds] : schedules) {
      measure(schedule, "nvrtc 13.0", microseconds);
    }
    for (const auto& [peer, microseconds] : peers) {
      measure(peer, "13.0", microseconds);
    }
    CandidateRecord failed = record;
    failed.candidate = failing;
    failed.builder = "nvrtc 13.0";
    failed.outcome = Outcome::launch_failed;
    failed.detail = "too many resources requested for launch";
    failed.samples.clear();
    measured_ += print(Record(failed)) + "\n";
  }
  write("measured.jsonl", measured_);
}

void TunerWorkshop::add_layers(int count) {
  for (int number = 0; number < count; ++number) {
    add_layer(number);
  }
}

ProcessResult TunerWorkshop::esctune(const std::vector<std::string>& words,
                                     const std::vector<std::string>& environment) const {
  std::vector<std::string> arguments{ESCTUNE};
  arguments.insert(arguments.end(), words.begin(), words.end());
  return run_process(arguments, {.folder = folder_.path(), .environment = environment, .errors_apart = true});
}

ProcessResult TunerWorkshop::shell(const std::string& command) const {
  return run_process(
      {"bash", "-c", command},
      {.folder = folder_.path(),
       .environment = {"ESCTUNE=" ESCTUNE,
                       "RUN=" ESCTUNE " run layers --bcol 32,64 --space space.txt --replay measured.jsonl"},
       .errors_apart = true});
}

std::vector<std::string> TunerWorkshop::run_words(const std::string& journal,
                                                  const std::vector<std::string>& more) const {
  std::vector<std::string> words{"run",       "layers",   "--bcol",         "32,64", "--space",
                                 "space.txt", "--replay", "measured.jsonl", "-o",    journal};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

std::string TunerWorkshop::run(const std::string& journal, const std::vector<std::string>& more,
                               const std::vector<std::string>& environment) const {
  const ProcessResult result = esctune(run_words(journal, more), environment);
  EXPECT_EQ(result.status, 0) << result.errors;
  return result.output;
}

tuning::JournalText TunerWorkshop::records_in(const std::string& journal) const {
  const std::string text = read(journal);
  tuning::JournalText records = tuning::parse_journal(text, journal);
  EXPECT_THAT(records.damaged, testing::IsEmpty());
  EXPECT_EQ(records.unfinished, "") << "the last line has no end";
  return records;
}

std::multiset<std::string> TunerWorkshop::decided_in(const std::string& journal) const {
  std::multiset<std::string> items;
  for (const Record& record : records_in(journal).records) {
    if (std::holds_alternative<tuning::DecisionRecord>(record)) {
      const tuning::WorkItem& item = item_of(record);
      items.insert(fmt::format("{}/{}", fs::path(item.layer.file).stem().string(), item.bcol));
    }
  }
  return items;
}

std::string TunerWorkshop::merged(const std::string& journal) const {
  const ProcessResult result = esctune({"merge", journal, "-o", journal + ".merged"});
  EXPECT_EQ(result.status, 0) << result.errors;
  return read(journal + ".merged");
}

std::set<std::string> TunerWorkshop::files() const {
  std::set<std::string> names;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder_.path())) {
    names.insert(entry.path().string());
  }
  return names;
}

void TunerWorkshop::expect_refusal(const std::vector<std::string>& words, const std::string& expected,
                                   int status) const {
  SCOPED_TRACE(fmt::format("esctune {}", fmt::join(words, " ")));
  const std::set<std::string> before = files();
  const ProcessResult refused = esctune(words);
  EXPECT_EQ(refused.status, status);
  EXPECT_EQ(refused.output, "");
  EXPECT_THAT(refused.errors, ::testing::StartsWith("esctune: "));
  EXPECT_THAT(refused.errors, ::testing::HasSubstr(expected));
  EXPECT_EQ(refused.errors.find('\n') + 1, refused.errors.size()) << refused.errors;
  EXPECT_EQ(files(), before);
}

StuckRun::StuckRun(std::vector<std::string> words, const fs::path& folder) {
  std::array<int, 2> output;
  std::array<int, 2> errors;
  EXPECT_EQ(::pipe2(output.data(), O_CLOEXEC), 0);
  EXPECT_EQ(::pipe2(errors.data(), O_CLOEXEC), 0);
  EXPECT_EQ(::fcntl(errors[1], F_SETPIPE_SZ, bytes_of_pipe), bytes_of_pipe);
  EXPECT_EQ(::write(errors[1], filling.data(), filling.size()), static_cast<ssize_t>(filling.size()));
  words.insert(words.begin(), ESCTUNE);
  words.push_back("--verbose");
  process_ = spawn(words, {.folder = folder,
                           .environment = {},
                           .descriptors = {{output[1], STDOUT_FILENO}, {errors[1], STDERR_FILENO}},
                           .own_group = true});
  ::close(output[1]);
  ::close(errors[1]);
  output_ = output[0];
  errors_ = errors[0];
}

StuckRun::~StuckRun() {
  if (process_ >= 0) {
    send(SIGKILL);
    static_cast<void>(end());
  }
}

void StuckRun::await_lines(const fs::path& file, std::size_t lines) const {
  std::error_code ignored;
  const auto has_them = [&] {
    if (!fs::exists(file, ignored)) {
      return false;
    }
    const std::string text = read_file(file);
    return static_cast<std::size_t>(std::ranges::count(text, '\n')) > lines;  // the first one is no record
  };
  for (const auto last = std::chrono::steady_clock::now() + std::chrono::minutes(1); !has_them();) {
    ASSERT_LT(std::chrono::steady_clock::now(), last) << file << " has too few lines after a minute";
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

void StuckRun::send(int signal) const { ::kill(process_, signal); }

ProcessResult StuckRun::end() {
  ProcessResult result;
  result.errors = read_to_end(errors_).substr(filling.size());
  result.output = read_to_end(output_);
  result.status = wait_for_end(process_);
  ::close(errors_);
  ::close(output_);
  process_ = -1;
  return result;
}

}  // namespace esc::cli

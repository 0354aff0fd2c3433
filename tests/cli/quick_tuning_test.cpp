// SPDX-License-Identifier: Apache-2.0
// generate --tune quick, with the real esctune and recorded times in place of a GPU's. What escgen wants measured is
// what it says that the records lack, so that no change of the schedules that auto prefers needs another journal.

#include <fmt/format.h>
#include <sys/stat.h>

#include <map>
#include <sstream>
#include <utility>

#include "generator/model/read_elements.h"
#include "tests/cli/workshop.h"
#include "tuner/records/record_text.h"
#include "tuner/run/layer_list.h"

namespace esc::cli {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;
using Line = std::vector<std::string>;
using tuning::CandidateRecord;
using tuning::Outcome;
using tuning::Record;

/// A product of a layer, and the schedules that are wanted measured of it, in the order of their ranks.
using Wanted = std::map<std::pair<std::string, std::int64_t>, std::vector<std::string>>;

constexpr const char* missing = "skipped-by-limit, was not recorded";

/// What a run says that its records lack.
Wanted wanted_in(const std::string& errors) {
  Wanted wanted;
  std::istringstream lines(errors);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t columns = line.find(", N = ");
    const std::size_t schedule = line.find(": left out: ");
    if (line.ends_with(missing) && columns != line.npos && schedule != line.npos) {
      const std::size_t begin = schedule + std::string_view(": left out: ").size();
      wanted[{line.substr(0, columns), std::stoll(line.substr(columns + 6))}].push_back(
          line.substr(begin, line.size() - begin - std::string_view(missing).size() - 2));
    }
  }
  return wanted;
}

class QuickTuning : public Workshop {
 protected:
  void SetUp() override {
    fs::create_directory_symlink(ESC_SOURCE_DIR "/templates", path("templates"));
    add_matrix("a.mtx", 1);
    add_matrix("other.mtx", 2);
    measure("other.mtx", 16, "rows: tile=1x1, thread=1x1, unroll_k=4, task=512, light=16", 3.0);
  }

  void add_matrix(const std::string& name, int seed) const {
    const ProcessResult made = escgen(
        {"sample", "-o", name, "--rows", "64", "--cols", "96", "--sparsity", "0.8", "--seed", std::to_string(seed)});
    ASSERT_EQ(made.status, 0) << made.errors;
  }

  /// Has the device of the journal measure a schedule of a file's layer, as often as it is called.
  void measure(const std::string& file, std::int64_t bcol, const std::string& schedule, double microseconds,
               Outcome outcome = Outcome::ok) {
    CandidateRecord record;
    record.environment = {"0.1.0", "13.0", "NVIDIA H200", "13.0"};
    record.item.layer = tuning::facts_of(read_elements(path(file).string(), ScalarType::f32), file);
    record.item.bcol = bcol;
    record.item.device = {90, 132, std::uint64_t{60} << 20U};
    record.item.cache = CacheState::cold;
    record.candidate = schedule;
    record.builder = "nvrtc 13.0";
    record.outcome = outcome;
    record.detail = outcome == Outcome::ok ? "" : "relative error 1";
    if (outcome == Outcome::ok) {
      record.samples.assign(25, microseconds);
    }
    journal_ += print(Record(record)) + "\n";
    write("times.jsonl", journal_);
  }

  ProcessResult tune(Line more) const {
    more.insert(more.begin(), {"generate", "--tune", "quick", "--replay", "times.jsonl", "--no-verify"});
    return escgen(more);
  }

  /// The schedules that a run wants measured of a file's layers.
  Wanted wanted_by(Line line) const {
    line.insert(line.end(), {"-o", "nowhere", "--dry-run"});
    return wanted_in(tune(line).errors);
  }

  /// Measures a layer's candidates: the one of rank `fastest` takes 2 us, the first 4, the others more.
  std::vector<std::string> measure_all(const std::string& file, std::int64_t bcol, std::size_t fastest,
                                       const Line& more = {}) {
    Line line{file, "--bcol", std::to_string(bcol)};
    line.insert(line.end(), more.begin(), more.end());
    const Wanted wanted = wanted_by(line);
    EXPECT_EQ(wanted.size(), 1U);
    const std::vector<std::string> schedules = wanted.empty() ? std::vector<std::string>() : wanted.begin()->second;
    for (std::size_t rank = 0; rank < schedules.size(); ++rank) {
      measure(file, bcol, schedules[rank], rank == fastest ? 2.0 : 4.0 + static_cast<double>(rank));
    }
    return schedules;
  }

  json manifest(const std::string& bundle) const { return parse_json(read(bundle + "/manifest.json")); }

  /// A folder with escgen and a program in place of esctune, which says it has an H200 and does `more` with a layer.
  std::string with_esctune(const std::string& more) const {
    fs::create_directories(path("bin"));
    fs::remove(path("bin/escgen"));
    fs::copy_file(ESCGEN, path("bin/escgen"));
    if (!more.empty()) {
      write("bin/esctune",
            "#!/bin/sh\nif [ \"$1\" = devices ]; then\n"
            "echo '{\"devices\":[{\"key\":\"sm90-132sm-60mib\",\"name\":\"NVIDIA H200\"}]}'\nexit\nfi\n" +
                more + "\n");
      ::chmod(path("bin/esctune").c_str(), 0755);
    }
    return path("bin/escgen").string();
  }

  ProcessResult tune_by(const std::string& program, const Line& more = {}) const {
    Line words{program, "generate", "a.mtx", "--bcol", "16", "--tune", "quick", "-o", "out"};
    words.insert(words.end(), more.begin(), more.end());
    return run_process(words, {.folder = folder(), .errors_apart = true});
  }

 private:
  std::string journal_;
};

TEST_F(QuickTuning, TakesTheFastestOfTheFirstEightOfAuto) {
  const std::vector<std::string> candidates = measure_all("a.mtx", 16, 5);
  ASSERT_THAT(candidates, SizeIs(8));
  const ProcessResult made = tune({"a.mtx", "--bcol", "16", "--gpu", "h200", "-o", "out"});
  ASSERT_EQ(made.status, 0) << made.errors;
  EXPECT_THAT(unbroken(made.output),
              HasSubstr("tuned      2.00 us with weights from memory on one NVIDIA H200: the fastest of 8 candidates, "
                        "2.00 x as fast as the first\n"));
  const json found = manifest("out/a");
  EXPECT_EQ(found["schedule"]["text"], candidates[5]);
  EXPECT_EQ(found["schedule"]["source"],
            "measured: the fastest of 8 candidates on one NVIDIA H200 (sm90-132sm-60mib), cold, 2.00 us");
  const json& tuning = found["tuning"];
  EXPECT_EQ(tuning["layer"], "a.mtx");
  EXPECT_EQ(tuning["bcol"], 16);
  EXPECT_EQ(tuning["device"], "sm90-132sm-60mib");
  EXPECT_EQ(tuning["device_name"], "NVIDIA H200");
  EXPECT_EQ(tuning["cache"], "cold");
  EXPECT_EQ(tuning["taken"], candidates[5]);
  ASSERT_THAT(tuning["candidates"], SizeIs(8));
  for (std::size_t rank = 0; rank < candidates.size(); ++rank) {
    EXPECT_EQ(tuning["candidates"][rank]["schedule"], candidates[rank]);
    EXPECT_EQ(tuning["candidates"][rank]["microseconds"], rank == 5 ? 2.0 : 4.0 + static_cast<double>(rank));
  }
  const ProcessResult automatic =
      escgen({"generate", "a.mtx", "--bcol", "16", "--gpu", "h200", "-o", "nowhere", "--dry-run", "--json"});
  EXPECT_EQ(parse_json(automatic.output)["schedule"], candidates.front());
}

TEST_F(QuickTuning, GivesWhatTheRecordedScheduleGives) {
  const std::vector<std::string> candidates = measure_all("a.mtx", 16, 3);
  const Line line{"a.mtx", "--bcol", "16", "--gpu", "h200", "-o", "out"};
  ASSERT_EQ(tune(line).status, 0);
  const Snapshot tuned = snapshot("out/a");
  const Line named{"generate", "a.mtx",      "--bcol",      "16",          "--gpu",
                   "h200",     "--schedule", candidates[3], "--no-verify", "-o"};
  const auto with = [](Line words, const Line& more) {
    words.insert(words.end(), more.begin(), more.end());
    return words;
  };
  ASSERT_EQ(escgen(with(named, {"again"})).status, 0);
  for (const auto& [file, text] : snapshot("again/a")) {
    EXPECT_EQ(text == tuned.at(file), file != "manifest.json") << file;
  }
  EXPECT_THAT(escgen(with(named, {"out"})).output, HasSubstr("bundle     out/a (unchanged)"));
  EXPECT_EQ(escgen(with(named, {"out", "--check"})).status, 0);
  EXPECT_THAT(tune(line).output, HasSubstr("bundle     out/a (unchanged)"));
  EXPECT_EQ(tune(with(line, {"--check"})).status, 0);
  EXPECT_EQ(escgen({"generate", "a.mtx", "--bcol", "16", "--gpu", "h200", "-o", "out", "--check"}).status, 1);
}

TEST_F(QuickTuning, IsForTheGpuThatIsThereWhereNoneIsNamed) {
  measure_all("a.mtx", 16, 0);
  const ProcessResult made = tune({"a.mtx", "--bcol", "16", "-o", "out", "--json"});
  ASSERT_EQ(made.status, 0) << made.errors;
  EXPECT_THAT(made.errors, HasSubstr("candidates are measured on one NVIDIA H200 (sm90-132sm-60mib), for which "
                                     "kernels are built where no GPU is named\n"));
  EXPECT_EQ(manifest("out/a")["architectures"], json({"sm_90"}));
  const json result = parse_json(made.output);
  EXPECT_EQ(result["tuning"], manifest("out/a")["tuning"]);
  EXPECT_THAT(result["notes"].dump(), Not(HasSubstr("no GPU was named")));
  expect_refusal({"generate", "a.mtx", "--bcol", "16", "--gpu", "a100", "-o", "out", "--quiet", "--tune", "quick",
                  "--replay", "times.jsonl"},
                 "--gpu a100: is not the GPU that --tune quick measures on, one NVIDIA H200 (sm90-132sm-60mib); give "
                 "a journal of that GPU");
  EXPECT_EQ(tune({"a.mtx", "--bcol", "16", "--arch", "sm_90", "-o", "out"}).status, 0);
}

TEST_F(QuickTuning, LeavesOutWhatIsWrongAndSaysSo) {
  const Line line{"a.mtx", "--bcol", "16", "-o", "out"};
  const std::vector<std::string> candidates = wanted_by({"a.mtx", "--bcol", "16"}).begin()->second;
  for (std::size_t rank = 0; rank < candidates.size(); ++rank) {
    measure("a.mtx", 16, candidates[rank], 4, rank == 2 ? Outcome::ok : Outcome::wrong_result);
  }
  const ProcessResult made = tune(line);
  ASSERT_EQ(made.status, 0) << made.errors;
  EXPECT_EQ(manifest("out/a")["schedule"]["text"], candidates[2]);
  EXPECT_THAT(made.errors, HasSubstr(fmt::format("a.mtx, N = 16: left out: {}: wrong-result, relative error 1\n",
                                                 candidates.front())));
  EXPECT_EQ(manifest("out/a")["tuning"]["candidates"][0],
            (json{{"schedule", candidates[0]}, {"outcome", "wrong-result"}, {"detail", "relative error 1"}}));
}

TEST_F(QuickTuning, WritesNothingWhereNoCandidateIsRight) {
  const ProcessResult failed = tune({"a.mtx", "--bcol", "16", "-o", "out"});
  EXPECT_EQ(failed.status, 1);
  EXPECT_EQ(failed.output, "");
  EXPECT_THAT(failed.errors,
              HasSubstr("--tune quick: none of the 8 candidates for a.mtx, N = 16, was right on one NVIDIA H200"));
  EXPECT_THAT(snapshot("out"), IsEmpty());
}

TEST_F(QuickTuning, MeasuresForEachNumberOfColumnsAndEachLayerOfASpec) {
  const std::vector<std::string> one = measure_all("a.mtx", 1, 1);
  const std::vector<std::string> many = measure_all("a.mtx", 64, 2);
  ASSERT_EQ(tune({"a.mtx", "--bcol", "1,64", "-o", "out"}).status, 0);
  EXPECT_EQ(manifest("out/a_n1")["schedule"]["text"], one[1]);
  EXPECT_EQ(manifest("out/a_n64")["schedule"]["text"], many[2]);
  write("spec.json", R"({"layers": [{"matrix": "a.mtx", "bcol": 64},
                                    {"matrix": "other.mtx", "bcol": 64, "schedule": "4-7-1-32"}]})");
  ASSERT_EQ(tune({"--spec", "spec.json", "-o", "specified"}).status, 0);
  EXPECT_EQ(manifest("specified/a")["schedule"]["text"], many[2]);
  EXPECT_FALSE(manifest("specified/other").contains("tuning")) << "its schedule is named";
}

TEST_F(QuickTuning, KeepsToTheBytesThatAutoMayTake) {
  const Line limit{"--max-packed", "1.3"};
  for (const std::string& schedule : measure_all("a.mtx", 64, 0, limit)) {
    const ProcessResult made = escgen({"generate", "a.mtx", "--bcol", "64", "--gpu", "h200", "--schedule", schedule,
                                       "--max-packed", "1.3", "-o", "nowhere", "--dry-run"});
    EXPECT_EQ(made.status, 0) << made.errors;
  }
  EXPECT_EQ(tune({"a.mtx", "--bcol", "64", "--max-packed", "1.3", "-o", "out"}).status, 0);
  EXPECT_THAT(tune({"a.mtx", "--bcol", "64", "--max-packed", "0.1", "-o", "small"}).errors,
              HasSubstr("--max-packed 0.1: no schedule that is known for such layers packs a so small"));
}

TEST_F(QuickTuning, TakesNestsAndTypes) {
  for (const Line& more : std::vector<Line>{{"--layout", "nk", "--dtype", "f16"},
                                            {"--dtype", "tf32"},
                                            {"--dtype", "bf16"},
                                            {"--kernel", "templates/linear_nk.c"},
                                            {"--epilogue", "bias+relu"}}) {
    Line line{"a.mtx", "--bcol", "8"};
    line.insert(line.end(), more.begin(), more.end());
    const Wanted wanted = wanted_by(line);
    ASSERT_EQ(wanted.size(), 1U) << more.front();
    EXPECT_THAT(wanted.begin()->second, SizeIs(8)) << "all are legal in the product that esctune has";
  }
}

/// Two layers of 64 x 96 elements, and one of other sizes: one in five is not zero.
std::string small_model() {
  const auto floats = [](int rows, int columns, int shift) {
    std::string bytes;
    for (int element = 0; element < rows * columns; ++element) {
      bytes += (element % columns + element / columns * 3 + shift) % 5 == 0 ? std::string("\x00\x00\x80\x3f", 4)
                                                                            : std::string(4, '\0');
    }
    return bytes;
  };
  const std::string header = R"({"a": {"dtype": "F32", "shape": [64, 96], "data_offsets": [0, 24576]},
                                 "b": {"dtype": "F32", "shape": [64, 96], "data_offsets": [24576, 49152]},
                                 "c": {"dtype": "F32", "shape": [96, 64], "data_offsets": [49152, 73728]}})";
  std::string file(8, '\0');
  file[0] = static_cast<char>(header.size() % 256);
  file[1] = static_cast<char>(header.size() / 256);
  return file + header + floats(64, 96, 0) + floats(64, 96, 1) + floats(96, 64, 2);
}

TEST_F(QuickTuning, MeasuresOneLayerOfEachKindOfAModel) {
  write("net.safetensors", small_model());
  const Line line{"net.safetensors", "--bcol", "1,16", "--dtype", "f32", "--all", "--gpu", "h200"};
  std::vector<std::string> measured;
  for (Wanted wanted = wanted_by(line); !wanted.empty() && measured.size() < 8; wanted = wanted_by(line)) {
    for (const auto& [product, schedules] : wanted) {
      measured.push_back(fmt::format("{} {}", product.first, product.second));
      for (std::size_t rank = 0; rank < schedules.size(); ++rank) {
        measure("net.safetensors:" + product.first.substr(product.first.find_last_of(":_") + 1), product.second,
                schedules[rank], rank == 1 ? 2.0 : 4.0);
      }
    }
  }
  EXPECT_THAT(measured, SizeIs(4)) << "two kinds for two numbers of columns: " << ::testing::PrintToString(measured);
  Line words = line;
  words.insert(words.end(), {"-o", "out"});
  const ProcessResult made = tune(words);
  ASSERT_EQ(made.status, 0) << made.errors;
  EXPECT_THAT(unbroken(made.output), HasSubstr("tuned      4 products, one for each kind of layer and N, on one NVIDIA "
                                               "H200: each the fastest of 8 candidates at most\n"));
  const json found = manifest("out/net");
  ASSERT_THAT(found["tunings"], SizeIs(4));
  const json& layers = found["layers"];
  ASSERT_THAT(layers, SizeIs(3));
  for (const std::size_t variant : {0, 1}) {
    EXPECT_EQ(layers[0]["variants"][variant]["schedule"], found["tunings"][variant]["taken"]);
    EXPECT_EQ(layers[0]["variants"][variant]["schedule"], layers[1]["variants"][variant]["schedule"]);
    EXPECT_THAT(layers[1]["variants"][variant]["schedule_source"].get<std::string>(),
                AllOf(StartsWith("measured: the fastest of 8 candidates"), HasSubstr("us, with ")));
  }
  for (const json& layer : layers) {
    EXPECT_THAT(layer["packings"], SizeIs(1)) << "one packed matrix for both numbers of columns";
  }
  const Snapshot first = snapshot("out");
  words.emplace_back("--jobs=3");
  EXPECT_THAT(tune(words).output, HasSubstr("bundle     out/net (unchanged)"));
  words.emplace_back("--check");
  EXPECT_EQ(tune(words).status, 0);
  EXPECT_EQ(escgen({"pack", "out/net", "net.safetensors"}).status, 0);
  EXPECT_TRUE(snapshot("out") == first);
  replace("out/net/manifest.json", R"("outcome": "ok")", R"("outcome": "wrong-result")", true);
  EXPECT_THAT(escgen({"pack", "out/net", "net.safetensors"}).errors,
              HasSubstr("has measurements of net.safetensors:a, none of which is right"));
}

TEST_F(QuickTuning, RefusesWhatItIsOfNoUseWith) {
  const auto refused = [&](Line more, const std::string& words) {
    more.insert(more.begin(), {"generate", "a.mtx", "--bcol", "16", "-o", "out", "--tune", "quick"});
    expect_refusal(more, words);
  };
  refused({"--schedule", "4-7-1-32"},
          "--tune quick: is of no use where --schedule names one; leave one of the two out");
  write("schedule.txt", "unroll(i, 2)\n");
  refused({"--schedule-file", "schedule.txt"}, "--schedule-file excludes --tune");
  refused({"--no-compaction"}, "--tune quick: is of no use with --no-compaction; leave one of the two out");
  refused({"--check"}, "--tune quick: measures, and no two measurements are the same");
  refused({"--replay", "times.jsonl", "--journal", "new.jsonl"}, "--journal excludes --replay");
  refused({"--replay", "absent.jsonl"}, "absent.jsonl: cannot be read");
  write("bare.jsonl", "");
  refused({"--replay", "bare.jsonl"}, "the recorded device: has no records");
  expect_refusal({"generate", "a.mtx", "--bcol", "16", "-o", "out", "--replay", "times.jsonl"},
                 "--replay times.jsonl: is of no use without --tune quick");
  expect_refusal({"generate", "a.mtx", "--bcol", "16", "-o", "out", "--journal", "new.jsonl"},
                 "--journal new.jsonl: is of no use without --tune quick");
  expect_refusal({"generate", "a.mtx", "--bcol", "16", "-o", "out", "--tune", "slow"}, "--tune: slow not in {quick}");
  write("model.json", R"({"model": "net.safetensors", "bcol": 1, "schedule": "4-7-1-32"})");
  write("net.safetensors", small_model());
  expect_refusal({"generate", "--spec", "model.json", "-o", "out", "--tune", "quick", "--replay", "times.jsonl"},
                 "--tune quick: is of no use where --schedule names one");
}

TEST_F(QuickTuning, KeepsAJournal) {
  tune_by(with_esctune("echo \"$@\" > words.txt; exit 3"), {"--journal", "new.jsonl"});
  EXPECT_THAT(read("words.txt"), AllOf(StartsWith("layer a.mtx --bcol 16 --kernel "),
                                       HasSubstr(" --only-space --cold --output new.jsonl --json --quiet\n")));
}

TEST_F(QuickTuning, SaysWhatIsMissing) {
  const auto expect_failure = [&](const std::string& esctune, int status, const std::string& words) {
    const ProcessResult failed = tune_by(with_esctune(esctune));
    EXPECT_EQ(failed.status, status) << esctune;
    EXPECT_EQ(failed.output, "");
    EXPECT_THAT(failed.errors, HasSubstr(words)) << esctune;
    EXPECT_THAT(snapshot("out"), IsEmpty());
  };
  expect_failure("", 3, "escgen: esctune: is not beside this program");
  expect_failure(
      "echo 'esctune: the process with the GPU: has ended with signal 9; look whether nvidia-smi works' >&2\n"
      "exit 3",
      3, "escgen: the process with the GPU: has ended with signal 9; look whether nvidia-smi works");
  expect_failure("echo 'esctune: a.mtx: is damaged' >&2\nexit 2", 2, "escgen: a.mtx: is damaged");
  expect_failure("exit 70", 3, "escgen: esctune has ended with status 70");
  expect_failure("echo '{\"items\":[]}'", 3,
                 "answers what this program does not understand; install both programs of one version");
  expect_failure("echo nonsense", 3, "answers what this program does not understand");
  const ProcessResult elsewhere = tune_by(with_esctune("exit 70"), {"--gpu", "a100"});
  EXPECT_EQ(elsewhere.status, 3);
  EXPECT_THAT(elsewhere.errors, HasSubstr("--gpu a100: is not the GPU that --tune quick measures on, one NVIDIA H200 "
                                          "(sm90-132sm-60mib); tune where that GPU is, or leave --tune out"));
  expect_failure("echo '{\"items\":[{\"candidates\":[]}]}'", 1,
                 "none of the 8 candidates for a.mtx, N = 16, was right");
}

}  // namespace
}  // namespace esc::cli

// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "generator/commands/option_words.h"
#include "generator/schedule/known_devices.h"
#include "generator/support/file.h"
#include "generator/support/json_result.h"
#include "generator/support/progress.h"
#include "tuner/commands/begun_journal.h"
#include "tuner/commands/commands.h"
#include "tuner/commands/run_narrator.h"
#include "tuner/commands/tuning_line.h"
#include "tuner/records/record_text.h"
#include "tuner/regret/device_measurements.h"
#include "tuner/run/calibrated_device.h"
#include "tuner/run/calibration_layers.h"
#include "tuner/run/stop_signals.h"

namespace esc {
namespace {

namespace fs = std::filesystem;

struct CalibrateLine {
  std::string folder;
  std::string name;  ///< of the GPU; empty: by its product
  std::string budget = "5m";
  std::optional<int> gpu;
  std::string replay;
  bool json = false;
};

TuningLine tuning_line_of(const CalibrateLine& line) {
  TuningLine tuning;
  tuning.replay = line.replay;
  if (line.gpu) {
    tuning.gpus = {*line.gpu};
  }
  return tuning;
}

/// What `--gpu` is to take. Refused before anything is measured.
std::string wanted_name(const CalibrateLine& line, tuning::Lab& lab) {
  const DeviceKey key = lab.device();
  const std::string name = line.name.empty() ? tuning::gpu_name(key, lab.environment().device_name) : line.name;
  require_gpu_name(name, "--name " + name);
  if (const Device* const other = shipped_devices().named(name); other != nullptr && !may_be(other->key, key)) {
    throw UserError("--name " + name,
                    fmt::format("is the name of another GPU, {}, and this one is {}", print(other->key), print(key)),
                    "give it a name of its own with --name");
  }
  return name;
}

/// A journal is of one GPU.
void require_device(const fs::path& journal, const DeviceKey& recorded, const DeviceKey& device) {
  if (recorded != device) {
    throw UserError(journal.string(), fmt::format("is of a GPU {}, and this one is {}", print(recorded), print(device)),
                    "give another folder");
  }
}

/// What an earlier calibration has of microbenchmarks; absent where there was none, or it was killed before.
std::optional<tuning::RatesRecord> known_rates(const fs::path& journal, const DeviceKey& device) {
  std::error_code ignored;
  if (!fs::exists(journal, ignored)) {
    return std::nullopt;
  }
  const std::vector<tuning::RatesRecord> rates = tuning::read_rates(journal.string());
  for (const tuning::RatesRecord& one : rates) {
    require_device(journal, one.device, device);
  }
  return rates.empty() ? std::nullopt : std::optional(rates.front());
}

tuning::RatesRecord measured_rates(tuning::Lab& lab, const Console& console) {
  console.detail("microbenchmarks");
  return {lab.environment(), lab.device(), lab.measure_rates()};
}

void make_folder(const fs::path& folder) {
  std::error_code problem;
  fs::create_directories(folder, problem);
  if (problem) {
    throw UserError(folder.string(), "cannot be made: " + problem.message(), "choose another folder");
  }
}

/// What came of a calibration.
struct Calibration {
  Device device;
  DeviceMeasurements measured;
  std::size_t left = 0;  ///< products that the time did not suffice for
  std::vector<std::string> files;

  std::size_t kernels() const {
    std::size_t count = 0;
    for (const TimedProduct& product : measured.products) {
      count += product.schedules.size();
    }
    return count;
  }
};

/// The kernels that the journal has of the device; none where none was right.
DeviceMeasurements measurements_of(const fs::path& journal, const DeviceKey& device) {
  const auto items = tuning::measured_items({{journal.stem().string(), tuning::read_records({journal.string()})}});
  for (DeviceMeasurements& measured : tuning::device_measurements(items.items)) {
    if (measured.key == device) {
      return std::move(measured);
    }
  }
  throw UserError(journal.string(), "has no right kernel, so there is nothing to calibrate by",
                  "look at its records with esctune show", ExitStatus::check_failed);
}

std::string figure_text(const std::optional<Figure>& figure, const char* unit) {
  return figure ? fmt::format("{:.5g} {}", figure->value, unit) : "not measured";
}

void print_calibration(const Calibration& calibration, const std::string& folder) {
  const Device& device = calibration.device;
  print_plain("device     {} ({}): --gpu {}\n", device.product, print(device.key), device.name);
  print_plain("memory     {}\n", figure_text(device.memory_gigabytes, "GB/s"));
  print_plain("L2 cache   {}\n", figure_text(device.l2_gigabytes, "GB/s"));
  print_plain("float32    {}\n", figure_text(device.fp32_gigaflops, "GFLOP/s"));
  print_plain("TF32       {}\n", figure_text(device.tf32_gigaflops, "GFLOP/s"));
  print_plain("float16    {}\n", figure_text(device.f16_gigaflops, "GFLOP/s"));
  print_plain("kernels    {} of {} products{}\n", calibration.kernels(), calibration.measured.products.size(),
              calibration.left == 0 ? "" : fmt::format(", {} products left", calibration.left));
  for (const std::string& file : calibration.files) {
    print_plain("written    {}\n", (fs::path(folder) / file).string());
  }
  print_plain("use        escgen generate MATRIX --bcol N --gpu {} --database {} -o DIR\n", device.name, folder);
}

std::string to_json(const Calibration& calibration, const std::string& folder) {
  const Device& device = calibration.device;
  nlohmann::json result{{"folder", folder},
                        {"gpu", device.name},
                        {"product", device.product},
                        {"device", print(device.key)},
                        {"kernels", calibration.kernels()},
                        {"products", calibration.measured.products.size()},
                        {"left", calibration.left},
                        {"files", calibration.files}};
  for (const auto& [key, figure] : figures_of(device)) {
    if (*figure) {
      result[key] = (*figure)->value;
    }
  }
  return json_result("calibration", calibration.left == 0 ? "done" : "stopped", result);
}

ExitStatus run(const CalibrateLine& line, const Console& console) {
  const double budget = seconds_in(line.budget);
  const double begin = steady_seconds();
  const Devices devices(tuning_line_of(line));
  std::unique_ptr<tuning::Lab> lab = devices.labs().front()();
  const DeviceKey key = lab->device();
  const std::string name = wanted_name(line, *lab);
  const fs::path folder(line.folder);
  const fs::path journal_file = folder / "calibration.jsonl";
  const std::optional<tuning::RatesRecord> known = known_rates(journal_file, key);
  const tuning::RatesRecord rates = known ? *known : measured_rates(*lab, console);
  make_folder(folder);
  const tuning::StopSignals signals;
  RunNarrator narrator(console);
  tuning::RunSummary summary;
  {
    BegunJournal begun(journal_file);
    tuning::Journal& journal = begun.get();
    say_left_out(journal, journal_file.string(), console);
    for (const tuning::Record& record : journal.records()) {
      require_device(journal_file, tuning::item_of(record).device, key);
    }
    if (!known) {
      journal.write(rates);
    }
    summary = tuning::run_tuning(tuning::calibration_request(), {[&] { return std::move(lab); }}, journal,
                                 narrator.observer(),
                                 [&] { return signals.received() != 0 || steady_seconds() - begin > budget; });
  }
  narrator.finish();
  if (signals.received() != 0) {
    console.error("stopped; the same command goes on from there");
    return static_cast<ExitStatus>(128 + signals.received());
  }
  if (summary.decided + summary.known == 0 && summary.left > 0) {
    console.error("stopped at the end of --budget, before the first product was measured; the same command goes on");
    return ExitStatus::check_failed;
  }
  Calibration calibration{.device = tuning::calibrated_device(name, rates),
                          .measured = measurements_of(journal_file, key),
                          .left = summary.left,
                          .files = {name + ".txt", file_name(key), journal_file.filename().string()}};
  write_file_whole(folder / file_name(key), print(calibration.measured));
  write_file_whole(folder / (name + ".txt"), print(calibration.device));
  if (line.json) {
    fmt::print("{}", to_json(calibration, line.folder));
  } else {
    print_calibration(calibration, line.folder);
  }
  if (summary.left > 0) {
    console.error("stopped at the end of --budget; the same command goes on from there");
  }
  return summary.outcomes.contains(tuning::Outcome::wrong_result) || summary.failed > 0 ? ExitStatus::check_failed
                                                                                        : ExitStatus::done;
}

}  // namespace

void add_calibrate_command(CLI::App& program, const CommonOptions& common, Action& action) {
  CLI::App* command = add_command(
      program, "calibrate", "Measure a GPU that escgen does not know: what it does in a second, and some sixty kernels",
      "esctune calibrate -o mine\n"
      "esctune calibrate -o mine --name l4-24gb --gpus 1");
  const auto line = std::make_shared<CalibrateLine>();
  command
      ->add_option(
          "-o,--output", line->folder,
          "Folder for the device's file, its corrections and the journal, for escgen --database; a calibration "
          "goes on where its journal ends")
      ->type_name("DIR")
      ->required();
  command
      ->add_option("--name", line->name,
                   "Name of the GPU for --gpu of escgen (default: the one that is known, or that of the product)")
      ->type_name("NAME");
  command->add_option("--gpus", line->gpu, "Number of the GPU to measure on (default 0)")
      ->type_name("NUMBER")
      ->check(CLI::Range(0, 1023));
  command->add_option("--budget", line->budget, "Stop after this time: 90s, 5m")
      ->type_name("TIME")
      ->capture_default_str();
  command
      ->add_option("--replay", line->replay, "Take measurements from this journal of a calibration in place of a GPU")
      ->type_name("FILE");
  command->add_flag("--json", line->json, "Print the result as JSON");
  put_under(*command, "Output", {"--output", "--name", "--json"});
  put_under(*command, "Measuring", {"--gpus", "--budget", "--replay"});
  command->callback([line, &common, &action] { action = [=, &common] { return run(*line, common.console()); }; });
}

}  // namespace esc

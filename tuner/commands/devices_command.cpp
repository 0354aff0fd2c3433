// SPDX-License-Identifier: Apache-2.0
#include "generator/support/json_result.h"
#include "tuner/commands/commands.h"
#include "tuner/commands/tuning_line.h"

namespace esc {
namespace {

struct DevicesLine {
  TuningLine tuning;  ///< of which the GPUs and the records count
  bool json = false;
};

ExitStatus run(const DevicesLine& line) {
  const Devices devices(line.tuning);
  nlohmann::json entries = nlohmann::json::array();
  std::string text;
  for (const tuning::LabFactory& start : devices.labs()) {
    const std::unique_ptr<tuning::Lab> lab = start();
    const tuning::Environment environment = lab->environment();
    entries.push_back({{"key", print(lab->device())}, {"name", environment.device_name}});
    text += fmt::format("{}  {}\n", print(lab->device()), environment.device_name);
  }
  if (line.json) {
    fmt::print("{}", json_result("devices", "done", {{"devices", entries}}));
  } else {
    print_plain("{}", text);
  }
  return ExitStatus::done;
}

}  // namespace

void add_devices_command(CLI::App& program, const CommonOptions&, Action& action) {
  CLI::App* command = add_command(program, "devices", "Print the GPUs that kernels are measured on, by their keys",
                                  "esctune devices\nesctune devices --gpus 0,1");
  const auto line = std::make_shared<DevicesLine>();
  command->add_flag("--json", line->json, "Print them as JSON");
  add_device_options(*command, line->tuning);
  command->callback([line, &action] { action = [=] { return run(*line); }; });
}

}  // namespace esc

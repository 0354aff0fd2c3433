// SPDX-License-Identifier: Apache-2.0
#include "tests/cli/recorded_calibration.h"

#include <cmath>
#include <vector>

#include "generator/schedule/device_catalog.h"
#include "tuner/records/record_text.h"
#include "tuner/run/calibration_layers.h"

namespace esc::cli {
namespace {

std::string journal_of(const DeviceKey& device, const tuning::Environment& environment) {
  const tuning::RatesRecord rates{
      environment,
      device,
      {.memory_gigabytes = 900, .l2_gigabytes = 2500, .fp32_gigaflops = 12000, .f16_gigaflops = 90000}};
  std::string text = tuning::journal_header() + "\n" + print(rates) + "\n";
  const tuning::RunRequest request = tuning::calibration_request();
  for (const tuning::ItemRequest& asked : request.items) {
    tuning::CandidateRecord record;
    record.environment = environment;
    record.item = item_for(request, asked, device);
    record.builder = "nvrtc 13.0";
    const std::vector<Schedule> schedules = request.candidates(record.item);
    const std::vector<double> expected =
        shipped_catalog().model(device).expected_microseconds(schedules, tuning::shape_of(record.item), device);
    for (std::size_t number = 0; number < schedules.size(); ++number) {
      record.candidate = print(schedules[number]);
      record.samples.assign(25, std::round(1e4 * 1.5 * expected[number]) / 1e4);
      text += print(tuning::Record(record)) + "\n";
    }
  }
  return text;
}

}  // namespace

const std::string& recorded_calibration() {
  static const std::string journal =
      journal_of({80, 64, std::uint64_t{20} << 20U}, {"0.1.0", "13.0", "NVIDIA X100 PCIe", "13.0"});
  return journal;
}

}  // namespace esc::cli

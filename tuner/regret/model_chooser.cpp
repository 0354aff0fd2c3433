// SPDX-License-Identifier: Apache-2.0
#include "tuner/regret/model_chooser.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "generator/schedule/schedule_model.h"
#include "generator/schedule/search_space.h"
#include "tuner/regret/device_measurements.h"

namespace esc::tuning {
namespace {

/// What a model says of items of each device.
class ModelChooser : public Chooser {
 public:
  ModelChooser(std::string name, const std::vector<DeviceMeasurements>& measured) : name_(std::move(name)) {
    for (const DeviceMeasurements& device : measured) {
      models_.try_emplace(device.key, device);
    }
  }

  std::string name() const override { return name_; }

  Chosen choose(const MeasuredItem& item) const override {
    const ScheduleModel& model = model_of(item.work.device);
    std::vector<Schedule> measured;
    std::ranges::transform(item.schedules, std::back_inserter(measured), &MeasuredSchedule::schedule);
    Chosen chosen;
    if (const std::optional<Schedule> best = first_of(model, measured, item)) {
      chosen.measured = item.place_of(*best);
      chosen.free = *best;
    }
    std::vector<Schedule> all = usual_space(item.shape);
    std::ranges::move(measured, std::back_inserter(all));
    if (const std::optional<Schedule> best = first_of(model, all, item)) {
      chosen.free = *best;
    }
    return chosen;
  }

 private:
  const ScheduleModel& model_of(const DeviceKey& device) const {
    return models_.try_emplace(device, DeviceMeasurements{.key = device}).first->second;
  }

  static std::optional<Schedule> first_of(const ScheduleModel& model, const std::vector<Schedule>& space,
                                          const MeasuredItem& item) {
    const std::vector<ExpectedSchedule> ranked =
        model.ranked(space, item.shape, kernel_target(item.work.device, {}), item.shape.pattern);
    return ranked.empty() ? std::nullopt : std::optional(ranked.front().schedule);
  }

  std::string name_;
  mutable std::map<DeviceKey, ScheduleModel> models_;
};

}  // namespace

std::unique_ptr<Chooser> model_chooser() {
  return std::make_unique<ModelChooser>("model", std::vector<DeviceMeasurements>{});
}

std::unique_ptr<Chooser> corrected_chooser(const std::vector<MeasuredItem>& items) {
  return std::make_unique<ModelChooser>("corrected", device_measurements(items));
}

}  // namespace esc::tuning

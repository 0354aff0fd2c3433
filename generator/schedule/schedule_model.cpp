// SPDX-License-Identifier: Apache-2.0
#include "generator/schedule/schedule_model.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <mutex>
#include <optional>
#include <utility>

#include "generator/schedule/cost_model.h"
#include "generator/schedule/element_types.h"
#include "generator/schedule/kernel_estimate.h"

namespace esc {
namespace {

/// So many schedules of the least predicted times are corrected, and of so many of these it is asked how far the
/// correction may be off.
constexpr std::size_t most_corrected = 512;
constexpr std::size_t most_estimated = 256;

/// A schedule is taken as slower than expected by so many deviations: among many that nothing is known of there is
/// always one that is predicted to be faster than it is. With 1 in place of 3, what was never measured was taken more
/// often and lost more: DLMC in float32 took 1.000 in place of 0.991 of the time that rules took before.
constexpr double doubt = 3;

double log_prediction(const Schedule& schedule, const LayerShape& shape, const DeviceKey& device,
                      const KernelFacts& kernel) {
  return std::log(predicted_cost(schedule, shape, device, kernel).microseconds);
}

/// Whether each architecture of the target has the instructions, and the device that it is chosen for copies so.
bool has_instructions(const StreamSchedule& schedule, const KernelTarget& target) {
  const int least = schedule.cluster > 1 ? StreamSchedule::cluster_architecture : StreamSchedule::least_architecture;
  const bool copies_so = schedule.copies == StreamSchedule::Copies::cp_async ||
                         target.device.capability >= StreamSchedule::bulk_architecture;
  return copies_so && target.oldest_architecture >= least &&
         (!schedule.is_placed() || target.newest_architecture == StreamSchedule::placed_architecture);
}

bool has_instructions(const BitmapSchedule& schedule, const KernelTarget& target) {
  constexpr int of_warpgroups = BitmapSchedule::warpgroup_architecture;
  return schedule.has_warpgroups()
             ? target.oldest_architecture == of_warpgroups && target.newest_architecture == of_warpgroups
             : target.oldest_architecture >= BitmapSchedule::least_architecture;
}

bool has_instructions(const GatherSchedule&, const KernelTarget& target) {
  return target.oldest_architecture >= GatherSchedule::least_architecture;
}

template <typename Family>
bool has_instructions(const Family&, const KernelTarget&) {
  return true;
}

/// Whether each architecture of the target can run such a kernel.
bool runs_on(const Schedule& schedule, const KernelFacts& kernel, const KernelTarget& target) {
  return std::cmp_less_equal(kernel.shared_bytes, target.shared_bytes) &&
         std::visit([&](const auto& one) { return has_instructions(one, target); }, schedule);
}

/// A candidate on its way.
struct Prospect {
  const Schedule* schedule;
  double log_time = 0;
  double deviation = unmeasured_deviation;

  double pessimistic() const { return log_time + doubt * deviation; }
};

/// Those that are worth a correction, by ascending predicted times; so many of each family at least.
std::vector<Prospect> promising(const std::vector<Prospect>& prospects, std::size_t least_of_family) {
  std::array<std::vector<Prospect>, std::variant_size_v<Schedule>> families;
  for (const Prospect& one : prospects) {
    families[one.schedule->index()].push_back(one);
  }
  std::vector<Prospect> kept;
  for (std::vector<Prospect>& family : families) {
    const auto end = family.begin() + static_cast<std::ptrdiff_t>(std::min(most_corrected, family.size()));
    std::ranges::partial_sort(family, end, {}, &Prospect::log_time);
    kept.insert(kept.end(), family.begin(), end);
  }
  std::ranges::sort(kept, {}, &Prospect::log_time);
  std::size_t place = 0;
  std::array<std::size_t, std::variant_size_v<Schedule>> of_families{};
  std::erase_if(kept, [&](const Prospect& one) {
    const std::size_t of_family = of_families[one.schedule->index()]++;
    return place++ >= most_corrected && of_family >= least_of_family;
  });
  return kept;
}

}  // namespace

ScheduleModel::ScheduleModel(DeviceMeasurements measured) : device_(measured.key) {
  for (TimedProduct& product : measured.products) {
    products_[{product.shape.dtype, product.shape.layout}].push_back(std::move(product));
  }
}

ScheduleModel::Corrections ScheduleModel::corrections_by(const std::vector<TimedProduct>& products) const {
  std::map<std::size_t, std::vector<ProductPoints>> of_families;
  for (const TimedProduct& product : products) {
    std::map<std::size_t, std::vector<MeasuredPoint>> families;
    for (const TimedSchedule& one : product.schedules) {
      const double log_ratio =
          std::log(one.microseconds) -
          log_prediction(one.schedule, product.shape, device_, estimated_kernel(one.schedule, product.shape));
      if (std::isfinite(log_ratio)) {
        families[one.schedule.index()].push_back({schedule_point(one.schedule, product.shape), log_ratio});
      }
    }
    for (auto& [family, points] : families) {
      of_families[family].push_back({product.shape.pattern, std::move(points)});
    }
  }
  Corrections corrections;
  for (auto& [family, points] : of_families) {
    corrections.emplace(family, Correction(std::move(points)));
  }
  return corrections;
}

const ScheduleModel::Corrections* ScheduleModel::corrections_of(const Kind& kind) const {
  const auto products = products_.find(kind);
  if (products == products_.end()) {
    return nullptr;
  }
  const std::scoped_lock lock(mutex_);
  auto made = corrections_.find(kind);
  if (made == corrections_.end()) {
    made = corrections_.emplace(kind, corrections_by(products->second)).first;
  }
  return &made->second;
}

const Correction* ScheduleModel::correction_for(const LayerShape& shape, std::size_t family) const {
  for (const std::string& dtype : types_like(shape.dtype)) {
    for (const std::string& layout : {shape.layout, std::string("kn"), std::string("nk")}) {
      if (const Corrections* const corrections = corrections_of({dtype, layout})) {
        if (const auto found = corrections->find(family); found != corrections->end()) {
          return &found->second;
        }
      }
    }
  }
  return nullptr;
}

double ScheduleModel::expected_microseconds(const Schedule& schedule, const LayerShape& shape,
                                            const DeviceKey& device) const {
  const double predicted = predicted_cost(schedule, shape, device).microseconds;
  const Correction* const correction = correction_for(shape, schedule.index());
  return correction == nullptr
             ? predicted
             : predicted * std::exp(correction->near(shape).log_ratio(schedule_point(schedule, shape)));
}

std::vector<ExpectedSchedule> ScheduleModel::ranked(const std::vector<Schedule>& space, const LayerShape& shape,
                                                    const KernelTarget& target, std::string_view left_out,
                                                    std::size_t least_of_family) const {
  std::vector<const Correction*> corrections;
  for (std::size_t family = 0; family < std::variant_size_v<Schedule>; ++family) {
    corrections.push_back(correction_for(shape, family));
  }
  std::vector<Prospect> prospects;
  for (const Schedule& schedule : space) {
    const KernelFacts kernel = estimated_kernel(schedule, shape);
    if (!runs_on(schedule, kernel, target)) {
      continue;
    }
    const Correction* const correction = corrections[schedule.index()];
    const double log_time =
        log_prediction(schedule, shape, target.device, kernel) + (correction == nullptr ? 0 : correction->mean());
    if (std::isfinite(log_time)) {
      prospects.push_back({&schedule, log_time});
    }
  }
  prospects = promising(prospects, least_of_family);
  std::vector<std::optional<LocalCorrection>> near(corrections.size());
  for (Prospect& one : prospects) {
    const std::size_t family = one.schedule->index();
    if (const Correction* const correction = corrections[family]) {
      if (!near[family]) {
        near[family] = correction->near(shape, left_out);
      }
      one.log_time += near[family]->log_ratio(schedule_point(*one.schedule, shape)) - correction->mean();
    }
  }
  std::ranges::sort(prospects, {}, &Prospect::log_time);
  for (std::size_t place = 0; place < std::min(most_estimated, prospects.size()); ++place) {
    Prospect& one = prospects[place];
    const std::optional<LocalCorrection>& local = near[one.schedule->index()];
    one.deviation = local ? local->estimate(schedule_point(*one.schedule, shape)).deviation : unmeasured_deviation;
  }
  std::ranges::stable_sort(prospects.begin(),
                           prospects.begin() + static_cast<std::ptrdiff_t>(std::min(most_estimated, prospects.size())),
                           {}, &Prospect::pessimistic);
  std::vector<ExpectedSchedule> ranked;
  for (const Prospect& one : prospects) {
    ranked.push_back({*one.schedule, std::exp(one.log_time), std::exp(one.pessimistic())});
  }
  return ranked;
}

const ScheduleModel& shipped_model(const DeviceKey& device) {
  static std::mutex mutex;
  static std::map<DeviceKey, ScheduleModel> models;
  const DeviceKey measured = nearest_measured_device(device);
  const std::scoped_lock lock(mutex);
  auto model = models.find(measured);
  if (model == models.end()) {
    model = models.try_emplace(measured, shipped_measurements(measured)).first;
  }
  return model->second;
}

}  // namespace esc

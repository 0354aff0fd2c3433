// SPDX-License-Identifier: Apache-2.0
#include "generator/schedule/schedule_model.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
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

double log_prediction(const Schedule& schedule, const LayerShape& shape, const ModelledDevice& device,
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
  const int least = schedule.cluster > 1 ? StreamSchedule::cluster_architecture : BitmapSchedule::least_architecture;
  return schedule.has_warpgroups()
             ? target.oldest_architecture == of_warpgroups && target.newest_architecture == of_warpgroups
             : target.oldest_architecture >= least;
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

/// The corrections of one layer by all levels of a model, the lowest first.
class ScheduleModel::LayerCorrections {
 public:
  LayerCorrections(const ScheduleModel& model, const LayerShape& shape, std::string_view left_out = {})
      : shape_(shape), layer_(layer_point(shape)), left_out_(left_out) {
    for (const ScheduleModel* level = &model; level != nullptr; level = level->below_) {
      levels_.insert(levels_.begin(), Level{*level, shape});
    }
  }

  /// What is to be added to the logarithm of a prediction before the schedules of a family are told apart, but for one
  /// that was measured for this very product.
  double offset(const Schedule& schedule) {
    if (is_exact(schedule)) {
      return log_ratio(schedule);
    }
    double offset = 0;
    for (Level& level : levels_) {
      offset += level.offset(schedule.index(), *this);
    }
    return offset;
  }

  /// What is to be added to it.
  double log_ratio(const Schedule& schedule) {
    const SchedulePoint point = schedule_point(schedule, shape_);
    double sum = 0;
    for (Level& level : levels_) {
      if (const LocalCorrection* const local = level.near(schedule.index(), *this)) {
        sum += local->log_ratio(point);
      }
    }
    return sum;
  }

  /// How far that may be off: what the lowest level says, of which those above leave a share.
  double deviation(const Schedule& schedule) {
    const SchedulePoint point = schedule_point(schedule, shape_);
    double deviation = unmeasured_deviation;
    for (Level& level : levels_) {
      const LocalCorrection* const local = level.near(schedule.index(), *this);
      if (local == nullptr) {
        continue;
      }
      const double own = local->estimate(point).deviation;
      deviation = level.is_lowest() ? own : deviation * std::min(1.0, own);
    }
    return deviation;
  }

 private:
  /// What a level says of the layer, family by family, where it is asked.
  class Level {
   public:
    Level(const ScheduleModel& model, const LayerShape& shape) : is_lowest_(model.below_ == nullptr) {
      for (std::size_t family = 0; family < corrections_.size(); ++family) {
        corrections_[family] = model.correction_for(shape, family);
      }
    }

    bool is_lowest() const { return is_lowest_; }

    /// Null where nothing was measured of the family.
    const LocalCorrection* near(std::size_t family, const LayerCorrections& of) {
      const Correction* const correction = corrections_[family];
      if (correction != nullptr && !near_[family]) {
        near_[family] = correction->near(of.shape_, of.left_out_);
      }
      return near_[family] ? &*near_[family] : nullptr;
    }

    double offset(std::size_t family, const LayerCorrections& of) {
      if (is_lowest_) {
        return corrections_[family] == nullptr ? 0 : corrections_[family]->prior(of.layer_).mean;
      }
      if (!offsets_[family]) {
        const LocalCorrection* const local = near(family, of);
        offsets_[family] = local == nullptr ? 0 : local->offset(of.layer_);
      }
      return *offsets_[family];
    }

   private:
    template <typename Value>
    using ByFamily = std::array<Value, std::variant_size_v<Schedule>>;

    bool is_lowest_;
    ByFamily<const Correction*> corrections_ = {};
    ByFamily<std::optional<LocalCorrection>> near_ = {};
    ByFamily<std::optional<double>> offsets_ = {};
  };

  bool is_exact(const Schedule& schedule) {
    return std::ranges::any_of(levels_, [&](Level& level) {
      const LocalCorrection* const local = level.is_lowest() ? nullptr : level.near(schedule.index(), *this);
      return local != nullptr && local->has_exact() && local->exactly(schedule_point(schedule, shape_)).has_value();
    });
  }

  const LayerShape& shape_;
  LayerPoint layer_;
  std::string_view left_out_;
  std::vector<Level> levels_;
};

namespace {

std::map<std::string, std::vector<TimedProduct>> by_arithmetic(std::vector<TimedProduct> products) {
  std::map<std::string, std::vector<TimedProduct>> kinds;
  for (TimedProduct& product : products) {
    kinds[arithmetic_of(product.shape.dtype)].push_back(std::move(product));
  }
  return kinds;
}

}  // namespace

ScheduleModel::ScheduleModel(DeviceMeasurements measured)
    : device_(measured.key), devices_(shipped_devices()), products_(by_arithmetic(std::move(measured.products))) {}

ScheduleModel::ScheduleModel(DeviceMeasurements measured, const ScheduleModel& below, KnownDevices devices)
    : device_(measured.key),
      below_(&below),
      devices_(std::move(devices)),
      products_(by_arithmetic(std::move(measured.products))) {}

ScheduleModel::Corrections ScheduleModel::corrections_by(const std::vector<TimedProduct>& products) const {
  const ModelledDevice device = modelled(device_, devices_);
  std::map<std::size_t, std::vector<ProductPoints>> of_families;
  for (const TimedProduct& product : products) {
    std::optional<LayerCorrections> below;
    if (below_ != nullptr) {
      below.emplace(*below_, product.shape);
    }
    std::map<std::size_t, std::vector<MeasuredPoint>> families;
    for (const TimedSchedule& one : product.schedules) {
      const double expected =
          log_prediction(one.schedule, product.shape, device, estimated_kernel(one.schedule, product.shape)) +
          (below ? below->log_ratio(one.schedule) : 0);
      const double log_ratio = std::log(one.microseconds) - expected;
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
    corrections.emplace(
        family, below_ == nullptr ? Correction(std::move(points)) : Correction(std::move(points), prior_of_remainder));
  }
  return corrections;
}

const ScheduleModel::Corrections* ScheduleModel::corrections_of(const std::string& arithmetic) const {
  const auto products = products_.find(arithmetic);
  if (products == products_.end()) {
    return nullptr;
  }
  const std::scoped_lock lock(mutex_);
  auto made = corrections_.find(arithmetic);
  if (made == corrections_.end()) {
    made = corrections_.emplace(arithmetic, corrections_by(products->second)).first;
  }
  return &made->second;
}

const Correction* ScheduleModel::correction_for(const LayerShape& shape, std::size_t family) const {
  for (const std::string& dtype : types_like(shape.dtype)) {
    if (const Corrections* const corrections = corrections_of(arithmetic_of(dtype))) {
      if (const auto found = corrections->find(family); found != corrections->end()) {
        return &found->second;
      }
    }
  }
  return nullptr;
}

double ScheduleModel::expected_microseconds(const Schedule& schedule, const LayerShape& shape,
                                            const DeviceKey& device) const {
  return expected_microseconds(std::vector{schedule}, shape, device).front();
}

std::vector<double> ScheduleModel::expected_microseconds(const std::vector<Schedule>& schedules,
                                                         const LayerShape& shape, const DeviceKey& device) const {
  const ModelledDevice there = modelled(device, devices_);
  LayerCorrections corrections(*this, shape);
  std::vector<double> times;
  for (const Schedule& schedule : schedules) {
    times.push_back(predicted_cost(schedule, shape, there).microseconds * std::exp(corrections.log_ratio(schedule)));
  }
  return times;
}

std::vector<ExpectedSchedule> ScheduleModel::ranked(const std::vector<Schedule>& space, const LayerShape& shape,
                                                    const KernelTarget& target, std::string_view left_out,
                                                    std::size_t least_of_family) const {
  const ModelledDevice device = modelled(target.device, devices_);
  LayerCorrections corrections(*this, shape, left_out);
  std::vector<Prospect> prospects;
  for (const Schedule& schedule : space) {
    const KernelFacts kernel = estimated_kernel(schedule, shape);
    if (!runs_on(schedule, kernel, target)) {
      continue;
    }
    const double prediction = log_prediction(schedule, shape, device, kernel);
    if (std::isfinite(prediction)) {
      prospects.push_back({&schedule, prediction + corrections.offset(schedule)});
    }
  }
  prospects = promising(prospects, least_of_family);
  for (Prospect& one : prospects) {
    one.log_time += corrections.log_ratio(*one.schedule) - corrections.offset(*one.schedule);
  }
  std::ranges::sort(prospects, {}, &Prospect::log_time);
  const auto end = prospects.begin() + static_cast<std::ptrdiff_t>(std::min(most_estimated, prospects.size()));
  std::for_each(prospects.begin(), end, [&](Prospect& one) { one.deviation = corrections.deviation(*one.schedule); });
  std::ranges::stable_sort(prospects.begin(), end, {}, &Prospect::pessimistic);
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

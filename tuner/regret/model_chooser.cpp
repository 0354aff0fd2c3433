// SPDX-License-Identifier: Apache-2.0
#include "tuner/regret/model_chooser.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <tuple>

#include "generator/schedule/correction.h"
#include "generator/schedule/cost_model.h"
#include "tuner/space/search_space.h"

namespace esc::tuning {
namespace {

/// What is measured and corrected by itself.
using Group = std::tuple<DeviceKey, std::string, std::string, std::size_t>;

Group group_of(const MeasuredItem& item, const Schedule& schedule) {
  return {item.work.device, item.shape.dtype, item.shape.layout, schedule.index()};
}

double log_prediction(const MeasuredItem& item, const Schedule& schedule) {
  return std::log(predicted_cost(schedule, item.shape, item.work.device).microseconds);
}

struct Ranked {
  double log_time = 0;
  const Schedule* schedule = nullptr;
};

/// The schedules whose predictions are the least, so many at most, in their order.
std::vector<Ranked> least_predicted(const MeasuredItem& item, const std::vector<Schedule>& space, std::size_t most) {
  std::vector<Ranked> ranked;
  for (const Schedule& schedule : space) {
    ranked.push_back({log_prediction(item, schedule), &schedule});
  }
  const std::size_t kept = std::min(most, ranked.size());
  std::ranges::partial_sort(ranked, ranked.begin() + static_cast<std::ptrdiff_t>(kept), {}, &Ranked::log_time);
  ranked.resize(kept);
  return ranked;
}

class ModelChooser : public Chooser {
 public:
  std::string name() const override { return "model"; }

  Chosen choose(const MeasuredItem& item) const override {
    Chosen chosen;
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t place = 0; place < item.schedules.size(); ++place) {
      if (const double time = log_time(item, item.schedules[place].schedule); !chosen.measured || time < least) {
        chosen.measured = place;
        chosen.free = item.schedules[place].schedule;
        least = time;
      }
    }
    // What comes behind in predictions is not looked at again.
    constexpr std::size_t most_corrected = 64;
    const std::vector<Schedule>& space = space_of(item);
    for (const Ranked& one : least_predicted(item, space, most_corrected)) {
      if (const double time = one.log_time + correction(item, *one.schedule); time < least) {
        chosen.free = *one.schedule;
        least = time;
      }
    }
    return chosen;
  }

 protected:
  /// Added to the logarithm of a predicted time.
  virtual double correction(const MeasuredItem&, const Schedule&) const { return 0; }

 private:
  double log_time(const MeasuredItem& item, const Schedule& schedule) const {
    return log_prediction(item, schedule) + correction(item, schedule);
  }

  const std::vector<Schedule>& space_of(const MeasuredItem& item) const {
    const auto key = std::tuple(item.shape.dtype, item.shape.layout, item.shape.bcol, item.shape.contiguous);
    const auto [place, is_new] = spaces_.try_emplace(key);
    if (is_new) {
      place->second = search_space(item.shape.product(),
                                   families_for(all_families(), item.shape.dtype, item.shape.layout), item.shape.dtype);
    }
    return place->second;
  }

  mutable std::map<std::tuple<std::string, std::string, long long, bool>, std::vector<Schedule>> spaces_;
};

class CorrectedChooser : public ModelChooser {
 public:
  explicit CorrectedChooser(const std::vector<MeasuredItem>& items) {
    std::map<Group, std::vector<MeasuredPoint>> points;
    for (const MeasuredItem& item : items) {
      const std::size_t layer = layers_.try_emplace(item.shape.pattern, layers_.size()).first->second;
      for (const MeasuredSchedule& one : item.schedules) {
        const double log_ratio = std::log(one.microseconds) - log_prediction(item, one.schedule);
        if (std::isfinite(log_ratio)) {
          points[group_of(item, one.schedule)].push_back({schedule_point(one.schedule, item.shape), log_ratio, layer});
        }
      }
    }
    for (auto& [group, measured] : points) {
      corrections_.emplace(group, Correction(std::move(measured)));
    }
  }

  std::string name() const override { return "corrected"; }

 protected:
  double correction(const MeasuredItem& item, const Schedule& schedule) const override {
    const auto found = corrections_.find(group_of(item, schedule));
    const auto layer = layers_.find(item.shape.pattern);
    return found == corrections_.end()
               ? 0
               : found->second.at(schedule_point(schedule, item.shape),
                                  layer == layers_.end() ? Correction::no_layer : layer->second);
  }

 private:
  std::map<std::string, std::size_t, std::less<>> layers_;  ///< by pattern
  std::map<Group, Correction> corrections_;
};

}  // namespace

std::unique_ptr<Chooser> model_chooser() { return std::make_unique<ModelChooser>(); }

std::unique_ptr<Chooser> corrected_chooser(const std::vector<MeasuredItem>& items) {
  return std::make_unique<CorrectedChooser>(items);
}

}  // namespace esc::tuning

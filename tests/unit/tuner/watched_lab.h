// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "generator/schedule/schedule.h"
#include "tuner/records/record.h"
#include "tuner/search/recorded_lab.h"

namespace esc::tuning {

/// A recorded lab that keeps what it was asked for, and can fail.
class WatchedLab final : public Lab {
 public:
  explicit WatchedLab(const std::vector<Record>& records) : lab_(records) {}

  std::vector<std::string> measured;  ///< candidates, in the order in which they were
  std::vector<double> hopeless;       ///< of the rules that they were measured with
  std::vector<Schedule> finalists;
  int times_of_peers = 0;  ///< how often the peers were measured
  std::map<Edge, int> rounds;
  std::optional<int> whole_rounds;  ///< so many rounds come to their end, where it is given
  std::function<void(const WorkItem&, const SparseMatrix*)> when_opened;

  DeviceKey device() override { return lab_.device(); }
  Environment environment() override { return lab_.environment(); }
  DeviceRates measure_rates() override { return lab_.measure_rates(); }

  void open(const WorkItem& item, const ItemProduct& product, const std::vector<Schedule>& candidates) override {
    if (when_opened) {
      when_opened(item, product.matrix.get());
    }
    lab_.open(item, product, candidates);
  }

  std::vector<Measurement> measure_peers() override {
    ++times_of_peers;
    return lab_.measure_peers();
  }

  Measurement measure(const Schedule& schedule, const StopRule& rule) override {
    measured.push_back(print(schedule));
    hopeless.push_back(rule.hopeless);
    return lab_.measure(schedule, rule);
  }

  std::vector<Measurement> prepare_finalists(const std::vector<Schedule>& chosen) override {
    finalists = chosen;
    return lab_.prepare_finalists(chosen);
  }

  std::vector<double> run_round(Edge edge) override {
    if (whole_rounds && rounds[Edge::plain] + rounds[Edge::chain] >= *whole_rounds) {
      return {};
    }
    ++rounds[edge];
    return lab_.run_round(edge);
  }

 private:
  RecordedLab lab_;
};

}  // namespace esc::tuning

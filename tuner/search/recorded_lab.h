// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "tuner/records/item_results.h"
#include "tuner/search/lab.h"

namespace esc::tuning {

/// A lab that answers what was recorded, for trying other rules of search on measurements that exist, and where there
/// is no GPU. Of a candidate's samples it gives as many as the rule wants; a final's rounds are the recorded ones, over
/// again where there are too few. What was not recorded is skipped-by-limit.
class RecordedLab final : public Lab {
 public:
  /// Throws UserError when there are no records, or of several devices.
  explicit RecordedLab(const std::vector<Record>& records, const std::vector<RatesRecord>& rates = {});

  DeviceKey device() override { return device_; }
  Environment environment() override { return environment_; }
  /// Throws UserError when they were not recorded.
  DeviceRates measure_rates() override;
  void open(const WorkItem& item, const ItemProduct& product, const std::vector<Schedule>& candidates) override;
  std::vector<Measurement> measure_peers() override;
  Measurement measure(const Schedule& schedule, const StopRule& rule) override;
  std::vector<Measurement> prepare_finalists(const std::vector<Schedule>& finalists) override;
  std::vector<double> run_round(Edge edge) override;

 private:
  /// What stands for a candidate, the first of several by their text; null where nothing was recorded.
  const CandidateRecord* find(const std::string& candidate, Stage stage, Edge edge) const;

  DeviceKey device_;
  Environment environment_;
  std::optional<DeviceRates> rates_;
  std::map<ItemKey, std::map<std::string, std::vector<CandidateRecord>>> records_;
  std::map<std::string, std::vector<CandidateRecord>> item_;
  std::vector<std::string> finalists_;
  std::map<Edge, std::size_t> rounds_;
};

}  // namespace esc::tuning

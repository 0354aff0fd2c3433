// SPDX-License-Identifier: Apache-2.0
#include "tuner/search/recorded_lab.h"

#include <algorithm>

#include "generator/support/error.h"
#include "tuner/records/record_text.h"

namespace esc::tuning {
namespace {

/// Launches that a sample is the mean of, as on a device.
constexpr std::size_t launches_of_sample = 20;

Measurement unknown(const Schedule& schedule) {
  return {.candidate = print(schedule), .outcome = Outcome::skipped_by_limit, .detail = "was not recorded"};
}

}  // namespace

RecordedLab::RecordedLab(const std::vector<Record>& records, const std::vector<RatesRecord>& rates) {
  if (records.empty()) {
    throw UserError("the recorded device", "has no records", "give a journal of esctune run");
  }
  device_ = item_of(records.front()).device;
  for (const Record& record : records) {
    if (item_of(record).device != device_) {
      throw UserError("the recorded device", "has records of several devices", "give a journal of one of them");
    }
    if (const auto* candidate = std::get_if<CandidateRecord>(&record)) {
      environment_ = candidate->environment;
      records_[key_of(candidate->item)][candidate->candidate].push_back(*candidate);
    }
  }
  if (const auto own = std::ranges::find(rates, device_, &RatesRecord::device); own != rates.end()) {
    rates_ = own->rates;
  }
  for (auto& [key, candidates] : records_) {
    for (auto& [candidate, known] : candidates) {
      std::ranges::sort(known, {}, [](const CandidateRecord& record) { return print(Record(record)); });
    }
  }
}

DeviceRates RecordedLab::measure_rates() {
  if (!rates_) {
    throw UserError("the recorded device", "has no rates", "give a journal of esctune calibrate");
  }
  return *rates_;
}

void RecordedLab::open(const WorkItem& item, const ItemProduct&, const std::vector<Schedule>&) {
  const auto found = records_.find(key_of(item));
  item_ = found == records_.end() ? decltype(item_)() : found->second;
  finalists_.clear();
}

const CandidateRecord* RecordedLab::find(const std::string& candidate, Stage stage, Edge edge) const {
  const auto known = item_.find(candidate);
  if (known == item_.end()) {
    return nullptr;
  }
  const auto record = std::ranges::find_if(
      known->second, [&](const CandidateRecord& one) { return one.stage == stage && one.edge == edge; });
  return record == known->second.end() ? nullptr : &*record;
}

std::vector<Measurement> RecordedLab::measure_peers() {
  std::vector<Measurement> peers;
  for (const auto& [candidate, known] : item_) {
    if (known.front().is_peer()) {
      peers.push_back(measurement_of(known.front()));
    }
  }
  return peers;
}

Measurement RecordedLab::measure(const Schedule& schedule, const StopRule& rule) {
  const CandidateRecord* record = find(print(schedule), Stage::search, Edge::plain);
  if (record == nullptr) {
    return unknown(schedule);
  }
  Measurement measurement = measurement_of(*record);
  measurement.samples.clear();
  for (const double sample : record->samples) {
    measurement.samples.push_back(sample);
    if (enough(rule, measurement.samples, launches_of_sample)) {
      break;
    }
  }
  return measurement;
}

std::vector<Measurement> RecordedLab::prepare_finalists(const std::vector<Schedule>& finalists) {
  std::vector<Measurement> measurements;
  finalists_.clear();
  rounds_.clear();
  for (const Schedule& schedule : finalists) {
    const std::string text = print(schedule);
    const CandidateRecord* record = find(text, Stage::final, Edge::plain);
    record = record != nullptr ? record : find(text, Stage::search, Edge::plain);
    measurements.push_back(record == nullptr ? unknown(schedule) : measurement_of(*record));
    measurements.back().samples.clear();
    if (measurements.back().outcome == Outcome::ok) {
      finalists_.push_back(text);
    }
  }
  return measurements;
}

std::vector<double> RecordedLab::run_round(Edge edge) {
  std::vector<double> times;
  const std::size_t round = rounds_[edge]++;
  for (const std::string& candidate : finalists_) {
    const CandidateRecord* record = nullptr;
    for (const auto& [stage, of] :
         {std::pair(Stage::final, edge), std::pair(Stage::final, Edge::plain), std::pair(Stage::search, Edge::plain)}) {
      const CandidateRecord* found = record == nullptr ? find(candidate, stage, of) : nullptr;
      record = found != nullptr && !found->samples.empty() ? found : record;
    }
    ESC_CHECK(record != nullptr, "a finalist that is ok has samples");
    times.push_back(record->samples[round % record->samples.size()]);
  }
  return times;
}

}  // namespace esc::tuning

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

/// Schedules that can be told apart, from 1 on.
inline Schedule numbered_schedule(int number) { return parse_schedule("atomic:ufk=" + std::to_string(number)); }
inline std::string numbered_text(int number) { return print(numbered_schedule(number)); }

/// A layer of 512 x 512 with 90 % zeros on an H200.
inline WorkItem item_of_pattern(const std::string& pattern, std::int64_t bcol = 32) {
  WorkItem item;
  item.layer = {.file = pattern + ".smtx", .pattern = pattern, .rows = 512, .columns = 512, .nonzeros = 26214};
  item.bcol = bcol;
  item.device = {90, 132, std::uint64_t{60} << 20U};
  return item;
}

/// Times about one, that vary by the noise (relative).
inline std::vector<double> times_about(double microseconds, double noise = 0.001, int count = 25) {
  std::vector<double> times;
  for (int number = 0; number < count; ++number) {
    times.push_back(microseconds * (1 + noise * (number % 3 - 1)));
  }
  return times;
}

inline CandidateRecord measured(const WorkItem& item, const std::string& candidate, const std::vector<double>& samples,
                                Stage stage = Stage::search, Edge edge = Edge::plain) {
  CandidateRecord record;
  record.environment = {"0.1.0", "13.0", "NVIDIA H200", "13.0"};
  record.item = item;
  record.stage = stage;
  record.edge = edge;
  record.candidate = candidate;
  record.builder = "nvrtc 13.0";
  record.samples = samples;
  return record;
}

/// One whose times do not vary by more than is usual.
inline CandidateRecord steady(const WorkItem& item, const std::string& candidate, double microseconds) {
  return measured(item, candidate, times_about(microseconds));
}

inline CandidateRecord unmeasured(const WorkItem& item, const std::string& candidate, Outcome outcome) {
  CandidateRecord record = measured(item, candidate, std::vector<double>());
  record.outcome = outcome;
  record.detail = "as the test wants it";
  return record;
}

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

  void open(const WorkItem& item, const std::shared_ptr<const SparseMatrix>& matrix,
            const std::vector<Schedule>& candidates) override {
    if (when_opened) {
      when_opened(item, matrix.get());
    }
    lab_.open(item, matrix, candidates);
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

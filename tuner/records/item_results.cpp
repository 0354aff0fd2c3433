// SPDX-License-Identifier: Apache-2.0
#include "tuner/records/item_results.h"

#include <algorithm>
#include <tuple>

#include "tuner/records/record_text.h"

namespace esc::tuning {
namespace {

/// Which of two records counts first: the one with the lesser rank, and of equal ones the one with the lesser text, so
/// that the order of the records does not matter.
template <typename Kind>
bool counts_before(const Kind& a, const Kind& b, const auto& rank) {
  return rank(a) != rank(b) ? rank(a) < rank(b) : print(Record(a)) < print(Record(b));
}

/// What the records of one candidate, stage and edge have in common.
class Pool {
 public:
  void add(const CandidateRecord& record) { records_.push_back(&record); }

  /// One right measurement says more than a failure: a failure can be the machine's.
  CandidateResult result() {
    const auto rank = [](const CandidateRecord& record) { return std::tuple(record.outcome, median(record.samples)); };
    std::ranges::sort(records_,
                      [&](const CandidateRecord* a, const CandidateRecord* b) { return counts_before(*a, *b, rank); });
    const CandidateRecord& first = *records_.front();
    CandidateResult result{.candidate = first.candidate,
                           .algorithm = first.algorithm,
                           .outcome = first.outcome,
                           .detail = first.detail,
                           .error = first.error,
                           .microseconds = 0,
                           .spread = 0,
                           .kernel = first.kernel};
    std::vector<double> samples;
    for (const CandidateRecord* record : records_) {
      if (record->outcome == Outcome::ok) {
        samples.insert(samples.end(), record->samples.begin(), record->samples.end());
        result.error = std::max(result.error, record->error);
      }
    }
    result.microseconds = median(samples);
    result.spread = relative_spread(samples);
    return result;
  }

 private:
  std::vector<const CandidateRecord*> records_;
};

/// The records of an item, sorted out.
struct Pools {
  std::map<std::string, Pool> search;
  std::map<std::string, Pool> final;
  std::map<std::string, Pool> chain;
  std::map<std::string, Pool> peers;

  void add(const CandidateRecord& record) {
    auto& pools = record.is_peer()                ? peers
                  : record.edge == Edge::chain    ? chain
                  : record.stage == Stage::search ? search
                                                  : final;
    pools[record.candidate].add(record);
  }
};

std::map<std::string, CandidateResult> results_of(std::map<std::string, Pool>& pools) {
  std::map<std::string, CandidateResult> results;
  for (auto& [candidate, pool] : pools) {
    results.emplace(candidate, pool.result());
  }
  return results;
}

/// Which of two decisions an item shows; the same one whatever their order was.
bool counts_before(const DecisionRecord& a, const DecisionRecord& b) {
  return counts_before(a, b, [](const DecisionRecord& decision) {
    return std::tuple(decision.winner.empty(), decision.winner_microseconds);
  });
}

const CandidateResult* faster(const CandidateResult* a, const CandidateResult* b) {
  if (a == nullptr || b == nullptr) {
    return a == nullptr ? b : a;
  }
  return b->microseconds < a->microseconds ? b : a;
}

/// The fastest right one, the first by name among equals.
const CandidateResult* fastest(const std::map<std::string, CandidateResult>& results) {
  const CandidateResult* best = nullptr;
  for (const auto& [candidate, result] : results) {
    if (result.outcome == Outcome::ok) {
      best = faster(best, &result);
    }
  }
  return best;
}

/// Of several environments or names the first, whatever the order of the records was.
template <typename Value>
void keep_least(Value& kept, const Value& other, auto order) {
  if (order(other) < order(kept)) {
    kept = other;
  }
}

}  // namespace

bool is_measured(const std::map<std::string, CandidateResult>& results, const std::string& candidate,
                 bool retry_failed) {
  const auto found = results.find(candidate);
  return found != results.end() && (found->second.outcome == Outcome::ok || !retry_failed);
}

std::int64_t ItemResults::right() const {
  std::int64_t count = 0;
  for (const auto* results : {&search, &final, &chain, &peers}) {
    count += std::ranges::count_if(*results, [](const auto& result) { return result.second.outcome == Outcome::ok; });
  }
  return count;
}

std::optional<double> ItemResults::time_of(const std::string& schedule) const {
  for (const auto* results : {&final, &search}) {
    const auto found = results->find(schedule);
    if (found != results->end() && found->second.outcome == Outcome::ok) {
      return found->second.microseconds;
    }
  }
  return std::nullopt;
}

const CandidateResult* ItemResults::best() const {
  const CandidateResult* finalist = fastest(final);
  return finalist != nullptr ? finalist : fastest(search);
}

const CandidateResult* ItemResults::peer(const std::string& name) const {
  const auto found = peers.find(name);
  return found != peers.end() && found->second.outcome == Outcome::ok ? &found->second : nullptr;
}

const CandidateResult* ItemResults::exact_dense_peer() const {
  const bool is_plain_float = item.dtype == "f32" || item.dtype == "f64";
  return peer(is_plain_float ? "cublas-fp" + item.dtype.substr(1) : "cublas-" + item.dtype);
}

const CandidateResult* ItemResults::less_exact_dense_peer() const {
  return item.dtype == "f32" ? peer("cublas-tf32") : nullptr;
}

const CandidateResult* ItemResults::exact_structured_peer() const {
  return item.dtype == "f32" ? nullptr : peer("cusparselt");
}

const CandidateResult* ItemResults::best_exact_peer() const {
  return faster(faster(exact_dense_peer(), peer("cusparse")), exact_structured_peer());
}

std::map<ItemKey, ItemResults> group_by_item(const std::vector<Record>& records) {
  const auto order_of_environment = [](const Environment& environment) {
    return std::tie(environment.device_name, environment.driver, environment.toolkit, environment.tool);
  };
  const auto order_of_item = [](const WorkItem& item) { return std::tie(item.layer.file); };
  std::map<ItemKey, ItemResults> items;
  std::map<ItemKey, Pools> pools;
  for (const Record& record : records) {
    const WorkItem& item = item_of(record);
    const Environment& environment = environment_of(record);
    const auto [place, inserted] = items.try_emplace(key_of(item));
    ItemResults& results = place->second;
    if (inserted) {
      results.item = item;
      results.environment = environment;
    }
    keep_least(results.item, item, order_of_item);
    keep_least(results.environment, environment, order_of_environment);
    if (const auto* candidate = std::get_if<CandidateRecord>(&record)) {
      pools[place->first].add(*candidate);
    } else {
      const auto& decision = std::get<DecisionRecord>(record);
      if (!results.decision || counts_before(decision, *results.decision)) {
        results.decision = decision;
      }
      results.decided_on = std::max(results.decided_on, decision.rests_on);
    }
  }
  for (auto& [key, sorted] : pools) {
    ItemResults& results = items.at(key);
    results.search = results_of(sorted.search);
    results.final = results_of(sorted.final);
    results.chain = results_of(sorted.chain);
    results.peers = results_of(sorted.peers);
  }
  return items;
}

}  // namespace esc::tuning

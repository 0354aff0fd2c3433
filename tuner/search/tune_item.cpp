// SPDX-License-Identifier: Apache-2.0
#include "tuner/search/tune_item.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include "tuner/search/comparison.h"

namespace esc::tuning {
namespace {

/// The finalists' times, round by round, and what is made of them.
class Final {
 public:
  explicit Final(std::vector<Measurement> finalists) : finalists_(std::move(finalists)) {
    for (std::size_t number = 0; number < finalists_.size(); ++number) {
      if (finalists_[number].outcome == Outcome::ok) {
        running_.push_back(number);
      }
    }
  }

  std::size_t running() const { return running_.size(); }
  const std::vector<Measurement>& finalists() const { return finalists_; }

  /// False when a finalist has failed, so that there are no more rounds.
  bool add_round(const std::vector<double>& times) {
    if (times.size() != running_.size()) {
      return false;
    }
    for (std::size_t place = 0; place < times.size(); ++place) {
      finalists_[running_[place]].samples.push_back(times[place]);
    }
    return true;
  }

  std::size_t rounds() const { return running_.empty() ? 0 : finalists_[running_.front()].samples.size(); }

  /// Those without a sample cannot be called right: their final was broken off.
  void close() {
    for (const std::size_t number : running_) {
      if (finalists_[number].samples.empty()) {
        finalists_[number].outcome = Outcome::timed_out;
        finalists_[number].detail = "the final was broken off before its first round";
      }
    }
  }

  const Measurement* find(const std::string& candidate) const {
    const auto found = std::ranges::find(finalists_, candidate, &Measurement::candidate);
    return found != finalists_.end() && !found->samples.empty() ? &*found : nullptr;
  }

  /// The fastest but for one.
  const Measurement* fastest_except(const std::string& candidate) const {
    const Measurement* best = nullptr;
    for (const Measurement& finalist : finalists_) {
      const bool counts = finalist.candidate != candidate && !finalist.samples.empty();
      if (counts && (best == nullptr || median(finalist.samples) < median(best->samples))) {
        best = &finalist;
      }
    }
    return best;
  }

 private:
  std::vector<Measurement> finalists_;
  std::vector<std::size_t> running_;  ///< places of those that are right
};

/// The tuning of one item, while it goes on.
class Tuning {
 public:
  Tuning(const ItemPlan& plan, const SearchOptions& options, Lab& lab, const RecordSink& write, const StopRequest& stop,
         const CandidateCounter& count)
      : plan_(plan), options_(options), lab_(lab), write_(write), stop_(stop), count_(count), results_(plan.known) {
    results_.item = plan.item;
  }

  ItemEnd operator()() {
    lab_.open(plan_.item, plan_.product, missing());
    measure_peers();
    if (!search()) {
      return ItemEnd::interrupted;
    }
    if (options_.decided_by == DecidedBy::nothing) {
      return ItemEnd::measured;
    }
    if (results_.best() == nullptr) {
      write_(decision({}, {}));
      return ItemEnd::decided;
    }
    if (options_.decided_by == DecidedBy::search) {
      write_(decision_of_search());
      return ItemEnd::decided;
    }
    const Final plain = hold_final();
    const Measurement* incumbent = plain.find(print(plan_.incumbent));
    const Measurement* challenger = plain.fastest_except(print(plan_.incumbent));
    write_(incumbent == nullptr && challenger == nullptr ? decision_of_search() : decision(incumbent, challenger));
    return ItemEnd::decided;
  }

 private:
  bool is_known(const std::map<std::string, CandidateResult>& results, const std::string& candidate) const {
    return is_measured(results, candidate, options_.retry_failed);
  }

  /// The incumbent first: what is slower by far than that need not be measured to the end.
  std::vector<Schedule> missing() const {
    std::vector<Schedule> schedules;
    std::set<std::string> seen;
    const auto add = [&](const Schedule& schedule) {
      const std::string text = print(schedule);
      if (seen.insert(text).second && !is_known(results_.search, text)) {
        schedules.push_back(schedule);
      }
    };
    if (options_.decided_by != DecidedBy::nothing) {
      add(plan_.incumbent);
    }
    std::ranges::for_each(plan_.candidates, add);
    return schedules;
  }

  /// Writes what was measured, and keeps it among the results: one right measurement says more than a failure, which
  /// can be the machine's.
  void record(std::map<std::string, CandidateResult>& results, const Measurement& measurement, Stage stage, Edge edge) {
    write_(record_of(measurement, plan_.item, lab_.environment(), stage, edge));
    CandidateResult& kept = results[measurement.candidate];
    if (!kept.candidate.empty() && kept.outcome == Outcome::ok && measurement.outcome != Outcome::ok) {
      return;
    }
    kept = {.candidate = measurement.candidate,
            .algorithm = measurement.algorithm,
            .outcome = measurement.outcome,
            .detail = measurement.detail,
            .error = measurement.error,
            .microseconds = median(measurement.samples),
            .spread = relative_spread(measurement.samples),
            .kernel = measurement.kernel};
  }

  void measure_peers() {
    // Without a candidate after them they may not be all: their run was broken off while they were written.
    const bool complete = !results_.peers.empty() && !results_.search.empty();
    const bool known = complete && std::ranges::all_of(results_.peers, [&](const auto& peer) {
                         return is_known(results_.peers, peer.first);
                       });
    if (!options_.peers || known || stop_()) {
      return;
    }
    for (const Measurement& measurement : lab_.measure_peers()) {
      if (!is_known(results_.peers, measurement.candidate)) {
        record(results_.peers, measurement, Stage::search, Edge::plain);
      }
    }
  }

  /// False when it was asked to stop before the end.
  bool search() {
    std::size_t measured = 0;
    for (const Schedule& schedule : missing()) {
      if (stop_()) {
        return false;
      }
      StopRule rule = options_.stop;
      if (const CandidateResult* best = results_.best()) {
        rule.hopeless = options_.hopeless * best->microseconds;
      }
      const Measurement measurement = lab_.measure(schedule, rule);
      record(results_.search, measurement, Stage::search, Edge::plain);
      count_(++measured);
    }
    return !stop_();
  }

  /// The incumbent, if it was right, and the fastest of the others.
  std::vector<Schedule> finalists() const {
    const std::string incumbent = print(plan_.incumbent);
    std::vector<const CandidateResult*> right;
    for (const auto& [schedule, result] : results_.search) {
      if (result.outcome == Outcome::ok && schedule != incumbent) {
        right.push_back(&result);
      }
    }
    std::ranges::stable_sort(right, {}, &CandidateResult::microseconds);
    std::vector<Schedule> chosen;
    const auto held = results_.search.find(incumbent);
    if (held != results_.search.end() && held->second.outcome == Outcome::ok) {
      chosen.push_back(plan_.incumbent);
    }
    for (std::size_t place = 0; place < std::min(right.size(), options_.challengers); ++place) {
      chosen.push_back(parse_schedule(right[place]->candidate));
    }
    return chosen;
  }

  /// Rounds until every challenger's verdict is clear, or there are enough of them.
  Final hold_final() {
    Final plain(lab_.prepare_finalists(finalists()));
    Final chain(plain.finalists());
    const std::string incumbent = print(plan_.incumbent);
    while (plain.running() > 0 && static_cast<int>(plain.rounds()) < options_.most_rounds) {
      if (!plain.add_round(lab_.run_round(Edge::plain)) ||
          (static_cast<int>(plain.rounds()) >= options_.least_rounds && is_clear(plain, incumbent))) {
        break;
      }
    }
    for (int round = 0; chain.running() > 0 && round < options_.least_rounds; ++round) {
      if (!chain.add_round(lab_.run_round(Edge::chain))) {
        break;
      }
    }
    plain.close();
    chain.close();
    for (const Measurement& finalist : plain.finalists()) {
      record(results_.final, finalist, Stage::final, Edge::plain);
    }
    for (const Measurement& finalist : chain.finalists()) {
      record(results_.chain, finalist, Stage::final, Edge::chain);
    }
    return plain;
  }

  static bool is_clear(const Final& plain, const std::string& incumbent) {
    const Measurement* held = plain.find(incumbent);
    const Measurement* challenger = plain.fastest_except(incumbent);
    if (held == nullptr || challenger == nullptr) {
      return true;
    }
    return compare(challenger->samples, held->samples).verdict != Verdict::unsure;
  }

  DecisionRecord decision(const Measurement* incumbent, const Measurement* challenger) const {
    DecisionRecord decision = undecided();
    const Measurement* winner = incumbent;
    if (challenger != nullptr && incumbent != nullptr) {
      const PairedComparison paired = compare(challenger->samples, incumbent->samples);
      decision.verdict = paired.verdict;
      decision.ratio = paired.ratio;
    } else if (challenger != nullptr) {
      // An incumbent that is not right for this layer is no rival.
      decision.verdict = Verdict::better;
    } else if (incumbent != nullptr) {
      decision.verdict = Verdict::same;
    }
    if (challenger != nullptr && decision.verdict == Verdict::better) {
      winner = challenger;
    }
    return winner == nullptr ? decision : won(decision, winner->candidate, median(winner->samples));
  }

  /// Without a round of a final: the incumbent holds if the search found it right, else the fastest one does.
  DecisionRecord decision_of_search() const {
    const auto incumbent = results_.search.find(print(plan_.incumbent));
    const bool holds = incumbent != results_.search.end() && incumbent->second.outcome == Outcome::ok;
    const CandidateResult& winner = holds ? incumbent->second : *results_.best();
    return won(undecided(), winner.candidate, winner.microseconds);
  }

  /// Without a winner: every library is faster than none.
  DecisionRecord undecided() const {
    DecisionRecord decision{.environment = lab_.environment(),
                            .item = plan_.item,
                            .winner = {},
                            .incumbent = print(plan_.incumbent),
                            .verdict = Verdict::unsure,
                            .fastest_peer = {},
                            .rests_on = results_.right()};
    if (const CandidateResult* peer = results_.best_exact_peer()) {
      decision.fastest_peer = peer->candidate;
      decision.peer_microseconds = peer->microseconds;
      decision.peer_wins = true;
    }
    return decision;
  }

  static DecisionRecord won(DecisionRecord decision, const std::string& winner, double microseconds) {
    decision.winner = winner;
    decision.winner_microseconds = microseconds;
    decision.peer_wins = !decision.fastest_peer.empty() && decision.peer_microseconds < microseconds;
    return decision;
  }

  const ItemPlan& plan_;
  const SearchOptions& options_;
  Lab& lab_;
  const RecordSink& write_;
  const StopRequest& stop_;
  const CandidateCounter& count_;
  ItemResults results_;
};

}  // namespace

ItemEnd tune_item(const ItemPlan& plan, const SearchOptions& options, Lab& lab, const RecordSink& write,
                  const StopRequest& stop, const CandidateCounter& count) {
  return Tuning(plan, options, lab, write, stop, count)();
}

}  // namespace esc::tuning

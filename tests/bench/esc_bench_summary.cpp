// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/esc_bench_summary.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "generator/support/means.h"

namespace esc::bench {
namespace {

using Time = std::optional<BestTime> PairResult::*;

std::optional<double> warm(const std::optional<BestTime>& time) {
  return time ? std::optional(time->microseconds) : std::nullopt;
}

std::optional<double> cold(const std::optional<BestTime>& time) { return time ? time->cold : std::nullopt; }

/// The geometric mean of `number` over the pairs that have it.
template <typename Number>
std::optional<double> mean(const std::vector<PairResult>& pairs, const Number& number) {
  std::vector<double> numbers;
  for (const PairResult& pair : pairs) {
    if (const std::optional<double> value = number(pair)) {
      numbers.push_back(*value);
    }
  }
  return geometric_mean(numbers);
}

/// The same of a quotient.
template <typename Above, typename Below>
std::optional<double> mean_ratio(const std::vector<PairResult>& pairs, const Above& above, const Below& below) {
  return mean(pairs, [&](const PairResult& pair) -> std::optional<double> {
    const std::optional<double> numerator = above(pair);
    const std::optional<double> denominator = below(pair);
    return numerator && denominator ? std::optional(*numerator / *denominator) : std::nullopt;
  });
}

/// The share of the pairs with a peer on which ours is faster than that.
template <typename Ours, typename Peer>
std::optional<double> share(const std::vector<PairResult>& pairs, const Ours& ours, const Peer& peer) {
  std::size_t compared = 0;
  std::size_t won = 0;
  for (const PairResult& pair : pairs) {
    if (const std::optional<double> time = peer(pair)) {
      ++compared;
      const std::optional<double> mine = ours(pair);
      won += mine && *mine < *time;
    }
  }
  return compared == 0 ? std::nullopt : std::optional(static_cast<double>(won) / static_cast<double>(compared));
}

OurSummary summary_of(const std::vector<PairResult>& pairs, Time which) {
  const auto ours = [&](const PairResult& pair) { return warm(pair.*which); };
  const auto ours_cold = [&](const PairResult& pair) { return cold(pair.*which); };
  const auto tf32 = [](const PairResult& pair) { return time_of(pair, tf32_peer); };
  const auto tf32_cold = [](const PairResult& pair) { return cold_time_of(pair, tf32_peer); };
  const auto floor = [&](const PairResult& pair) { return pair.*which ? (pair.*which)->floor : std::nullopt; };
  OurSummary summary;
  summary.measured =
      static_cast<std::size_t>(std::ranges::count_if(pairs, [&](const PairResult& pair) { return bool(pair.*which); }));
  if (summary.measured == 0) {
    return summary;
  }
  summary.microseconds = mean(pairs, ours);
  summary.over_exact = mean_ratio(pairs, best_exact, ours);
  summary.over_tf32 = mean_ratio(pairs, tf32, ours);
  summary.fastest_exact = share(pairs, ours, best_exact);
  summary.fastest_all = share(pairs, ours, best_of_all);
  summary.over_floor = mean_ratio(pairs, ours, floor);
  summary.cold = mean(pairs, ours_cold);
  summary.cold_over_exact = mean_ratio(pairs, best_exact_cold, ours_cold);
  summary.cold_over_tf32 = mean_ratio(pairs, tf32_cold, ours_cold);
  return summary;
}

std::map<std::string, double> peer_means(const std::vector<PairResult>& pairs) {
  std::map<std::string, double> means;
  for (const PairResult& pair : pairs) {
    for (const auto& [name, peer] : pair.peers) {
      if (!means.contains(name)) {
        means[name] = *mean(pairs, [&](const PairResult& other) { return time_of(other, name); });
      }
    }
  }
  return means;
}

GroupSummary group(std::int64_t bcol, std::optional<int> sparsity, const std::vector<PairResult>& pairs) {
  return {.bcol = bcol,
          .sparsity = sparsity,
          .pairs = pairs.size(),
          .plain = summary_of(pairs, &PairResult::plain),
          .programmatic = summary_of(pairs, &PairResult::programmatic),
          .peers = peer_means(pairs)};
}

}  // namespace

int sparsity_class(double sparsity) {
  constexpr std::array classes{50, 60, 70, 80, 90, 95, 98};
  return *std::ranges::min_element(classes, {}, [&](int percent) { return std::abs(percent - 100 * sparsity); });
}

std::vector<GroupSummary> summarise(const std::vector<PairResult>& pairs) {
  std::set<std::int64_t> bcols;
  std::set<int> classes;
  for (const PairResult& pair : pairs) {
    bcols.insert(pair.bcol);
    classes.insert(sparsity_class(pair.sparsity()));
  }
  std::vector<GroupSummary> groups;
  for (const std::int64_t bcol : bcols) {
    std::vector<PairResult> of_bcol;
    std::ranges::copy_if(pairs, std::back_inserter(of_bcol), [&](const PairResult& pair) { return pair.bcol == bcol; });
    for (const int percent : classes) {
      std::vector<PairResult> of_class;
      std::ranges::copy_if(of_bcol, std::back_inserter(of_class),
                           [&](const PairResult& pair) { return sparsity_class(pair.sparsity()) == percent; });
      if (!of_class.empty()) {
        groups.push_back(group(bcol, percent, of_class));
      }
    }
    groups.push_back(group(bcol, std::nullopt, of_bcol));
  }
  return groups;
}

}  // namespace esc::bench

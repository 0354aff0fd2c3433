#include "tuner/space/listing.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

namespace esc::tuning {
namespace {

using Reasons = std::map<std::string, std::size_t>;

/// One item's line, or the sum of several.
struct Counts {
  std::size_t candidates = 0;
  std::size_t done = 0;
  Reasons cut;

  std::size_t left() const { return candidates - std::min(done, candidates); }
};

Counts counts_of(const PlannedItem& planned) {
  Counts counts{planned.candidates.kept.size(), planned.done, {}};
  for (const Cut& cut : planned.candidates.cut) {
    ++counts.cut[cut.reason];
  }
  return counts;
}

Counts sum_of(const std::vector<PlannedItem>& plan) {
  Counts sum;
  for (const PlannedItem& planned : plan) {
    const Counts one = counts_of(planned);
    sum.candidates += one.candidates;
    sum.done += std::min(one.done, one.candidates);
    for (const auto& [reason, number] : one.cut) {
      sum.cut[reason] += number;
    }
  }
  return sum;
}

/// Kernels that a run from a cold cache builds: layers share them.
std::size_t kernels_of(const std::vector<PlannedItem>& plan) {
  std::set<std::pair<std::int64_t, std::string>> kernels;
  for (const PlannedItem& planned : plan) {
    if (counts_of(planned).left() == 0) {
      continue;
    }
    for (const Candidate& candidate : planned.candidates.kept) {
      kernels.emplace(planned.item.bcol, print(candidate.schedule));
    }
  }
  return kernels.size();
}

double measuring_seconds(std::size_t candidates, const TimeEstimate& estimate) {
  return static_cast<double>(candidates) * estimate.of_candidate / 1000;
}

double building_seconds(std::size_t kernels, const TimeEstimate& estimate) {
  return static_cast<double>(kernels) * estimate.of_build / std::max(1, estimate.cores) / 1000;
}

std::string print(const Reasons& reasons) {
  std::string text;
  for (const auto& [reason, number] : reasons) {
    text += fmt::format("{}{} {}", text.empty() ? "" : "; ", number, reason);
  }
  return text;
}

std::string line(const PlannedItem& planned, const TimeEstimate& estimate) {
  const Counts counts = counts_of(planned);
  std::string text =
      fmt::format("{}, bCol {}: {} candidates", planned.item.layer.file, planned.item.bcol, counts.candidates);
  if (counts.done > 0) {
    text += fmt::format(", {} of them done", counts.done);
  }
  text += fmt::format(", about {:.1f} s", measuring_seconds(counts.left(), estimate));
  return counts.cut.empty() ? text : text + "; cut: " + print(counts.cut);
}

}  // namespace

std::string listing_text(const std::vector<PlannedItem>& plan, const TimeEstimate& estimate) {
  std::string text;
  for (const PlannedItem& planned : plan) {
    text += line(planned, estimate) + "\n";
  }
  const Counts sum = sum_of(plan);
  const std::size_t kernels = kernels_of(plan);
  text += fmt::format("{} items, {} candidates, {} of them done{}{}\n", plan.size(), sum.candidates, sum.done,
                      sum.cut.empty() ? "" : "; cut: ", print(sum.cut));
  text += fmt::format(
      "about {:.0f} s to measure the others ({:g} ms each), and {:.0f} s to build {} kernels where none is in the "
      "cache ({:g} ms each, on {} cores)\n",
      measuring_seconds(sum.left(), estimate), estimate.of_candidate, building_seconds(kernels, estimate), kernels,
      estimate.of_build, std::max(1, estimate.cores));
  return text;
}

std::string listing_json(const std::vector<PlannedItem>& plan, const TimeEstimate& estimate) {
  nlohmann::json items = nlohmann::json::array();
  for (const PlannedItem& planned : plan) {
    const Counts counts = counts_of(planned);
    items.push_back({{"file", planned.item.layer.file},
                     {"pattern", planned.item.layer.pattern},
                     {"bcol", planned.item.bcol},
                     {"candidates", counts.candidates},
                     {"done", counts.done},
                     {"cut", counts.cut},
                     {"measuring_seconds", measuring_seconds(counts.left(), estimate)}});
  }
  const Counts sum = sum_of(plan);
  const std::size_t kernels = kernels_of(plan);
  const nlohmann::json result{{"items", items},
                              {"candidates", sum.candidates},
                              {"done", sum.done},
                              {"cut", sum.cut},
                              {"kernels", kernels},
                              {"measuring_seconds", measuring_seconds(sum.left(), estimate)},
                              {"building_seconds", building_seconds(kernels, estimate)}};
  return result.dump(2) + "\n";
}

}  // namespace esc::tuning

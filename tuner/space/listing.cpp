// SPDX-License-Identifier: Apache-2.0
#include "tuner/space/listing.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>
#include <utility>

#include "generator/support/json_result.h"

namespace esc::tuning {
namespace {

using Reasons = std::map<std::string, std::size_t>;

/// One item's line, or the sum of several.
struct Counts {
  std::size_t candidates = 0;
  std::size_t done = 0;
  std::size_t decided = 0;     ///< items
  std::size_t items_left = 0;  ///< that are not
  std::size_t left = 0;        ///< candidates to measure
  Reasons cut;
};

Counts counts_of(const PlannedItem& planned) {
  Counts counts;
  counts.candidates = planned.candidates.kept.size();
  counts.done = std::min(planned.done, counts.candidates);
  (planned.decided ? counts.decided : counts.items_left) = 1;
  counts.left = planned.decided ? 0 : counts.candidates - counts.done;
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
    sum.done += one.done;
    sum.decided += one.decided;
    sum.items_left += one.items_left;
    sum.left += one.left;
    for (const auto& [reason, number] : one.cut) {
      sum.cut[reason] += number;
    }
  }
  return sum;
}

/// Kernels that a run from a cold cache builds: layers share them.
std::size_t kernels_of(const std::vector<PlannedItem>& plan) {
  std::set<std::tuple<std::int64_t, std::string, std::string, std::string, std::string>> kernels;
  for (const PlannedItem& planned : plan) {
    if (counts_of(planned).left == 0) {
      continue;
    }
    for (const Candidate& candidate : planned.candidates.kept) {
      const NestFacts& nest = planned.item.nest;
      kernels.emplace(planned.item.bcol, planned.item.dtype, nest.layout, nest.digest, print(candidate.schedule));
    }
  }
  return kernels.size();
}

double measuring_seconds(const Counts& counts, const TimeEstimate& estimate) {
  return (static_cast<double>(counts.left) * estimate.of_candidate +
          static_cast<double>(counts.items_left) * estimate.of_item) /
         1000;
}

double building_seconds(std::size_t kernels, const TimeEstimate& estimate) {
  return static_cast<double>(kernels) * estimate.of_build / std::max(1, estimate.builders) / 1000;
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
  std::string text = fmt::format("{}: {} candidates", describe(planned.item), counts.candidates);
  if (counts.done > 0) {
    text += fmt::format(", {} of them done", counts.done);
  }
  text += planned.decided ? ", decided" : fmt::format(", about {:.1f} s", measuring_seconds(counts, estimate));
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
  text += fmt::format("{} items, {} of them decided; {} candidates, {} of them done{}{}\n", plan.size(), sum.decided,
                      sum.candidates, sum.done, sum.cut.empty() ? "" : "; cut: ", print(sum.cut));
  text += fmt::format(
      "about {:.0f} s to measure {} candidates ({:g} ms each, and {:g} ms for the libraries and the final of an item), "
      "and {:.0f} s to build {} kernels where none is in the cache ({:g} ms each, {} at once)\n",
      measuring_seconds(sum, estimate), sum.left, estimate.of_candidate, estimate.of_item,
      building_seconds(kernels, estimate), kernels, estimate.of_build, std::max(1, estimate.builders));
  return text;
}

std::string listing_json(const std::vector<PlannedItem>& plan, const TimeEstimate& estimate) {
  nlohmann::json items = nlohmann::json::array();
  for (const PlannedItem& planned : plan) {
    const Counts counts = counts_of(planned);
    nlohmann::json& item = items.emplace_back();
    item = {{"file", planned.item.layer.file},    {"pattern", planned.item.layer.pattern},
            {"bcol", planned.item.bcol},          {"dtype", planned.item.dtype},
            {"layout", planned.item.nest.layout}, {"nest", planned.item.nest.digest},
            {"candidates", counts.candidates},    {"done", counts.done},
            {"decided", planned.decided},         {"measuring_seconds", measuring_seconds(counts, estimate)}};
    set_renamed(item, "cut_by_reason", "cut", counts.cut);
  }
  const Counts sum = sum_of(plan);
  const std::size_t kernels = kernels_of(plan);
  nlohmann::json result{{"items", items},
                        {"candidates", sum.candidates},
                        {"done", sum.done},
                        {"decided", sum.decided},
                        {"kernels", kernels},
                        {"measuring_seconds", measuring_seconds(sum, estimate)},
                        {"building_seconds", building_seconds(kernels, estimate)}};
  set_renamed(result, "cut_by_reason", "cut", sum.cut);
  return json_result("tuning plan", "done", result);
}

}  // namespace esc::tuning

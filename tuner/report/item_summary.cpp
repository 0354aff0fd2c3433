// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/item_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

namespace esc::tuning {
namespace {

/// How many characters at the front of all files are folders that they share.
std::size_t common_folders(const std::map<ItemKey, ItemResults>& items) {
  const std::string& first = items.begin()->second.item.layer.file;
  std::size_t common = first.size();
  for (const auto& [key, results] : items) {
    const std::string& file = results.item.layer.file;
    const auto differ =
        std::mismatch(first.begin(), first.begin() + static_cast<std::ptrdiff_t>(common), file.begin(), file.end());
    common = static_cast<std::size_t>(differ.first - first.begin());
  }
  const std::size_t slash = common == 0 ? std::string::npos : first.rfind('/', common - 1);
  return slash == std::string::npos ? 0 : slash + 1;
}

std::optional<double> measured(const CandidateResult* result) {
  return result != nullptr && result->outcome == Outcome::ok && result->microseconds > 0
             ? std::optional(result->microseconds)
             : std::nullopt;
}

std::optional<double> lesser(std::optional<double> a, std::optional<double> b) {
  return a && b ? std::min(*a, *b) : a ? a : b;
}

const CandidateResult* find(const std::map<std::string, CandidateResult>& results, const std::string& candidate) {
  const auto found = results.find(candidate);
  return found == results.end() ? nullptr : &found->second;
}

ItemSummary summarise(const ItemResults& results, const std::string& name) {
  ItemSummary summary;
  summary.item = results.item;
  summary.name = name;
  if (results.decision) {
    summary.winner = results.decision->winner;
    summary.verdict = results.decision->verdict;
    summary.incumbent = results.decision->incumbent;
  } else if (const CandidateResult* best = results.best()) {
    summary.winner = best->candidate;
  }
  for (const auto* stage : {&results.search, &results.final}) {
    const CandidateResult* winner = find(*stage, summary.winner);
    if (const std::optional<double> time = measured(winner)) {
      summary.microseconds = time;
      summary.spread = winner->spread;
      summary.kernel = winner->kernel ? winner->kernel : summary.kernel;
    }
  }
  if (!summary.microseconds && results.decision && results.decision->winner_microseconds > 0) {
    summary.microseconds = results.decision->winner_microseconds;
  }
  summary.chain_microseconds = measured(find(results.chain, summary.winner));
  summary.fp32 = measured(results.exact_dense_peer());
  summary.tf32 = measured(results.less_exact_dense_peer());
  summary.cusparse = measured(results.peer("cusparse"));
  summary.cusparselt = measured(results.exact_structured_peer());
  return summary;
}

}  // namespace

std::string print(Rival rival, const std::string& dtype) {
  switch (rival) {
    case Rival::best_exact:
      return "the best exact library";
    case Rival::cublas_fp32:
      return dtype == "f32"    ? "cuBLAS FP32"
             : dtype == "f64"  ? "cuBLAS FP64"
             : dtype == "tf32" ? "cuBLAS TF32"
                               : "cuBLAS " + dtype;
    case Rival::cublas_tf32:
      return "cuBLAS TF32";
    case Rival::cusparse:
      break;
  }
  return "cuSPARSE";
}

std::optional<double> time_of(const ItemSummary& item, Rival rival) {
  switch (rival) {
    case Rival::best_exact:
      return lesser(lesser(item.fp32, item.cusparse), item.cusparselt);
    case Rival::cublas_fp32:
      return item.fp32;
    case Rival::cublas_tf32:
      return item.tf32;
    case Rival::cusparse:
      break;
  }
  return item.cusparse;
}

std::optional<double> speed_up(const ItemSummary& item, Rival rival) {
  const std::optional<double> theirs = time_of(item, rival);
  return theirs && item.microseconds ? std::optional(*theirs / *item.microseconds) : std::nullopt;
}

std::string best_exact_name(const ItemSummary& item) {
  const std::optional<double> time = time_of(item, Rival::best_exact);
  if (!time) {
    return "-";
  }
  if (item.fp32 != time) {
    return item.cusparse == time ? print(Rival::cusparse, item.item.dtype) : "cuSPARSELt";
  }
  return print(Rival::cublas_fp32, item.item.dtype);
}

std::vector<ItemSummary> summarise(const std::map<ItemKey, ItemResults>& items) {
  std::vector<ItemSummary> summaries;
  if (items.empty()) {
    return summaries;
  }
  const std::size_t folders = common_folders(items);
  for (const auto& [key, results] : items) {
    const std::string digest = results.item.nest.digest;
    summaries.push_back(
        summarise(results, results.item.layer.file.substr(folders) + (digest.empty() ? "" : " " + digest)));
  }
  std::ranges::sort(summaries, [](const ItemSummary& a, const ItemSummary& b) {
    const auto order = [](const ItemSummary& one) {
      return std::tuple(one.item.device, one.item.dtype, one.item.cache, one.item.nest.layout, one.item.bcol, one.name,
                        one.item.layer.pattern);
    };
    return order(a) < order(b);
  });
  return summaries;
}

std::string label(const ItemSummary& item) {
  const std::string& layout = item.item.nest.layout;
  const std::string& dtype = item.item.dtype;
  return fmt::format("{}@{}{}{}", item.name, item.item.bcol, layout == "kn" ? "" : "@" + layout,
                     dtype == "f32" ? "" : "@" + dtype);
}

}  // namespace esc::tuning

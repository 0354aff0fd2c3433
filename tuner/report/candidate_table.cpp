// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/candidate_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <vector>

#include "tuner/report/coarsening_map.h"

namespace esc::tuning {
namespace {

struct Ranked {
  const CandidateResult* result;
  bool finalist;
};

bool is_timed(const CandidateResult& result) { return result.outcome == Outcome::ok && result.microseconds > 0; }

std::vector<Ranked> ranked(const ItemResults& results) {
  std::vector<Ranked> list;
  for (const auto& [schedule, result] : results.final) {
    if (is_timed(result)) {
      list.push_back({&result, true});
    }
  }
  for (const auto& [schedule, result] : results.search) {
    const auto found = results.final.find(schedule);
    if (is_timed(result) && (found == results.final.end() || !is_timed(found->second))) {
      list.push_back({&result, false});
    }
  }
  std::ranges::sort(list, {}, [](const Ranked& one) {
    return std::tuple(!one.finalist, one.result->microseconds, one.result->candidate);
  });
  return list;
}

/// The facts of the kernel, which not every stage need have recorded.
const KernelFacts* kernel_of(const ItemResults& results, const std::string& schedule) {
  for (const auto* stage : {&results.final, &results.search}) {
    const auto found = stage->find(schedule);
    if (found != stage->end() && found->second.kernel) {
      return &*found->second.kernel;
    }
  }
  return nullptr;
}

std::optional<double> chain_time(const ItemResults& results, const std::string& schedule) {
  const auto found = results.chain.find(schedule);
  return found != results.chain.end() && is_timed(found->second) ? std::optional(found->second.microseconds)
                                                                 : std::nullopt;
}

}  // namespace

Table candidate_table(const ItemResults& results, std::size_t most) {
  Table table{"The best candidates that were right, finalists first.",
              {{"rank"},
               text_column("schedule"),
               text_column("stage"),
               {"us"},
               {"chain, us"},
               {"spread, %"},
               {"error"},
               {"registers"},
               {"spilled, B"},
               {"shared, B"},
               {"blocks"},
               {"warps per SM"}},
              {}};
  std::vector<Ranked> list = ranked(results);
  list.resize(std::min(list.size(), most));
  for (const auto& [result, finalist] : list) {
    std::vector<std::string> row{std::to_string(table.rows.size() + 1),
                                 result->candidate,
                                 finalist ? "final" : "search",
                                 with_digits(result->microseconds),
                                 with_digits(chain_time(results, result->candidate)),
                                 percent(result->spread, 1),
                                 fmt::format("{:.1e}", result->error)};
    if (const KernelFacts* kernel = kernel_of(results, result->candidate)) {
      const std::optional<int> warps = warps_on(results.item.device, *kernel);
      for (const std::int64_t fact : {std::int64_t{kernel->registers}, std::int64_t{kernel->local_bytes},
                                      std::int64_t{kernel->shared_bytes}, kernel->blocks}) {
        row.push_back(std::to_string(fact));
      }
      row.push_back(warps ? std::to_string(*warps) : "-");
    } else {
      row.insert(row.end(), 5, "-");
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table library_table(const ItemResults& results) {
  const CandidateResult* best = results.best();
  Table table{"What the libraries take.",
              {text_column("library"),
               text_column("algorithm"),
               {"us"},
               {"spread, %"},
               {"error"},
               {"over the best candidate"},
               text_column("outcome")},
              {}};
  for (const auto& [name, result] : results.peers) {
    const bool timed = is_timed(result);
    const bool compared = timed && best != nullptr && is_timed(*best);
    table.rows.push_back({name, result.algorithm.empty() ? "-" : result.algorithm,
                          timed ? with_digits(result.microseconds) : "-", timed ? percent(result.spread, 1) : "-",
                          timed ? fmt::format("{:.1e}", result.error) : "-",
                          compared ? with_digits(result.microseconds / best->microseconds) : "-",
                          print(result.outcome) + (result.detail.empty() ? "" : ": " + result.detail)});
  }
  return table;
}

}  // namespace esc::tuning

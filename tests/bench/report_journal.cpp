// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/report_journal.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "generator/support/error.h"
#include "generator/support/file.h"

namespace esc::bench {
namespace {

using nlohmann::json;

std::optional<double> number(const json& value) {
  return value.is_number() ? std::optional(value.get<double>()) : std::nullopt;
}

void keep_faster(std::optional<double>& kept, const std::optional<double>& other) {
  if (other && (!kept || *other < *kept)) {
    kept = other;
  }
}

}  // namespace

std::map<PairKey, MeasuredPair> read_measurements(const std::vector<std::string>& journals) {
  std::map<PairKey, MeasuredPair> pairs;
  std::map<PairKey, std::map<std::string, CandidateTime>> candidates;
  for (const std::string& file : journals) {
    std::istringstream lines(read_file(file, most_journal_bytes));
    int line_number = 0;
    for (std::string line; std::getline(lines, line);) {
      ++line_number;
      try {
        const json record = json::parse(line);
        if (record.at("record") == "candidate") {
          CandidateTime& time = candidates[{record.at("matrix"), record.at("bcol")}][record.at("schedule")];
          keep_faster(time.plain, number(record.at("plain_us")));
          keep_faster(time.programmatic, number(record.at("programmatic_us")));
        } else if (const std::optional<PairResult> pair = parse_pair(line)) {
          pairs[{pair->matrix, pair->bcol}].result = *pair;
        }
      } catch (const json::exception&) {
        throw UserError(fmt::format("{}:{}", file, line_number), "is not a record of esc-bench",
                        "take away a last line that was cut off");
      }
    }
  }
  for (auto& [key, pair] : pairs) {
    pair.candidates = std::move(candidates[key]);
  }
  return pairs;
}

}  // namespace esc::bench

// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/esc_bench_result.h"

#include <algorithm>
#include <initializer_list>
#include <nlohmann/json.hpp>

namespace esc::bench {
namespace {

using nlohmann::json;

constexpr const char* kind = "pair";

std::optional<double> least(std::initializer_list<const std::optional<BestTime>*> times) {
  std::optional<double> result;
  for (const std::optional<BestTime>* time : times) {
    if (*time && (!result || (*time)->microseconds < *result)) {
      result = (*time)->microseconds;
    }
  }
  return result;
}

json optional_number(const std::optional<double>& number) { return number ? json(*number) : json(); }

std::optional<double> optional_number(const json& number) {
  return number.is_number() ? std::optional(number.get<double>()) : std::nullopt;
}

json to_json(const std::optional<BestTime>& time) {
  return time ? json{{"name", time->name},
                     {"us", time->microseconds},
                     {"spread", time->spread},
                     {"error", time->error},
                     {"cold_us", optional_number(time->cold)},
                     {"floor_us", optional_number(time->floor)}}
              : json();
}

std::optional<BestTime> best_time(const json& time) {
  if (time.is_null()) {
    return std::nullopt;
  }
  return BestTime{.name = time.at("name"),
                  .microseconds = time.at("us"),
                  .spread = time.at("spread"),
                  .error = time.at("error"),
                  .cold = optional_number(time.at("cold_us")),
                  .floor = optional_number(time.at("floor_us"))};
}

}  // namespace

std::optional<double> best_exact(const PairResult& pair) { return least({&pair.fp32, &pair.cusparse}); }

std::optional<double> best_of_all(const PairResult& pair) { return least({&pair.fp32, &pair.tf32, &pair.cusparse}); }

std::string pair_line(const PairResult& pair) {
  const json line{{"record", kind},
                  {"matrix", pair.matrix},
                  {"rows", pair.rows},
                  {"columns", pair.columns},
                  {"nonzeros", pair.nonzeros},
                  {"bcol", pair.bcol},
                  {"right", pair.right},
                  {"illegal", pair.illegal},
                  {"wrong", pair.wrong},
                  {"failed", pair.failed},
                  {"plain", to_json(pair.plain)},
                  {"programmatic", to_json(pair.programmatic)},
                  {"cublas-fp32", to_json(pair.fp32)},
                  {"cublas-tf32", to_json(pair.tf32)},
                  {"cusparse", to_json(pair.cusparse)}};
  return line.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::optional<PairResult> parse_pair(const std::string& line) {
  const json found = json::parse(line, nullptr, false);
  if (!found.is_object() || found.value("record", "") != kind) {
    return std::nullopt;
  }
  return PairResult{.matrix = found.at("matrix"),
                    .rows = found.at("rows"),
                    .columns = found.at("columns"),
                    .nonzeros = found.at("nonzeros"),
                    .bcol = found.at("bcol"),
                    .right = found.at("right"),
                    .illegal = found.at("illegal"),
                    .wrong = found.at("wrong"),
                    .failed = found.at("failed"),
                    .plain = best_time(found.at("plain")),
                    .programmatic = best_time(found.at("programmatic")),
                    .fp32 = best_time(found.at("cublas-fp32")),
                    .tf32 = best_time(found.at("cublas-tf32")),
                    .cusparse = best_time(found.at("cusparse"))};
}

}  // namespace esc::bench

// SPDX-License-Identifier: Apache-2.0
#include "tuner/records/record_json.h"

#include <fmt/format.h>

#include <array>
#include <limits>
#include <string_view>
#include <utility>

#include "generator/schedule/gone_schedules.h"
#include "generator/schedule/schedule_text.h"
#include "generator/support/error.h"
#include "generator/support/identifier.h"
#include "generator/support/plain_text.h"

namespace esc::tuning {
namespace {

using nlohmann::json;

/// The words of an enumeration, in both directions.
template <typename Value, std::size_t count>
using Words = std::array<std::pair<Value, const char*>, count>;

constexpr Words<Stage, 2> stage_words{{{Stage::search, "search"}, {Stage::final, "final"}}};
constexpr Words<Edge, 2> edge_words{{{Edge::plain, "plain"}, {Edge::chain, "chain"}}};
constexpr std::array cache_states{CacheState::warm, CacheState::cold};
constexpr std::array all_outcomes{Outcome::ok,           Outcome::compile_failed, Outcome::launch_failed,
                                  Outcome::wrong_result, Outcome::timed_out,      Outcome::skipped_by_limit};
constexpr std::array all_verdicts{Verdict::better, Verdict::worse, Verdict::same, Verdict::unsure};

template <typename Value, std::size_t count>
std::string word_of(Value value, const Words<Value, count>& words) {
  for (const auto& [known, word] : words) {
    if (known == value) {
      return word;
    }
  }
  ESC_CHECK(false, "every value has a word");
}

template <typename Value, std::size_t count>
Value value_of(const std::string& word, const Words<Value, count>& words) {
  for (const auto& [value, known] : words) {
    if (known == word) {
      return value;
    }
  }
  throw NotARecord{fmt::format("has the unknown word '{}'", word)};
}

template <typename Value, std::size_t count>
Value value_of(const std::string& word, const std::array<Value, count>& values) {
  for (const Value value : values) {
    if (print(value) == word) {
      return value;
    }
  }
  throw NotARecord{fmt::format("has the unknown word '{}'", word)};
}

/// A whole number of those that it can be.
template <typename Number = std::int64_t>
Number count_at(const json& object, const char* key) {
  const json& value = object.at(key);
  const bool fits = value.is_number_unsigned()  ? std::in_range<Number>(value.get<std::uint64_t>())
                    : value.is_number_integer() ? std::in_range<Number>(value.get<std::int64_t>())
                                                : !value.is_number();
  if (!fits || (value.is_number() && value.get<Number>() < 0)) {
    throw NotARecord{fmt::format("has the {} {}, which is no whole number from 0 to {}", key, value.dump(),
                                 std::numeric_limits<Number>::max())};
  }
  return value.get<Number>();
}

/// A text that is shown, and written into other files, as it is.
std::string text_at(const json& object, const char* key) {
  std::string text = object.at(key);
  if (!is_plain_text(text)) {
    throw NotARecord{fmt::format("has characters that do not show in its {}, '{}'", key, plain_text(text))};
  }
  return text;
}

/// The words of a compiler have several lines.
std::string lines_at(const json& object, const char* key) {
  std::string text = object.at(key);
  if (plain_lines(text) != text) {
    throw NotARecord{fmt::format("has characters that do not show in its {}", key)};
  }
  return text;
}

/// What names of files are made of.
std::string word_at(const json& object, const char* key) {
  std::string word = object.at(key);
  if (!is_identifier(word)) {
    throw NotARecord{fmt::format("has the {} '{}', which is no word", key, plain_text(word))};
  }
  return word;
}

/// A schedule of this version, in the keys of today, one that is gone, as it is, a library, or nothing.
std::string candidate_at(const json& line, const char* key) {
  std::string text = text_at(line, key);
  return is_gone(text) ? text : in_todays_keys(text);
}

json to_json(const NestFacts& nest) {
  return {{"layout", nest.layout},
          {"digest", nest.digest},
          {"item_columns", nest.item_columns},
          {"contiguous", nest.contiguous}};
}

/// What is in the names of layouts.
std::string layout_at(const json& object, const char* key) {
  std::string layout = object.at(key);
  if (layout.empty() || layout.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_.") != std::string::npos) {
    throw NotARecord{fmt::format("has the {} '{}', which is none", key, plain_text(layout))};
  }
  return layout;
}

NestFacts nest_from(const json& line) {
  if (!line.contains("nest")) {
    return {};
  }
  const json& nest = line.at("nest");
  NestFacts facts{.layout = layout_at(nest, "layout"),
                  .digest = text_at(nest, "digest"),
                  .item_columns = count_at(nest, "item_columns"),
                  .contiguous = nest.at("contiguous")};
  if (facts.item_columns < 1) {
    throw NotARecord{"has items without columns"};
  }
  if ((facts.layout == "kn" && !facts.contiguous) || (facts.layout == "nk" && facts.contiguous)) {
    throw NotARecord{fmt::format("has columns of layout {} that lie otherwise", facts.layout)};
  }
  return facts;
}

int format_of(const WorkItem& item) { return item.nest == NestFacts() ? record_format : record_format_of_nests; }

json to_json(const WorkItem& item) {
  json line{{"layer",
             {{"file", plain_text(item.layer.file)},
              {"pattern", item.layer.pattern},
              {"rows", item.layer.rows},
              {"columns", item.layer.columns},
              {"nonzeros", item.layer.nonzeros},
              {"longest_row", item.layer.longest_row},
              {"row_variation", item.layer.row_variation}}},
            {"bcol", item.bcol},
            {"dtype", item.dtype},
            {"device", print(item.device)},
            {"l2", print(item.cache)},
            {"format", format_of(item)}};
  if (format_of(item) == record_format_of_nests) {
    line["nest"] = to_json(item.nest);
  }
  if (item.layer.sparse24) {
    line["layer"]["sparse24"] = true;
  }
  return line;
}

WorkItem item_from(const json& line) {
  const json& layer = line.at("layer");
  return {.layer = {.file = text_at(layer, "file"),
                    .pattern = text_at(layer, "pattern"),
                    .rows = count_at(layer, "rows"),
                    .columns = count_at(layer, "columns"),
                    .nonzeros = count_at(layer, "nonzeros"),
                    .longest_row = count_at(layer, "longest_row"),
                    .row_variation = layer.at("row_variation"),
                    .sparse24 = layer.value("sparse24", false)},
          .bcol = count_at(line, "bcol"),
          .dtype = word_at(line, "dtype"),
          .device = parse_device_key(line.at("device").get<std::string>()),
          .cache = value_of(line.at("l2").get<std::string>(), cache_states),
          .nest = nest_from(line)};
}

json to_json(const Environment& environment) {
  return {{"tool", plain_text(environment.tool)},
          {"toolkit", plain_text(environment.toolkit)},
          {"device_name", plain_text(environment.device_name)},
          {"driver", plain_text(environment.driver)}};
}

Environment environment_from(const json& line) {
  const json& environment = line.at("environment");
  return {.tool = text_at(environment, "tool"),
          .toolkit = text_at(environment, "toolkit"),
          .device_name = text_at(environment, "device_name"),
          .driver = text_at(environment, "driver")};
}

json to_json(const KernelFacts& kernel) {
  return {{"registers", kernel.registers},     {"shared_bytes", kernel.shared_bytes},
          {"local_bytes", kernel.local_bytes}, {"threads", kernel.threads},
          {"blocks", kernel.blocks},           {"packed_bytes", kernel.packed_bytes}};
}

KernelFacts kernel_from(const json& kernel) {
  return {.registers = count_at<int>(kernel, "registers"),
          .shared_bytes = count_at<int>(kernel, "shared_bytes"),
          .local_bytes = count_at<int>(kernel, "local_bytes"),
          .threads = count_at<int>(kernel, "threads"),
          .blocks = count_at(kernel, "blocks"),
          .packed_bytes = count_at(kernel, "packed_bytes")};
}

}  // namespace

json to_json(const CandidateRecord& record) {
  json line = to_json(record.item);
  line.update({{"record", "candidate"},
               {"environment", to_json(record.environment)},
               {"stage", word_of(record.stage, stage_words)},
               {"edge", word_of(record.edge, edge_words)},
               {"candidate", record.candidate},
               {"algorithm", plain_text(record.algorithm)},
               {"builder", plain_text(record.builder)},
               {"digest", record.digest},
               {"outcome", print(record.outcome)},
               {"detail", plain_lines(record.detail)},
               {"error", record.error},
               {"samples", record.samples},
               {"clock_mhz", record.clock_megahertz}});
  if (record.kernel) {
    line["kernel"] = to_json(*record.kernel);
  }
  return line;
}

CandidateRecord candidate_from(const json& line) {
  CandidateRecord record{.environment = environment_from(line),
                         .item = item_from(line),
                         .stage = value_of(line.at("stage").get<std::string>(), stage_words),
                         .edge = value_of(line.at("edge").get<std::string>(), edge_words),
                         .candidate = candidate_at(line, "candidate"),
                         .algorithm = text_at(line, "algorithm"),
                         .builder = text_at(line, "builder"),
                         .digest = text_at(line, "digest"),
                         .kernel = {},
                         .outcome = value_of(line.at("outcome").get<std::string>(), all_outcomes),
                         .detail = lines_at(line, "detail"),
                         .error = line.at("error"),
                         .samples = line.at("samples"),
                         .clock_megahertz = count_at<int>(line, "clock_mhz")};
  if (line.contains("kernel")) {
    record.kernel = kernel_from(line.at("kernel"));
  }
  return record;
}

json to_json(const DecisionRecord& record) {
  json line = to_json(record.item);
  line.update({{"record", "decision"},
               {"environment", to_json(record.environment)},
               {"winner", record.winner},
               {"incumbent", record.incumbent},
               {"verdict", print(record.verdict)},
               {"ratio", record.ratio},
               {"winner_us", record.winner_microseconds},
               {"fastest_peer", record.fastest_peer},
               {"peer_us", record.peer_microseconds},
               {"peer_wins", record.peer_wins},
               {"rests_on", record.rests_on}});
  return line;
}

namespace {

template <typename Rates>
auto by_name(Rates& rates) {
  return std::array{std::pair{"memory_gigabytes", &rates.memory_gigabytes},
                    std::pair{"l2_gigabytes", &rates.l2_gigabytes}, std::pair{"fp32_gigaflops", &rates.fp32_gigaflops},
                    std::pair{"tf32_gigaflops", &rates.tf32_gigaflops},
                    std::pair{"f16_gigaflops", &rates.f16_gigaflops}};
}

}  // namespace

json to_json(const DeviceRates& rates) {
  json line = json::object();
  for (const auto& [name, rate] : by_name(rates)) {
    if (*rate) {
      line[name] = **rate;
    }
  }
  return line;
}

DeviceRates device_rates_from(const json& line) {
  DeviceRates rates;
  for (const auto& [name, rate] : by_name(rates)) {
    if (line.contains(name)) {
      *rate = line.at(name).get<double>();
      if (!(**rate > 0) || **rate > std::numeric_limits<std::int32_t>::max()) {
        throw NotARecord{fmt::format("has {} that are no rate of a device", name)};
      }
    }
  }
  return rates;
}

json to_json(const RatesRecord& record) {
  return {{"record", "rates"},
          {"format", record_format},
          {"device", print(record.device)},
          {"environment", to_json(record.environment)},
          {"rates", to_json(record.rates)}};
}

RatesRecord rates_from(const json& line) {
  return {.environment = environment_from(line),
          .device = parse_device_key(line.at("device").get<std::string>()),
          .rates = device_rates_from(line.at("rates"))};
}

DecisionRecord decision_from(const json& line) {
  return {.environment = environment_from(line),
          .item = item_from(line),
          .winner = candidate_at(line, "winner"),
          .incumbent = candidate_at(line, "incumbent"),
          .verdict = value_of(line.at("verdict").get<std::string>(), all_verdicts),
          .ratio = line.at("ratio"),
          .winner_microseconds = line.at("winner_us"),
          .fastest_peer = text_at(line, "fastest_peer"),
          .peer_microseconds = line.at("peer_us"),
          .peer_wins = line.at("peer_wins"),
          .rests_on = count_at(line, "rests_on")};
}

}  // namespace esc::tuning

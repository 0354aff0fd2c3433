// SPDX-License-Identifier: Apache-2.0
#include "generator/commands/token_counts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <limits>

#include "generator/commands/input.h"
#include "generator/schedule/settings.h"
#include "generator/support/error.h"

namespace esc {
namespace {

std::int64_t parse_columns(std::string_view text, const std::string& place) {
  std::int64_t columns = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), columns);
  if (error == std::errc::invalid_argument || end != text.data() + text.size()) {
    throw UserError(place, fmt::format("has '{}' where a whole number is needed", text),
                    "write it as in 64, or several as in 32,64,128");
  }
  // A number beyond 64 bits is one that is out of range.
  columns = error == std::errc::result_out_of_range ? std::numeric_limits<std::int64_t>::max() : columns;
  check_bcol(columns);
  return columns;
}

double parse_weight(std::string_view text, const std::string& place) {
  double weight = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), weight, std::chars_format::fixed);
  // Written so that NaN, which from_chars reads, is refused, too.
  if (const bool fits = weight > 0 && weight <= most_weight;
      error != std::errc() || end != text.data() + text.size() || !fits) {
    throw UserError(
        place, fmt::format("has '{}' where a weight is needed, a number above 0 and at most {:.0f}", text, most_weight),
        "write it as in 1:10,16:1, ten products of one column for each of 16");
  }
  return weight;
}

}  // namespace

TokenCount parse_token_count(std::string_view text, const std::string& place) {
  const std::size_t sign = text.find(':');
  TokenCount count{.columns = parse_columns(text.substr(0, sign), place)};
  if (sign != text.npos) {
    count.weight = parse_weight(text.substr(sign + 1), place);
  }
  return count;
}

std::vector<TokenCount> parse_token_counts(const std::string& text) {
  const std::string place = "--bcol " + text;
  std::vector<TokenCount> counts;
  for (const std::string_view part : split(text, ',')) {
    const TokenCount count = parse_token_count(part, place);
    if (weight_of(count.columns, counts)) {
      throw UserError(place, fmt::format("has {} twice", count.columns), "give each number of columns once");
    }
    counts.push_back(count);
  }
  return counts;
}

bool is_weighted(const std::vector<TokenCount>& counts) {
  return std::ranges::any_of(counts, [](const TokenCount& count) { return count.weight != 1; });
}

std::optional<double> weight_of(std::int64_t columns, const std::vector<TokenCount>& counts) {
  const auto found = std::ranges::find(counts, columns, &TokenCount::columns);
  return found == counts.end() ? std::nullopt : std::optional(found->weight);
}

std::vector<std::int64_t> columns_in(const std::vector<TokenCount>& counts) {
  std::vector<std::int64_t> columns;
  std::ranges::transform(counts, std::back_inserter(columns), &TokenCount::columns);
  return columns;
}

std::string weights_text(const std::vector<TokenCount>& counts) {
  std::vector<std::string> products;
  std::ranges::transform(counts, std::back_inserter(products), [](const TokenCount& count) {
    return fmt::format("{:g} x N = {}", count.weight, count.columns);
  });
  return fmt::format("{}", fmt::join(products, ", "));
}

void refuse_weights(const std::vector<TokenCount>& counts, const std::string& place, const std::string& why) {
  if (is_weighted(counts)) {
    throw UserError(place, "has weights, which have nothing to weigh here: " + why,
                    fmt::format("leave them out: --bcol {}", fmt::join(columns_in(counts), ",")));
  }
}

}  // namespace esc

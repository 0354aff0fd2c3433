// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace esc {

/// The most that a weight may be.
inline constexpr double most_weight = 1e9;

/// A number of tokens that layers are multiplied with, and how often that is, beside the other numbers.
struct TokenCount {
  std::int64_t columns = 0;  ///< of B
  double weight = 1;
  bool operator==(const TokenCount&) const = default;
};

/// {1, 10} for "1:10", {16, 1} for "16". `place` is what messages name. Throws UserError for anything but a number of
/// columns that a kernel can be made for, with a weight above 0 after it if need be.
TokenCount parse_token_count(std::string_view text, const std::string& place);

/// {{1, 10}, {16, 1}} for "1:10,16". Throws UserError for anything but a list of different numbers of columns.
std::vector<TokenCount> parse_token_counts(const std::string& text);

/// Whether a weight is another than 1, which is as none.
bool is_weighted(const std::vector<TokenCount>& counts);

/// The weight of a number of columns; none where the list lacks it.
std::optional<double> weight_of(std::int64_t columns, const std::vector<TokenCount>& counts);

/// The numbers of columns alone.
std::vector<std::int64_t> columns_in(const std::vector<TokenCount>& counts);

/// "10 x N = 1, 1 x N = 16".
std::string weights_text(const std::vector<TokenCount>& counts);

/// Throws UserError for weights, which need a sum over numbers of columns to count in; `why` says why there is none.
void refuse_weights(const std::vector<TokenCount>& counts, const std::string& place, const std::string& why);

}  // namespace esc

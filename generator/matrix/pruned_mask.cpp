// SPDX-License-Identifier: Apache-2.0
#include "generator/matrix/pruned_mask.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <functional>
#include <vector>

#include "generator/matrix/drawn_value.h"
#include "generator/support/error.h"

namespace esc {
namespace {

__extension__ using Uint128 = unsigned __int128;

/// How far log-normal scales of rows and columns spread: the deviation of their logarithms, in thousandths.
struct Spread {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  /// Of so many columns one is an outlier, whose input is ten times as large; 0: none is.
  std::uint64_t columns_per_outlier = 0;
};

Spread spread_of(PruningRule rule) {
  switch (rule) {
    case PruningRule::wanda:
      return {.rows = 0, .columns = 600, .columns_per_outlier = 200};
    case PruningRule::sparsegpt:
      return {.rows = 150, .columns = 500};
    case PruningRule::magnitude:
      return {.rows = 350, .columns = 350};
  }
  ESC_CHECK(false, "every rule is handled above");
}

/// What a sequence of random bits is for.
enum class Purpose : std::uint64_t { row_scale = 11, column_scale, outlier, weight };

std::uint64_t bits_of(std::uint64_t seed, Purpose purpose, std::uint64_t position, std::uint64_t part) {
  constexpr std::uint64_t step = 0x9e3779b97f4a7c15U;
  return mix_bits(mix_bits(seed + step * static_cast<std::uint64_t>(purpose)) ^ mix_bits(3 * position + part + 1));
}

/// A normal number in units of 2^-16: twelve uniform ones added up (Irwin and Hall), so that no tail is longer than 6.
std::int64_t normal(std::uint64_t seed, Purpose purpose, std::uint64_t position) {
  std::int64_t sum = -6 * 65536 + 6;  // what is cut off of twelve numbers is 6 on average
  for (std::uint64_t part = 0; part < 3; ++part) {
    for (std::uint64_t bits = bits_of(seed, purpose, position, part), left = 4; left > 0; --left, bits >>= 16) {
      sum += static_cast<std::int64_t>(bits & 0xffff);
    }
  }
  return sum;
}

/// e^x in units of 2^-12, for an x in units of 2^-16 between -5 and 5.
std::uint64_t exponential(std::int64_t x) {
  constexpr std::int64_t log2_e = 94548;  // in units of 2^-16
  // 2^(2^-1), 2^(2^-2), ... in units of 2^-30
  constexpr std::uint64_t roots[] = {1518500250, 1276901417, 1170923762, 1121280436, 1097253708,
                                     1085434106, 1079572136, 1076653033, 1075196443, 1074468888};
  const std::int64_t power =
      ((x * log2_e) >> 16) + (std::int64_t{20} << 16);  // of 2, times 2^20, so that it is positive
  std::uint64_t mantissa = std::uint64_t{1} << 30;
  for (int place = 0; place < 10; ++place) {
    if ((power >> (15 - place) & 1) != 0) {
      mantissa = mantissa * roots[place] >> 30;
    }
  }
  const std::int64_t shift = (power >> 16) - 20;  // 2^-30 to 2^-12 is a shift by 18
  return std::max<std::uint64_t>(1, mantissa >> (18 - shift));
}

std::vector<std::uint64_t> scales(std::uint64_t seed, Purpose purpose, std::int64_t lines, std::int64_t thousandths) {
  std::vector<std::uint64_t> result(static_cast<std::size_t>(lines));
  for (std::size_t line = 0; line < result.size(); ++line) {
    result[line] = exponential(normal(seed, purpose, line) * thousandths / 1000);
  }
  return result;
}

/// What the positions are judged by: |w| with the scales of its row and column, below 2^54.
class Scores {
 public:
  Scores(const Spread& spread, std::int64_t rows, std::int64_t columns, std::uint64_t seed)
      : seed_(seed),
        columns_(static_cast<std::uint64_t>(columns)),
        row_scales_(scales(seed, Purpose::row_scale, rows, spread.rows)),
        column_scales_(scales(seed, Purpose::column_scale, columns, spread.columns)) {
    for (std::size_t column = 0; column < column_scales_.size() && spread.columns_per_outlier > 0; ++column) {
      if (bits_of(seed, Purpose::outlier, column, 0) % spread.columns_per_outlier == 0) {
        column_scales_[column] *= 10;
      }
    }
  }

  std::uint64_t at(std::int64_t row, std::int64_t column) const {
    const auto r = static_cast<std::uint64_t>(row);
    const auto c = static_cast<std::uint64_t>(column);
    const auto weight = static_cast<std::uint64_t>(std::abs(normal(seed_, Purpose::weight, r * columns_ + c)));
    return weight * row_scales_[r] * column_scales_[c];
  }

 private:
  std::uint64_t seed_;
  std::uint64_t columns_;
  std::vector<std::uint64_t> row_scales_;
  std::vector<std::uint64_t> column_scales_;
};

/// The positions that share a threshold.
struct Group {
  std::int64_t first_row, end_row, first_column, end_column;
  std::int64_t size() const { return (end_row - first_row) * (end_column - first_column); }
};

/// Rows and columns cut into groups, in the order of rows, then columns.
class Groups {
 public:
  Groups(PruningRule rule, std::int64_t rows, std::int64_t columns)
      : rows_(rows),
        columns_(columns),
        height_(rule == PruningRule::wanda ? 1 : rows),
        width_(rule == PruningRule::sparsegpt ? sparsegpt_columns : columns),
        across_((columns + width_ - 1) / width_) {}

  std::int64_t count() const { return rows_ / height_ * across_; }
  std::size_t index_of(std::int64_t row, std::int64_t column) const {
    return static_cast<std::size_t>(row / height_ * across_ + column / width_);
  }
  Group at(std::int64_t index) const {
    const std::int64_t row = index / across_ * height_;
    const std::int64_t column = index % across_ * width_;
    return {row, row + height_, column, std::min(column + width_, columns_)};
  }

 private:
  static constexpr std::int64_t sparsegpt_columns = 128;
  std::int64_t rows_, columns_, height_, width_, across_;
};

/// What is kept of a group: every score above `threshold`, and the first `equal` of those that are equal to it.
struct Cut {
  std::uint64_t threshold = 0;
  std::int64_t equal = 0;
};

template <typename Visit>
void for_each_score(const Scores& scores, const Group& group, const Visit& visit) {
  for (std::int64_t row = group.first_row; row < group.end_row; ++row) {
    for (std::int64_t column = group.first_column; column < group.end_column; ++column) {
      visit(scores.at(row, column));
    }
  }
}

/// Counts scores by their leading bits first, so that of a large group only those of one bucket are held.
Cut cut_of(const Scores& scores, const Group& group, std::int64_t kept) {
  constexpr std::int64_t most_held = std::int64_t{1} << 16;
  constexpr int bucket_shift = 28;  // typical scores are about 2^40
  const std::size_t buckets = group.size() > most_held ? std::size_t{1} << 16 : 1;
  const auto bucket_of = [&](std::uint64_t score) { return std::min<std::size_t>(score >> bucket_shift, buckets - 1); };
  if (kept == 0) {
    return {.threshold = ~std::uint64_t{0}};
  }
  std::size_t bucket = buckets - 1;
  std::int64_t wanted = kept;
  if (buckets > 1) {
    std::vector<std::int64_t> counts(buckets, 0);
    for_each_score(scores, group, [&](std::uint64_t score) { ++counts[bucket_of(score)]; });
    for (; counts[bucket] < wanted; --bucket) {
      wanted -= counts[bucket];
    }
  }
  std::vector<std::uint64_t> held;
  for_each_score(scores, group, [&](std::uint64_t score) {
    if (bucket_of(score) == bucket) {
      held.push_back(score);
    }
  });
  const auto last = held.begin() + (wanted - 1);
  std::nth_element(held.begin(), last, held.end(), std::greater<>());
  const std::uint64_t threshold = *last;
  const std::int64_t above =
      std::count_if(held.begin(), held.end(), [&](std::uint64_t score) { return score > threshold; });
  return {threshold, wanted - above};
}

}  // namespace

void draw_pruned_mask(PruningRule rule, std::int64_t rows, std::int64_t columns, std::int64_t kept, std::uint64_t seed,
                      const std::function<void(std::int64_t row, std::int64_t column)>& keep) {
  const Scores scores(spread_of(rule), rows, columns, seed);
  const Groups groups(rule, rows, columns);
  const Uint128 all = static_cast<Uint128>(rows) * static_cast<Uint128>(columns);
  // Rounding the running sum instead of each share keeps the total exact.
  std::vector<Cut> cuts;
  Uint128 positions = 0;
  std::int64_t given = 0;
  for (std::int64_t index = 0; index < groups.count(); ++index) {
    const Group group = groups.at(index);
    positions += static_cast<Uint128>(group.size());
    const auto upto = static_cast<std::int64_t>(static_cast<Uint128>(kept) * positions / all);
    cuts.push_back(cut_of(scores, group, upto - given));
    given = upto;
  }
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t column = 0; column < columns; ++column) {
      Cut& cut = cuts[groups.index_of(row, column)];
      const std::uint64_t score = scores.at(row, column);
      if (score > cut.threshold || (score == cut.threshold && cut.equal-- > 0)) {
        keep(row, column);
      }
    }
  }
}

}  // namespace esc

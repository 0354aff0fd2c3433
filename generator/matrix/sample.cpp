// SPDX-License-Identifier: Apache-2.0
#include "generator/matrix/sample.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "generator/matrix/csr_builder.h"
#include "generator/matrix/drawn_value.h"
#include "generator/matrix/pruned_mask.h"
#include "generator/support/error.h"

namespace esc {
namespace {

__extension__ using Uint128 = unsigned __int128;

constexpr std::int64_t block_size = 4;

constexpr std::array<std::pair<std::string_view, SampleStructure>, 8> structures{{
    {"uniform", SampleStructure::uniform},
    {"rows", SampleStructure::rows},
    {"columns", SampleStructure::columns},
    {"blocks", SampleStructure::blocks},
    {"powerlaw", SampleStructure::powerlaw},
    {"wanda", SampleStructure::wanda},
    {"sparsegpt", SampleStructure::sparsegpt},
    {"magnitude", SampleStructure::magnitude},
}};

/// What a sequence of random numbers is for: sequences of different purposes are independent of each other.
enum class Purpose : std::uint64_t { lengths = 1, positions = 2 };

/// A sequence of random numbers (splitmix64) that depends on nothing but its arguments.
class Random {
 public:
  Random(std::uint64_t seed, Purpose purpose, std::int64_t line = 0)
      : state_(mix_bits(mix_bits(seed + step) ^ mix_bits(static_cast<std::uint64_t>(purpose) * step) ^
                        mix_bits(static_cast<std::uint64_t>(line) + 1))) {}

  std::uint64_t next() { return mix_bits(state_ += step); }
  /// Uniform in [0, bound) for a bound below 2^32, up to a bias below 2^-32.
  std::int64_t below(std::int64_t bound) {
    return static_cast<std::int64_t>((static_cast<Uint128>(next()) * static_cast<std::uint64_t>(bound)) >> 64);
  }

 private:
  static constexpr std::uint64_t step = 0x9e3779b97f4a7c15U;
  std::uint64_t state_;
};

/// Sets `chosen` to `count` different numbers of [0, bound) in increasing order; every choice is equally likely.
void choose(Random& random, std::int64_t bound, std::int64_t count, std::vector<std::int32_t>& chosen) {
  chosen.clear();
  if (count > bound / 8) {  // looking at every number costs little more than the numbers that are kept
    for (std::int64_t number = 0; count > 0; ++number) {
      if (random.below(bound - number) < count) {
        chosen.push_back(static_cast<std::int32_t>(number));
        --count;
      }
    }
    return;
  }
  // Draws what is missing until nothing is drawn twice; cheap, because most of the range stays free.
  while (static_cast<std::int64_t>(chosen.size()) < count) {
    for (auto missing = count - static_cast<std::int64_t>(chosen.size()); missing > 0; --missing) {
      chosen.push_back(static_cast<std::int32_t>(random.below(bound)));
    }
    std::sort(chosen.begin(), chosen.end());
    chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
  }
}

/// The lengths of `lines` lines when `total` positions of a lines x capacity grid are chosen, every choice being
/// equally likely: positions are drawn one after another, and those that are taken already are drawn again.
std::vector<std::int64_t> uniform_lengths(Random random, std::int64_t lines, std::int64_t capacity,
                                          std::int64_t total) {
  const bool draws_zeros = total > lines * capacity - total;  // whichever there are fewer of
  std::vector<std::int64_t> lengths(static_cast<std::size_t>(lines), 0);
  for (std::int64_t left = draws_zeros ? lines * capacity - total : total; left > 0;) {
    auto& length = lengths[static_cast<std::size_t>(random.below(lines))];
    if (random.below(capacity) >= length) {
      ++length;
      --left;
    }
  }
  if (draws_zeros) {
    for (auto& length : lengths) {
      length = capacity - length;
    }
  }
  return lengths;
}

/// Parts `total` among lines in proportion to their weights (each positive, below 2^33); no line gets more than
/// `capacity`, and what it cannot take goes to the others. In whole numbers throughout, so that no rounding of floating
/// point differs between platforms.
std::vector<std::int64_t> share_out(std::int64_t total, const std::vector<std::uint64_t>& weights,
                                    std::int64_t capacity) {
  std::vector<std::int64_t> shares(weights.size(), 0);
  std::int64_t remaining = total;
  Uint128 weight_sum = std::accumulate(weights.begin(), weights.end(), Uint128{0});
  for (bool found = true; found;) {
    found = false;
    const auto to_share = static_cast<Uint128>(remaining);
    const Uint128 most = static_cast<Uint128>(capacity) * weight_sum;
    for (std::size_t line = 0; line < weights.size(); ++line) {
      if (shares[line] == 0 && to_share * weights[line] >= most && most > 0) {
        shares[line] = capacity;
        remaining -= capacity;
        weight_sum -= weights[line];
        found = true;
      }
    }
  }
  // Rounding the running sum instead of each share keeps the total exact.
  Uint128 running = 0;
  std::int64_t given = 0;
  for (std::size_t line = 0; line < weights.size(); ++line) {
    if (shares[line] == 0 && weight_sum > 0) {
      running += weights[line];
      const auto upto = static_cast<std::int64_t>(static_cast<Uint128>(remaining) * running / weight_sum);
      shares[line] = upto - given;
      given = upto;
    }
  }
  return shares;
}

std::vector<std::uint64_t> cubic_weights(Random random, std::int64_t lines) {
  std::vector<std::uint64_t> weights(static_cast<std::size_t>(lines));
  for (auto& weight : weights) {
    const std::uint64_t uniform = (random.next() >> 48) + 1;
    weight = ((uniform * uniform * uniform) >> 16) + 1;
  }
  return weights;
}

std::vector<std::uint64_t> power_law_weights(Random random, std::int64_t lines) {
  std::vector<std::uint64_t> weights(static_cast<std::size_t>(lines));
  for (std::size_t rank = 0; rank < weights.size(); ++rank) {
    weights[rank] = (std::uint64_t{1} << 32) / (rank + 1);
  }
  for (std::size_t last = weights.size() - 1; last > 0; --last) {
    std::swap(weights[last], weights[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(last) + 1))]);
  }
  return weights;
}

std::int64_t kept_of(double sparsity, std::int64_t positions) {
  return std::llround((1.0 - sparsity) * static_cast<double>(positions));
}

/// A matrix of no non-zeros yet, with room for those that are asked for.
SparseMatrix empty_matrix(const SampleOptions& options, std::int64_t nonzeros) {
  SparseMatrix matrix{options.rows, options.columns, {0}, {}, {}};
  matrix.offsets.reserve(static_cast<std::size_t>(options.rows) + 1);
  matrix.column_of.reserve(static_cast<std::size_t>(nonzeros));
  matrix.values.reserve(static_cast<std::size_t>(nonzeros));
  return matrix;
}

SparseMatrix fill_rows(const SampleOptions& options, const std::vector<std::int64_t>& lengths) {
  SparseMatrix matrix = empty_matrix(options, std::accumulate(lengths.begin(), lengths.end(), std::int64_t{0}));
  std::vector<std::int32_t> chosen;
  for (std::int64_t row = 0; row < options.rows; ++row) {
    Random random(options.seed, Purpose::positions, row);
    choose(random, options.columns, lengths[static_cast<std::size_t>(row)], chosen);
    for (const std::int32_t column : chosen) {
      matrix.column_of.push_back(column);
      matrix.values.push_back(drawn_value(options.seed, row, column));
    }
    matrix.offsets.push_back(matrix.nonzeros());
  }
  return matrix;
}

SparseMatrix fill_columns(const SampleOptions& options, const std::vector<std::int64_t>& lengths) {
  CsrBuilder builder(options.rows, options.columns, ScalarType::f32);
  std::vector<std::int32_t> chosen;
  const auto for_each_position = [&](const auto& visit) {
    for (std::int64_t column = 0; column < options.columns; ++column) {
      Random random(options.seed, Purpose::positions, column);
      choose(random, options.rows, lengths[static_cast<std::size_t>(column)], chosen);
      for (const std::int32_t row : chosen) {
        visit(row, column);
      }
    }
  };
  // The same positions are drawn twice, which takes less than keeping them.
  for_each_position([&](std::int64_t row, std::int64_t) { builder.count(row); });
  builder.start_placing();
  for_each_position([&](std::int64_t row, std::int64_t column) {
    ESC_CHECK(builder.place(row, column, drawn_value(options.seed, row, column)), "both draws give the same positions");
  });
  return std::move(builder).take();
}

SparseMatrix fill_blocks(const SampleOptions& options) {
  const std::int64_t block_rows = (options.rows + block_size - 1) / block_size;
  const std::int64_t block_columns = (options.columns + block_size - 1) / block_size;
  const std::int64_t kept = kept_of(options.sparsity, block_rows * block_columns);
  const auto lengths = uniform_lengths(Random(options.seed, Purpose::lengths), block_rows, block_columns, kept);
  SparseMatrix matrix = empty_matrix(options, std::min(kept * block_size * block_size, options.rows * options.columns));
  std::vector<std::int32_t> chosen;
  for (std::int64_t block_row = 0; block_row < block_rows; ++block_row) {
    Random random(options.seed, Purpose::positions, block_row);
    choose(random, block_columns, lengths[static_cast<std::size_t>(block_row)], chosen);
    const std::int64_t end_row = std::min((block_row + 1) * block_size, options.rows);
    for (std::int64_t row = block_row * block_size; row < end_row; ++row) {
      for (const std::int64_t block : chosen) {
        const std::int64_t end_column = std::min((block + 1) * block_size, options.columns);
        for (std::int64_t column = block * block_size; column < end_column; ++column) {
          matrix.column_of.push_back(static_cast<std::int32_t>(column));
          matrix.values.push_back(drawn_value(options.seed, row, column));
        }
      }
      matrix.offsets.push_back(matrix.nonzeros());
    }
  }
  return matrix;
}

SparseMatrix fill_pruned(const SampleOptions& options, PruningRule rule) {
  const std::int64_t kept = kept_of(options.sparsity, options.rows * options.columns);
  SparseMatrix matrix = empty_matrix(options, kept);
  const auto end_rows_before = [&](std::int64_t row) {
    while (static_cast<std::int64_t>(matrix.offsets.size()) <= row) {
      matrix.offsets.push_back(matrix.nonzeros());
    }
  };
  draw_pruned_mask(rule, options.rows, options.columns, kept, options.seed, [&](std::int64_t row, std::int64_t column) {
    end_rows_before(row);
    matrix.column_of.push_back(static_cast<std::int32_t>(column));
    matrix.values.push_back(drawn_value(options.seed, row, column));
  });
  end_rows_before(options.rows);
  return matrix;
}

void check_options(const SampleOptions& options) {
  for (const auto& [place, dimension] : {std::pair{"--rows", options.rows}, std::pair{"--cols", options.columns}}) {
    if (dimension < 1 || dimension > largest_dimension) {
      throw UserError(place, fmt::format("{} is outside 1 to 2^31 - 1", dimension), "choose a size in that range");
    }
  }
  if (!(options.sparsity >= 0.0 && options.sparsity <= 1.0)) {  // written so that NaN is refused too
    throw UserError("--sparsity", fmt::format("{} is outside 0 to 1", options.sparsity),
                    "give the share of zeros, such as 0.9 for 90 %");
  }
  if (const std::int64_t nonzeros = kept_of(options.sparsity, options.rows * options.columns);
      nonzeros > most_nonzeros) {
    throw UserError("--sparsity", fmt::format("{} non-zeros are more than 2^31 - 1", nonzeros),
                    "choose a smaller or a sparser matrix");
  }
}

}  // namespace

SampleStructure parse_sample_structure(std::string_view name) {
  std::string names;
  for (const auto& [known, structure] : structures) {
    if (known == name) {
      return structure;
    }
    names += names.empty() ? known : fmt::format(", {}", known);
  }
  throw UserError("--structure", fmt::format("'{}' is not a structure", name), "choose one of " + names);
}

SparseMatrix sample_matrix(const SampleOptions& options) {
  check_options(options);
  const std::int64_t nonzeros = kept_of(options.sparsity, options.rows * options.columns);
  const Random random(options.seed, Purpose::lengths);
  switch (options.structure) {
    case SampleStructure::uniform:
      return fill_rows(options, uniform_lengths(random, options.rows, options.columns, nonzeros));
    case SampleStructure::rows:
      return fill_rows(options, share_out(nonzeros, cubic_weights(random, options.rows), options.columns));
    case SampleStructure::powerlaw:
      return fill_rows(options, share_out(nonzeros, power_law_weights(random, options.rows), options.columns));
    case SampleStructure::columns:
      return fill_columns(options, share_out(nonzeros, cubic_weights(random, options.columns), options.rows));
    case SampleStructure::blocks:
      return fill_blocks(options);
    case SampleStructure::wanda:
      return fill_pruned(options, PruningRule::wanda);
    case SampleStructure::sparsegpt:
      return fill_pruned(options, PruningRule::sparsegpt);
    case SampleStructure::magnitude:
      return fill_pruned(options, PruningRule::magnitude);
  }
  ESC_CHECK(false, "every structure is handled above");
}

}  // namespace esc

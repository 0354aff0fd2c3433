// SPDX-License-Identifier: Apache-2.0
#include "tests/support/covering_sample.h"

#include <algorithm>
#include <cstdint>
#include <queue>
#include <tuple>

#include "generator/matrix/drawn_value.h"
#include "tests/support/run_size.h"

namespace esc::tests {
namespace {

/// Numbers the pairs of values of two keys.
class PairNumbers {
 public:
  explicit PairNumbers(const std::vector<std::vector<int>>& items) : values_(items.empty() ? 0 : items[0].size()) {
    for (std::size_t key = 0; key < values_.size(); ++key) {
      std::vector<int>& values = values_[key];
      for (const std::vector<int>& item : items) {
        values.push_back(item[key]);
      }
      std::ranges::sort(values);
      values.erase(std::unique(values.begin(), values.end()), values.end());
    }
  }

  /// The numbers of all pairs in an item.
  std::vector<std::size_t> of(const std::vector<int>& item) const {
    std::vector<std::size_t> numbers;
    std::size_t first = 0;
    for (std::size_t a = 0; a < item.size(); ++a) {
      for (std::size_t b = a + 1; b < item.size(); ++b) {
        numbers.push_back(first + place(a, item[a]) * values_[b].size() + place(b, item[b]));
        first += values_[a].size() * values_[b].size();
      }
    }
    return numbers;
  }

  std::size_t count() const {
    std::size_t count = 0;
    for (std::size_t a = 0; a < values_.size(); ++a) {
      for (std::size_t b = a + 1; b < values_.size(); ++b) {
        count += values_[a].size() * values_[b].size();
      }
    }
    return count;
  }

 private:
  std::size_t place(std::size_t key, int value) const {
    return static_cast<std::size_t>(std::ranges::lower_bound(values_[key], value) - values_[key].begin());
  }

  std::vector<std::vector<int>> values_;  ///< of each key, sorted
};

}  // namespace

/// Takes, again and again, an item with the most pairs that are not covered yet. What an item would add only shrinks,
/// so that most items need not be looked at again.
std::vector<std::size_t> covering_sample(const std::vector<std::vector<int>>& items) {
  const PairNumbers numbers(items);
  std::vector<bool> covered(numbers.count());
  const auto gain = [&](std::size_t item) {
    const std::vector<std::size_t> pairs = numbers.of(items[item]);
    return std::ranges::count_if(pairs, [&](std::size_t pair) { return !covered[pair]; });
  };
  // What an item would add at most, at first all its pairs; items that are equal in that are in an order without a
  // pattern, another one for each seed of the run.
  const std::uint64_t seed = seed_of_the_run() << 32;
  std::priority_queue<std::tuple<std::ptrdiff_t, std::uint64_t, std::size_t>> queue;
  for (std::size_t item = 0; item < items.size(); ++item) {
    queue.emplace(std::ssize(items[item]) * (std::ssize(items[item]) - 1) / 2, mix_bits(item + seed), item);
  }
  std::vector<std::size_t> chosen;
  while (!queue.empty()) {
    const auto [expected, order, item] = queue.top();
    queue.pop();
    const std::ptrdiff_t now = gain(item);
    if (now == expected && now > 0) {
      chosen.push_back(item);
      for (const std::size_t pair : numbers.of(items[item])) {
        covered[pair] = true;
      }
    } else if (now > 0) {
      queue.emplace(now, order, item);
    }
  }
  std::ranges::sort(chosen);
  return chosen;
}

}  // namespace esc::tests

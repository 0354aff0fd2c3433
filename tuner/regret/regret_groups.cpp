// SPDX-License-Identifier: Apache-2.0
#include "tuner/regret/regret_groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "generator/support/closest_word.h"
#include "generator/support/error.h"
#include "generator/support/means.h"

namespace esc::tuning {
namespace {

/// A value with what it is ordered by, before its text.
using OrderedValue = std::pair<std::int64_t, std::string>;
using Key = std::vector<OrderedValue>;

/// The least even exponent to base 2 of a number that the elements of A do not exceed.
std::int64_t size_exponent(const LayerShape& shape) {
  return 2 * static_cast<std::int64_t>(std::ceil(std::log2(shape.elements()) / 2));
}

OrderedValue ordered_value(const MeasuredItem& item, Dimension dimension) {
  const LayerShape& shape = item.shape;
  switch (dimension) {
    case Dimension::type:
      return {0, shape.dtype};
    case Dimension::layout:
      return {0, shape.layout};
    case Dimension::device:
      return {0, print(item.work.device)};
    case Dimension::columns:
      return {shape.bcol, fmt::format("{}", shape.bcol)};
    case Dimension::size:
      return {size_exponent(shape), fmt::format("2^{}", size_exponent(shape))};
    case Dimension::family:
      break;
  }
  return {0, family(item.schedules[item.best].schedule)};
}

/// The values that every product of a dimension has to be measured for; none where that depends on the journals.
std::vector<OrderedValue> expected_values(Dimension dimension) {
  switch (dimension) {
    case Dimension::type:
      return {{0, "bf16"}, {0, "f16"}, {0, "f32"}, {0, "f64"}, {0, "tf32"}};
    case Dimension::layout:
      return {{0, "kn"}, {0, "nk"}};
    case Dimension::columns:
      return {{1, "1"}, {2, "2"}, {4, "4"}, {8, "8"}, {16, "16"}, {32, "32"}, {64, "64"}, {128, "128"}, {256, "256"}};
    default:
      return {};
  }
}

/// The keys of all combinations of expected values.
std::vector<Key> expected_keys(const std::vector<Dimension>& dimensions) {
  std::vector<Key> keys{{}};
  for (const Dimension dimension : dimensions) {
    std::vector<Key> longer;
    for (const Key& key : keys) {
      for (const OrderedValue& value : expected_values(dimension)) {
        longer.push_back(key);
        longer.back().push_back(value);
      }
    }
    keys = std::move(longer);
  }
  return keys;
}

std::string describe(const Judgement& judgement) {
  const MeasuredItem& item = *judgement.item;
  return fmt::format("{} x {} with {} non-zeros, {} columns, {}: {} instead of {}", item.shape.rows, item.shape.columns,
                     item.shape.nonzeros, item.shape.bcol, item.journal,
                     print(item.schedules[*judgement.chosen.measured].schedule),
                     print(item.schedules[item.best].schedule));
}

RegretGroup summary(const std::vector<const Judgement*>& judgements) {
  RegretGroup group{.key = {}, .items = static_cast<int>(judgements.size())};
  std::vector<double> ratios;
  std::vector<double> measured_ratios;
  for (const Judgement* const judgement : judgements) {
    const bool is_measured = judgement->chosen.is_measured(*judgement->item);
    group.not_measured += is_measured ? 0 : 1;
    if (is_measured) {
      measured_ratios.push_back(*judgement->ratio());
    }
    if (const std::optional<double> ratio = judgement->ratio()) {
      ratios.push_back(*ratio);
      if (!group.worst || *ratio > *group.worst) {
        group.worst = ratio;
        group.worst_item = describe(*judgement);
      }
    }
  }
  group.judged = static_cast<int>(ratios.size());
  group.mean = geometric_mean(ratios);
  group.measured_mean = geometric_mean(measured_ratios);
  group.percentile_90 = quantile(ratios, 0.9);
  return group;
}

}  // namespace

std::optional<double> Judgement::ratio() const {
  return chosen.measured ? std::optional(item->ratio(*chosen.measured)) : std::nullopt;
}

std::vector<Judgement> judge(const std::vector<MeasuredItem>& items, const Chooser& chooser) {
  std::vector<Judgement> judgements;
  judgements.reserve(items.size());
  for (const MeasuredItem& item : items) {
    judgements.push_back({&item, chooser.choose(item)});
  }
  return judgements;
}

std::string print(Dimension dimension) {
  switch (dimension) {
    case Dimension::type:
      return "type";
    case Dimension::layout:
      return "layout";
    case Dimension::device:
      return "device";
    case Dimension::columns:
      return "columns";
    case Dimension::size:
      return "size";
    case Dimension::family:
      break;
  }
  return "family";
}

Dimension parse_dimension(const std::string& word) {
  std::vector<std::string> known;
  for (const Dimension dimension : every_dimension) {
    known.push_back(print(dimension));
    if (word == known.back()) {
      return dimension;
    }
  }
  throw UserError("--by " + word, "is nothing that products are grouped by",
                  fmt::format("{}name some of {}", did_you_mean(word, known), fmt::join(known, ", ")));
}

std::string value_of(const MeasuredItem& item, Dimension dimension) { return ordered_value(item, dimension).second; }

std::vector<RegretGroup> group(const std::vector<Judgement>& judgements, const std::vector<Dimension>& dimensions) {
  std::map<Key, std::vector<const Judgement*>> members;
  for (Key& key : expected_keys(dimensions)) {
    members.try_emplace(std::move(key));
  }
  for (const Judgement& judgement : judgements) {
    Key key;
    for (const Dimension dimension : dimensions) {
      key.push_back(ordered_value(*judgement.item, dimension));
    }
    members[key].push_back(&judgement);
  }
  std::vector<RegretGroup> groups;
  for (const auto& [key, of_key] : members) {
    RegretGroup& one = groups.emplace_back(summary(of_key));
    for (const OrderedValue& value : key) {
      one.key.push_back(value.second);
    }
  }
  return groups;
}

}  // namespace esc::tuning

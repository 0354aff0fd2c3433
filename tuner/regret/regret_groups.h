// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "tuner/regret/choosers.h"

namespace esc::tuning {

/// What a chooser takes for one item.
struct Judgement {
  const MeasuredItem* item = nullptr;
  Chosen chosen;

  /// The time of what was chosen among the measured schedules over that of the best one; absent where there is none.
  std::optional<double> ratio() const;
};

/// Of each item what the chooser takes for it, in their order.
std::vector<Judgement> judge(const std::vector<MeasuredItem>& items, const Chooser& chooser);

/// What items are grouped by.
enum class Dimension { type, layout, device, columns, size, family };
inline constexpr std::array every_dimension{Dimension::type,    Dimension::layout, Dimension::device,
                                            Dimension::columns, Dimension::size,   Dimension::family};

/// "type", "layout", "device", "columns", "size", "family".
std::string print(Dimension dimension);
/// Throws UserError for another word.
Dimension parse_dimension(const std::string& word);

/// The group of an item: "f32", "kn", "sm90-132sm-60mib", "64", "2^22" (elements of A, at most so many) or the family
/// of the schedule that is the best one.
std::string value_of(const MeasuredItem& item, Dimension dimension);

/// What a chooser loses on the items of a group. Ratios are as of `Judgement`.
struct RegretGroup {
  std::vector<std::string> key;  ///< a value for each dimension
  int items = 0;
  int not_measured = 0;             ///< of which what is taken freely was not measured
  int judged = 0;                   ///< of which something that was measured would be taken
  std::optional<double> mean = {};  ///< geometric; this and what follows is of those that are judged
  std::optional<double> percentile_90 = {};
  std::optional<double> worst = {};
  std::string worst_item = {};  ///< which that is, what was chosen and what is best
  /// The geometric mean of those alone of which what is taken freely was measured.
  std::optional<double> measured_mean = {};
};

/// The groups of judgements, by key: numbers in ascending order. Where all dimensions are types, layouts and columns,
/// also those of which there is no item, of layouts kn and nk and of 1 to 256 columns: nobody knows what is lost there.
std::vector<RegretGroup> group(const std::vector<Judgement>& judgements, const std::vector<Dimension>& dimensions);

}  // namespace esc::tuning

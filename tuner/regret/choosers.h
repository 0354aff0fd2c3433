// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "generator/schedule/database_files.h"
#include "tuner/regret/measured_items.h"

namespace esc::tuning {

/// What a chooser says of an item.
struct Chosen {
  Schedule free = {};  ///< what it takes
  std::optional<std::size_t> measured =
      {};  ///< the place of what it would take among what was measured; absent: of none

  bool is_measured(const MeasuredItem& item) const { return measured && item.schedules[*measured].schedule == free; }
};

/// A way to choose the schedule of a layer.
class Chooser {
 public:
  virtual ~Chooser() = default;
  virtual std::string name() const = 0;
  virtual Chosen choose(const MeasuredItem& item) const = 0;
};

/// `--schedule auto`, for the device of the item.
std::unique_ptr<Chooser> auto_chooser();

/// The same without what the databases have of the layer's pattern. Which layers a class of theirs was made of they do
/// not say, so that the layer's own class is left out as a whole. Constants of rules stay, whatever they were fitted
/// to.
std::unique_ptr<Chooser> left_out_chooser();

/// `--schedule auto` with what a user has measured laid over what the program knows.
std::unique_ptr<Chooser> database_chooser(UserMeasurements own);

/// The database without what it has of a layer's pattern and of its class, for any number of columns.
ScheduleDatabase without_layer(const ScheduleDatabase& database, const LayerShape& shape);

}  // namespace esc::tuning

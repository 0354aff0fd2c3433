// SPDX-License-Identifier: Apache-2.0
#include "tuner/regret/choosers.h"

#include <algorithm>
#include <utility>

#include "generator/schedule/scheduler.h"
#include "generator/schedule/target.h"

namespace esc::tuning {
namespace {

using Databases = std::vector<ScheduleDatabase>;

Chosen first_of(const std::vector<ScheduleChoice>& ranking, const MeasuredItem& item) {
  Chosen chosen{.free = ranking.front().schedule, .measured = {}};
  for (const ScheduleChoice& choice : ranking) {
    if ((chosen.measured = item.place_of(choice.schedule))) {
      break;
    }
  }
  return chosen;
}

Chosen choose_by(const std::vector<const Databases*>& sources, const MeasuredItem& item, std::string_view left_out = {},
                 const DeviceCatalog& catalog = shipped_catalog()) {
  return first_of(ranked_schedules(item.shape, databases_for(item.shape, item.work.device, sources),
                                   kernel_target(item.work.device, {}), catalog.model(item.work.device), left_out),
                  item);
}

class AutoChooser : public Chooser {
 public:
  std::string name() const override { return "auto"; }
  Chosen choose(const MeasuredItem& item) const override { return choose_by({&shipped_databases()}, item); }
};

class LeftOutChooser : public Chooser {
 public:
  std::string name() const override { return "left-out"; }
  Chosen choose(const MeasuredItem& item) const override {
    Databases others;
    for (const ScheduleDatabase* const database : databases_for(item.shape, item.work.device, {&shipped_databases()})) {
      others.push_back(without_layer(*database, item.shape));
    }
    return choose_by({&others}, item, item.shape.pattern);
  }
};

class DatabaseChooser : public Chooser {
 public:
  explicit DatabaseChooser(UserMeasurements own) : own_(std::move(own)) {}
  std::string name() const override { return "database"; }
  Chosen choose(const MeasuredItem& item) const override {
    return choose_by({&own_.databases, &shipped_databases()}, item, {}, *own_.catalog);
  }

 private:
  UserMeasurements own_;
};

/// Whether two classes are of the same layers, with any number of columns of B.
bool are_of_same_layers(LayerClass a, const LayerClass& b) {
  a.bcol = b.bcol;
  return a == b;
}

}  // namespace

std::unique_ptr<Chooser> auto_chooser() { return std::make_unique<AutoChooser>(); }

std::unique_ptr<Chooser> left_out_chooser() { return std::make_unique<LeftOutChooser>(); }

std::unique_ptr<Chooser> database_chooser(UserMeasurements own) {
  return std::make_unique<DatabaseChooser>(std::move(own));
}

ScheduleDatabase without_layer(const ScheduleDatabase& database, const LayerShape& shape) {
  DatabaseEntries entries{database.candidates(), database.classes(), database.layers(), database.defaults()};
  const LayerClass own = class_of(shape);
  std::erase_if(entries.classes, [&](const ClassEntry& entry) { return are_of_same_layers(own, entry.layers); });
  std::erase_if(entries.layers, [&](const LayerEntry& entry) { return shape.pattern.starts_with(entry.pattern); });
  return database.with_entries(std::move(entries));
}

}  // namespace esc::tuning

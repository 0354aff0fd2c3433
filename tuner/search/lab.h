// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "generator/ir/loop_nest.h"
#include "generator/matrix/sparse_matrix.h"
#include "generator/schedule/schedule.h"
#include "tuner/records/device_rates.h"
#include "tuner/records/record.h"
#include "tuner/search/measurement.h"
#include "tuner/search/stop_rule.h"

namespace esc::tuning {

/// What an item's kernels compute.
struct ItemProduct {
  std::shared_ptr<const SparseMatrix> matrix;
  std::shared_ptr<const LoopNest> nest;
};

/// The device that a tuner measures on, or a record of one. Every result was compared with float64 before its time
/// counts. What fails is an outcome; only what makes further work impossible throws (UserError).
class Lab {
 public:
  virtual ~Lab() = default;

  virtual DeviceKey device() = 0;
  virtual Environment environment() = 0;

  /// What the device does in a second, by microbenchmarks that take some seconds. No item is open after it.
  virtual DeviceRates measure_rates() = 0;

  /// Turns to an item; everything below is about it. `candidates` will be measured, most likely in this order, so that
  /// they can be prepared ahead.
  virtual void open(const WorkItem& item, const ItemProduct& product, const std::vector<Schedule>& candidates) = 0;
  /// The libraries at their best: one measurement each.
  virtual std::vector<Measurement> measure_peers() = 0;
  /// A candidate, by plain edges.
  virtual Measurement measure(const Schedule& schedule, const StopRule& rule) = 0;

  /// Builds some candidates as a bundle is built, checks them again and makes them ready for `run_round`: their
  /// measurements, without samples. Those that are not ok take no part.
  virtual std::vector<Measurement> prepare_finalists(const std::vector<Schedule>& finalists) = 0;
  /// One time (microseconds of a launch) of each finalist that is ok, one right after the other; empty when a finalist
  /// fails.
  virtual std::vector<double> run_round(Edge edge) = 0;
};

}  // namespace esc::tuning

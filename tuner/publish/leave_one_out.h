// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>

#include "tuner/publish/loss_table.h"

namespace esc::tuning {

/// What layers lose by the database when the database does not know them: times of the schedules that it gives over
/// those of their best ones, for one bCol.
struct LeaveOneOut {
  int layers = 0;  ///< whose loss is known
  int not_measured =
      0;            ///< layers for which the database gives a schedule that was not measured, or not right, on them
  double mean = 1;  ///< geometric; this and what follows is of the layers whose loss is known
  double median = 1;
  double percentile_90 = 1;
  double worst = 1;
  double estimated_mean = 1;  ///< of all layers, with `ItemLosses::estimate` for the others
};

/// Each pattern in turn is left out, at every bCol, a database is made of the others, portfolio included, and the
/// pattern's layers are looked up in it by `choose_schedule`. By bCol.
std::map<long long, LeaveOneOut> leave_one_out(const MeasuredDevice& device);

}  // namespace esc::tuning

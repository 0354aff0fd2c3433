// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "tuner/publish/loss_table.h"

namespace esc::tuning {

/// The schedules of a table, by their places, among which each layer gets its own; the most useful ones first. Each
/// next one makes the mean over all items of the least loss within the portfolio as small as one schedule can, the
/// first by text among equals; what was not measured counts as `ItemLosses::estimate` says. There are at most `most`,
/// and none that gains nothing or was right on no item. Empty for a table without items.
std::vector<std::size_t> choose_portfolio(const LossTable& table, std::size_t most = 32);

}  // namespace esc::tuning

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "tuner/publish/loss_table.h"

namespace esc::tuning {

/// The class entries of a table: for each class with items the geometric mean over them of what each schedule of the
/// portfolio loses, rounded as the database's text has it. What was not measured on an item counts as
/// `ItemLosses::estimate` says, and marks the loss as estimated.
std::vector<ClassEntry> class_entries(const LossTable& table, const std::vector<std::size_t>& portfolio);

}  // namespace esc::tuning

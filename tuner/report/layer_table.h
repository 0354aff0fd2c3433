// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "tuner/records/item_results.h"

namespace esc::tuning {

/// What is known of one item, in Markdown that also reads well on a terminal: the best ten candidates, what the
/// libraries take, the bytes that are moved and which limit binds by the model, and in words which product to use.
std::string layer_table(const ItemResults& results);

}  // namespace esc::tuning

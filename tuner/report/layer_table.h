// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "tuner/records/item_results.h"

namespace esc::tuning {

/// The winner of one item and what it beats, in labelled lines.
std::string layer_answer(const ItemResults& results);

/// How that was found, in Markdown that also reads well on a terminal: the best ten candidates, what the libraries
/// take, the bytes that are moved and which limit binds by the model.
std::string layer_tables(const ItemResults& results);

}  // namespace esc::tuning

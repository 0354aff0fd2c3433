// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "generator/report/table.h"
#include "tuner/records/item_results.h"

namespace esc::tuning {

/// The kernels of an item that were right, at most `most` of them: the finalists by their final times, then the others
/// by their times of the search.
Table candidate_table(const ItemResults& results, std::size_t most);

/// What the libraries take for an item, and which of their algorithms was the fastest.
Table library_table(const ItemResults& results);

}  // namespace esc::tuning

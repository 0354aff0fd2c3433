// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "generator/schedule/product_columns.h"
#include "generator/schedule/schedule.h"

namespace esc {

/// The schedule nearest to this one that is legal for the columns: narrower tiles and vectors, and what follows of
/// groups, row tiles and threads.
Schedule fitted(const Schedule& schedule, const ProductColumns& columns);

}  // namespace esc

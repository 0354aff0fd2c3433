// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "generator/matrix/byte_source.h"
#include "generator/matrix/read_options.h"
#include "generator/matrix/sparse_matrix.h"

namespace esc {

/// Reads a Matrix Market file: `coordinate` (entries in any order, counted from 1) or `array` (every entry, column by
/// column); `real`, `integer` or, for coordinates, `pattern` (values drawn from `options.seed`, see `drawn_value`);
/// `general` or `symmetric` (one triangle is given and mirrored). Zeros that are written out are dropped; an entry that
/// is given twice is refused. Throws UserError with the line when the text breaks a rule.
SparseMatrix read_mtx(ByteSource& source, const ReadOptions& options = {});

}  // namespace esc

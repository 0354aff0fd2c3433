// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "generator/matrix/byte_source.h"
#include "generator/matrix/read_options.h"
#include "generator/matrix/sparse_matrix.h"

namespace esc {

/// Reads the text format of the Deep Learning Matrix Collection, which holds a pattern and no values:
///
///     rows, columns, nonzeros
///     rows + 1 offsets
///     nonzeros column indices, from 0, increasing within a row
///
/// Values are drawn from `options.seed`, see `drawn_value`. Throws UserError with the line when the text breaks a rule.
SparseMatrix read_smtx(ByteSource& source, const ReadOptions& options = {});

}  // namespace esc

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rapidcheck.h>

#include <ostream>

#include "generator/matrix/sparse_matrix.h"
#include "generator/schedule/schedule.h"
#include "generator/verify/product_case.h"

namespace esc::tests {

/// A matrix of at most `most` rows and columns, awkward more often than not: sizes 1, prime or a power of two, empty
/// and full rows, densities from none to all, a third of them in float64. Shrinks towards a small, empty matrix.
rc::Gen<SparseMatrix> awkward_matrix(std::int64_t most);

/// A matrix of a few rows with more columns than 16 bits count, and few non-zeros in each row, often in the last
/// columns.
rc::Gen<SparseMatrix> wide_matrix();

/// The same of numbers of 16 bits, a third of them bf16.
rc::Gen<SparseMatrix> awkward_half_matrix(std::int64_t most);
rc::Gen<SparseMatrix> wide_half_matrix();

/// The same of numbers of 32 bits, which family stream takes, half of them tf32.
rc::Gen<SparseMatrix> awkward_streamed_matrix(std::int64_t most);
rc::Gen<SparseMatrix> wide_streamed_matrix();

/// A matrix of such numbers: of one to three K tiles of columns, the last one often in part.
rc::Gen<SparseMatrix> windowed_matrix(std::int64_t most_rows);

/// A matrix as windowed_matrix has them, with many row tiles of few non-zeros, one of which has nearly all of a K tile:
/// it takes several rounds.
rc::Gen<SparseMatrix> bursting_matrix();

/// A schedule of family atomic that is legal for bCol.
rc::Gen<AtomicSchedule> legal_schedule(std::int64_t bcol);

/// A schedule of family panel that is legal for bCol. Shrinks towards small blocks.
rc::Gen<PanelSchedule> legal_panel_schedule(std::int64_t bcol);

/// A schedule of family rows that is legal for bCol, often with tasks that are short enough to split rows of small
/// matrices. Shrinks towards small blocks and tasks.
rc::Gen<RowsSchedule> legal_rows_schedule(std::int64_t bcol);

/// A schedule of family stream that is legal for bCol and the matrix, whatever room its stages take. One of ten places
/// values, unless there are too many K tiles of a few columns to go through.
rc::Gen<StreamSchedule> legal_stream_schedule(std::int64_t bcol, const SparseMatrix& matrix);

/// A number of columns of B: 1 to `most`, often 1, a multiple of 32 or one beside it. At most 257.
rc::Gen<std::int64_t> awkward_bcol(std::int64_t most);

/// A product that a kernel made for bCol may be asked for: often just that one, else fewer, as many or more columns,
/// with and without gaps between the rows of B and of C; both up to 3 floats after an aligned address.
rc::Gen<ProductCase> product_case(std::int64_t bcol);
/// The same of numbers of 16 bits, of which 8 are as wide as 4 floats: both up to 7 after an aligned address, often at
/// one.
rc::Gen<ProductCase> half_product_case(std::int64_t bcol);

}  // namespace esc::tests

namespace esc {

/// How a failing case prints a matrix: its sizes and rows.
inline void showValue(const SparseMatrix& matrix, std::ostream& stream) {
  stream << matrix.rows << " x " << matrix.columns << " with columns per row:";
  for (std::int64_t row = 0; row < matrix.rows; ++row) {
    stream << (row == 0 ? " [" : "; ");
    for (std::int64_t entry = matrix.offsets[static_cast<std::size_t>(row)];
         entry < matrix.offsets[static_cast<std::size_t>(row) + 1]; ++entry) {
      stream << matrix.column_of[static_cast<std::size_t>(entry)] << ' ';
    }
  }
  stream << ']';
}

inline void showValue(const AtomicSchedule& schedule, std::ostream& stream) { stream << print(Schedule(schedule)); }

inline void showValue(const PanelSchedule& schedule, std::ostream& stream) { stream << print(Schedule(schedule)); }

inline void showValue(const RowsSchedule& schedule, std::ostream& stream) { stream << print(Schedule(schedule)); }

inline void showValue(const StreamSchedule& schedule, std::ostream& stream) { stream << print(Schedule(schedule)); }

inline void showValue(const ProductCase& product, std::ostream& stream) { stream << print(product); }

}  // namespace esc

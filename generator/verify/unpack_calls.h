// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "generator/matrix/sparse_matrix.h"
#include "generator/matrix/typed_elements.h"
#include "generator/verify/kernel_calls.h"

namespace esc {

// NAME_unpack, told as a call that computes A in place of C: its n are the columns of A, its ldc is lda, and its
// shift_c is where A begins.

/// The calls by which it is judged: A in one piece, with gaps between its rows, and where no two elements can be stored
/// at once; on all kinds of devices. None where there is no such function.
std::vector<KernelCall> unpack_calls(const Dispatch& dispatch, std::int64_t columns);

/// "unpacking with lda 603, shift 1".
std::string print_unpacking(const KernelCall& call);

/// The first element that is not, to the bit, that of the matrix: "A[3][5] is 2, not 0"; empty where there is none.
/// `found` has the rows of A for which `compared` is set, all where it is empty, without gaps.
std::string wrong_element_of_a(const SparseMatrix& matrix, const TypedElements& found,
                               const std::vector<bool>& compared = {});

}  // namespace esc

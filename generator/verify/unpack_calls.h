// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "generator/matrix/sparse_matrix.h"
#include "generator/matrix/typed_elements.h"
#include "generator/verify/c_call.h"
#include "generator/verify/kernel_calls.h"

namespace esc {

// NAME_unpack and NAME_values, told as calls that compute A, or the packed matrix, in place of C: n are the columns of
// A, ldc is lda, and shift_c is where A begins.

/// The calls by which each is judged: A in one piece, with gaps between its rows, and where no two elements can be
/// moved at once; on all kinds of devices. None where there are no such functions.
std::vector<KernelCall> unpack_calls(const Dispatch& dispatch, std::int64_t columns);

/// "unpacking with lda 603, shift 1".
std::string print_unpacking(const KernelCall& call, UnpackFunction function = UnpackFunction::unpack);

/// The first element that is not, to the bit, that of the matrix: "A[3][5] is 2, not 0"; empty where there is none.
/// `found` has the rows of A for which `compared` is set, all where it is empty, without gaps.
std::string wrong_element_of_a(const SparseMatrix& matrix, const TypedElements& found,
                               const std::vector<bool>& compared = {});

/// What NAME_values is given: the rows of the matrix for which `compared` is set, all where it is empty, without gaps,
/// and poison where `packed`, of the same pattern, stores nothing, as nobody is to look there.
TypedElements values_to_take(const SparseMatrix& matrix, std::span<const std::byte> packed,
                             const std::vector<bool>& compared = {});

/// The first byte after the header in which what NAME_values has made of the packed matrix `before` is not the one of
/// the other values: "byte 600 of the packed matrix is 3, not 5"; empty where there is none. Where row tiles have no
/// rows for which `compared` is set, `before` must have stayed.
std::string wrong_byte_of_packed(std::span<const std::byte> before, std::span<const std::byte> of_values,
                                 std::span<const std::byte> found, const std::vector<bool>& compared = {});

}  // namespace esc

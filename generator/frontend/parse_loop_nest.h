// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "generator/frontend/given_sizes.h"
#include "generator/frontend/nest_headers.h"
#include "generator/ir/loop_nest.h"

namespace esc {

/// Reads the input program: C or C++ text with one function that is a sparse-dense product, C[i][j] += A[i][k] *
/// B[k][j] where i, j and k may be several loops each, and what becomes of each sum. The nest comes back as written:
/// the function's own names, its loop order, its guards, and the rest as the epilogue that lower/find_epilogue finds.
/// `file_name` tells the language (.c: C17; .cpp, .cc, .cu: C++20), is where relative includes start, and is what
/// errors name; the file itself is not read. Parameters whose sizes are given are numbers in the nest. Accepted is what
/// means the same: any names, any order of the loops and factors, arrays of any dimensions, pointers and flat
/// subscripts of matrices (A[i * K + k]), subscripts of factors that are sums of iterators times numbers, guards at any
/// level or none: on zeros (A[i][k], A[i][k] != 0, if (!A[i][k]) continue) and on the bounds of an index (h >= 0 && h <
/// H), constants in place of sizes, constant locals, a local that gathers the sum, C or that local set
/// to 0 or anything else beforehand, and after the sum any assignments to C and to locals (=, +=, -=, *=, /=), in the
/// same loops or in others over all of C, of the values that read_value.h lists: a number, a vector of rows or of
/// columns, or a matrix like C may go into them. Throws UserError with Clang's rendering of the first fault
/// (file:line:column, the source line, a caret) when the text is not valid, and when it is anything but such a product;
/// with the option as its place where the sizes are not those of the function.
/// No other file of this machine can be included (header_files.h).
LoopNest parse_loop_nest(std::string_view source_text, const std::string& file_name,
                         NestHeaders headers = NestHeaders::beside, const GivenSizes& sizes = {});

/// The same before any question about the product: without roles, and with every statement where the function has
/// it.
LoopNest parse_as_written(std::string_view source_text, const std::string& file_name,
                          NestHeaders headers = NestHeaders::beside, const GivenSizes& sizes = {});

}  // namespace esc

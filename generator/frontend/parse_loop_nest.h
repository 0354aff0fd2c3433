#pragma once

#include <string>
#include <string_view>

#include "generator/frontend/nest_headers.h"
#include "generator/ir/loop_nest.h"

namespace esc {

/// Reads the input program: C or C++ text with one function that is a sparse-dense product in three loops,
/// C[i][j] += A[i][k] * B[k][j], and what becomes of each sum. The nest comes back as written: the function's own names, its
/// loop order, its guard, and the rest as the epilogue that lower/find_epilogue finds.
/// `file_name` tells the language (.c: C17; .cpp, .cc, .cu: C++20), is where relative includes start, and is what
/// errors name; the file itself is not read. Accepted is what means the same: any names, any order of the loops and
/// factors, guards at any level or none (A[i][k], A[i][k] != 0, if (!A[i][k]) continue), arrays, pointers and flat
/// subscripts (A[i * K + k]), constants in place of sizes, constant locals, a local that gathers the sum, C or that local set
/// to 0 or anything else beforehand, and behind the sum any assignments to C and to locals (=, +=, -=, *=, /=), in the
/// same loops or in others over all of C, of the values that read_value.h lists: a number, a vector of rows or of columns, or
/// a matrix like C may go into them. Throws UserError with Clang's rendering of the first fault (file:line:column, the source
/// line, a caret) when the text is not valid, and when it is anything but such a product.
/// No other file of this machine can be included (header_files.h).
LoopNest parse_loop_nest(std::string_view source_text, const std::string& file_name,
                         NestHeaders headers = NestHeaders::beside);

}  // namespace esc

#pragma once

#include <string>
#include <string_view>

#include "generator/frontend/nest_headers.h"
#include "generator/ir/loop_nest.h"

namespace esc {

/// Reads the input program: C or C++ text with one function that is a sparse-dense product in three loops,
/// C[i][j] += A[i][k] * B[k][j]. The nest comes back as written: the function's own names, its loop order, its guard.
/// `file_name` tells the language (.c: C17; .cpp, .cc, .cu: C++20), is where relative includes start, and is what
/// errors name; the file itself is not read. Accepted is what means the same: any names, any order of the loops and
/// factors, guards at any level or none (A[i][k], A[i][k] != 0, if (!A[i][k]) continue), arrays, pointers and flat
/// subscripts (A[i * K + k]), constants in place of sizes, constant locals, a local that gathers the sum, C set to 0
/// beforehand. Throws UserError with Clang's rendering of the first fault (file:line:column, the source line, a caret)
/// when the text is not valid, and when it is anything but such a product.
/// No other file of this machine can be included (header_files.h).
LoopNest parse_loop_nest(std::string_view source_text, const std::string& file_name,
                         NestHeaders headers = NestHeaders::beside);

}  // namespace esc

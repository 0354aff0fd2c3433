// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace esc {

/// Whether a name has the form of those that a text may have of its own beside the generated ones: lower case, as
/// `rows_left`, or as types are called, as `PieceOfRow` or `T`. No header has macros of its own of that form but those
/// that `is_taken` knows.
bool has_own_form(std::string_view name);

/// Whether the name is a macro, or is declared in the global namespace, in a header that nvcc or g++ read for a bundle,
/// or is a word of the language: header_names.txt, which scripts/header_names.py writes.
bool is_taken(std::string_view name);

}  // namespace esc

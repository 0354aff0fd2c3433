// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace esc {

/// To be called first by every program: without standard input, output or error, the next file that is opened would be
/// taken for it, and be written into. What is missing is opened on /dev/null: input and error to read nothing and to
/// lose what is said, output so that writing fails, because results that nobody gets are an error.
void open_missing_standard_streams();

/// Says something on standard error. What cannot be written is lost: no run fails because nobody can listen.
void write_to_standard_error(std::string_view text) noexcept;

}  // namespace esc

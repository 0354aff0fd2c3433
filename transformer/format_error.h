// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <utility>

namespace esc::transformer {

/// Bytes that are not a packed matrix. The message is one sentence that names the byte, the non-zero or the field.
class FormatError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

template <typename... Arguments>
[[noreturn]] void refuse(fmt::format_string<Arguments...> text, Arguments&&... arguments) {
  throw FormatError(fmt::format(text, std::forward<Arguments>(arguments)...));
}

}  // namespace esc::transformer

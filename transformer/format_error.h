#pragma once

#include <stdexcept>

namespace esc::transformer {

/// Bytes that are not a packed matrix. The message is one sentence that names the byte, the list or the field.
class FormatError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace esc::transformer

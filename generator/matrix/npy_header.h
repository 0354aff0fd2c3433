#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "generator/matrix/byte_source.h"

namespace esc {

enum class NpyElement { float16, float32, float64 };

/// What the header of a .npy file says about an array of two dimensions, or of four: weights of a convolution, which are a matrix with a row for
/// each index of the first dimension.
struct NpyHeader {
  NpyElement element = NpyElement::float32;  ///< little-endian
  bool is_fortran_order = false;             ///< column after column instead of row after row
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::vector<std::int64_t> shape = {};  ///< the extents as they are stored
  std::uint64_t data_begin = 0;  ///< the byte that the first element starts at

  std::size_t element_bytes() const {
    return element == NpyElement::float16 ? 2 : element == NpyElement::float32 ? 4 : 8;
  }
};

/// Reads the header from the start of `source`, and leaves `source` at the first element. Throws UserError with the
/// byte when it is not the header of an array that can be a matrix, or when the file's size does not match it.
NpyHeader read_npy_header(ByteSource& source);

/// Refuses `source` at a byte.
[[noreturn]] void refuse_at_byte(const ByteSource& source, std::uint64_t byte, const std::string& rule,
                                 const std::string& remedy);

}  // namespace esc

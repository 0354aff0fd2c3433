// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "generator/matrix/byte_source.h"
#include "generator/matrix/dense_reader.h"

namespace esc {

/// What the header of a .npy file says about its array, of whatever type and shape, and where it says so.
struct NpyArray {
  std::string type;                 ///< as NumPy spells it: "<f4"
  bool is_fortran_order = false;    ///< column after column instead of row after row
  std::vector<std::int64_t> shape;  ///< none of them negative
  std::uint64_t data_begin = 0;     ///< the byte that the first element starts at
  std::uint64_t type_at = 0;        ///< the bytes that type and shape are at
  std::uint64_t shape_at = 0;
  std::vector<std::uint64_t> extents_at;  ///< and each extent of the shape
};

/// The same about an array of two dimensions, or of three to five: weights of a convolution, which are a matrix with a
/// row for each index of the first dimension.
struct NpyHeader {
  StoredElement element = StoredElement::float32;
  bool is_fortran_order = false;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::vector<std::int64_t> shape = {};  ///< the extents as they are stored
  std::uint64_t data_begin = 0;          ///< the byte that the first element starts at

  std::size_t element_bytes() const { return bytes_of(element); }
  DenseArray array() const { return {element, is_fortran_order, rows, columns, data_begin, data_begin}; }
};

/// The float that NumPy spells so, such as "<f4"; none for another type.
std::optional<StoredElement> stored_element(std::string_view type);

/// Reads the header from the start of `source`, and leaves `source` at the first element. Throws UserError with the
/// byte when it is no header. How many bytes follow it is not looked at.
NpyArray read_npy_array(ByteSource& source);

/// As `read_npy_array`. Throws UserError with the byte too when it is not the header of an array that can be a matrix,
/// or when the size of `source` does not match it.
NpyHeader read_npy_header(ByteSource& source);

}  // namespace esc

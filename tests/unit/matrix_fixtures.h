// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "generator/matrix/byte_source.h"
#include "generator/matrix/mtx_reader.h"
#include "generator/matrix/npy_reader.h"
#include "generator/matrix/smtx_reader.h"
#include "generator/matrix/sparse_matrix.h"
#include "generator/support/temporary_folder.h"

namespace esc {

inline SparseMatrix smtx_of(std::string_view text, const ReadOptions& options = {}) {
  MemorySource source("a.smtx", text);
  return read_smtx(source, options);
}

inline SparseMatrix mtx_of(std::string_view text, const ReadOptions& options = {}) {
  MemorySource source("a.mtx", text);
  return read_mtx(source, options);
}

inline SparseMatrix npy_of(std::string_view bytes, const ReadOptions& options = {}) {
  MemorySource source("a.npy", bytes);
  return read_npy(source, options);
}

/// The bytes of a .npy file whose header is the dictionary `header`, followed by `data` as it is.
inline std::string npy_bytes(const std::string& header, std::string_view data, int version = 1) {
  std::string bytes = "\x93NUMPY";
  bytes += static_cast<char>(version);
  bytes += '\0';
  const std::size_t length = header.size() + 1;
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i) {
    bytes += static_cast<char>((length >> (8 * i)) & 0xff);
  }
  return bytes + header + "\n" + std::string(data);
}

inline std::string npy_dictionary(const std::string& type, bool is_fortran_order, const std::string& shape) {
  return "{'descr': '" + type + "', 'fortran_order': " + (is_fortran_order ? "True" : "False") + ", 'shape': " + shape +
         ", }";
}

/// The little-endian bytes of numbers, one after another.
template <typename Number>
std::string raw_bytes(const std::vector<std::type_identity_t<Number>>& numbers) {
  std::string bytes(numbers.size() * sizeof(Number), '\0');
  std::memcpy(bytes.data(), numbers.data(), bytes.size());
  return bytes;
}

/// The matrix whose elements are `dense`, row after row.
inline SparseMatrix matrix_of(std::int64_t rows, std::int64_t columns, const std::vector<double>& dense) {
  SparseMatrix matrix{rows, columns, {0}, {}, {}};
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t column = 0; column < columns; ++column) {
      if (const double value = dense.at(static_cast<std::size_t>(row * columns + column)); value != 0) {
        matrix.column_of.push_back(static_cast<std::int32_t>(column));
        matrix.values.push_back(value);
      }
    }
    matrix.offsets.push_back(matrix.nonzeros());
  }
  return matrix;
}

inline SparseMatrix matrix_of(std::int64_t rows, std::int64_t columns, std::span<const float> dense) {
  return matrix_of(rows, columns, std::vector<double>(dense.begin(), dense.end()));
}

/// A folder of its own that is removed at the end of a test.
class TestFolder final : public TemporaryFolder {
 public:
  std::filesystem::path file(const std::string& name, std::string_view content) const {
    const std::filesystem::path path = this->path() / name;
    std::ofstream(path, std::ios::binary) << content;
    return path;
  }
};

}  // namespace esc

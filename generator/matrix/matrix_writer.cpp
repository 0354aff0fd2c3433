// SPDX-License-Identifier: Apache-2.0
#include "generator/matrix/matrix_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <iterator>
#include <span>
#include <string>
#include <system_error>
#include <vector>

#include "generator/matrix/matrix_reader.h"
#include "generator/matrix/typed_elements.h"
#include "generator/support/error.h"
#include "generator/support/output_file.h"

namespace esc {
namespace {

void write_smtx(const SparseMatrix& matrix, OutputFile& file) {
  file.write(fmt::format("{}, {}, {}\n", matrix.rows, matrix.columns, matrix.nonzeros()));
  const auto write_line = [&](const auto& numbers) {
    fmt::memory_buffer text;
    const char* separator = "";
    for (const auto number : numbers) {
      fmt::format_to(std::back_inserter(text), "{}{}", separator, number);
      separator = " ";
      if (text.size() >= std::size_t{1} << 16) {
        file.write(std::string_view(text.data(), text.size()));
        text.clear();
      }
    }
    text.push_back('\n');
    file.write(std::string_view(text.data(), text.size()));
  };
  write_line(matrix.offsets);
  write_line(matrix.column_of);
}

/// Calls `visit(row, at)` for every non-zero, `at` being its place in the arrays of the matrix.
template <typename Visit>
void for_each_nonzero(const SparseMatrix& matrix, const Visit& visit) {
  std::size_t at = 0;
  for (std::int64_t row = 0; row < matrix.rows; ++row) {
    for (; at < static_cast<std::size_t>(matrix.offsets[static_cast<std::size_t>(row) + 1]); ++at) {
      visit(row, at);
    }
  }
}

void write_mtx(const SparseMatrix& matrix, OutputFile& file) {
  file.write("%%MatrixMarket matrix coordinate real general\n");
  file.write(fmt::format("{} {} {}\n", matrix.rows, matrix.columns, matrix.nonzeros()));
  fmt::memory_buffer line;
  for_each_nonzero(matrix, [&](std::int64_t row, std::size_t at) {
    line.clear();
    // So many digits are enough to read back any value of the type exactly.
    fmt::format_to(std::back_inserter(line), "{} {} {:.{}g}\n", row + 1, matrix.column_of[at] + 1, matrix.values[at],
                   matrix.element == ScalarType::f64 ? 17 : 9);
    file.write(std::string_view(line.data(), line.size()));
  });
}

void write_npy(const SparseMatrix& matrix, OutputFile& file) {
  constexpr std::size_t preamble_bytes = 10;  // magic, version, length of the header
  std::string header = fmt::format("{{'descr': '<f{}', 'fortran_order': False, 'shape': ({}, {}), }}",
                                   bytes_of(matrix.element), matrix.rows, matrix.columns);
  // As the format asks for: padded so that the elements start at a multiple of 64, and ended by a new line.
  header.append(63 - (preamble_bytes + header.size()) % 64, ' ');
  header += '\n';
  const auto length = static_cast<unsigned>(header.size());
  file.write(std::string("\x93NUMPY\x01\x00", 8));
  file.write(std::string{static_cast<char>(length & 0xffU), static_cast<char>(length >> 8)});
  file.write(header);

  constexpr std::int64_t part_columns = std::int64_t{1} << 18;
  std::vector<double> part;
  std::size_t at = 0;
  for (std::int64_t row = 0; row < matrix.rows; ++row) {
    const auto row_end = static_cast<std::size_t>(matrix.offsets[static_cast<std::size_t>(row) + 1]);
    for (std::int64_t begin = 0; begin < matrix.columns; begin += part_columns) {
      const std::int64_t end = std::min(begin + part_columns, matrix.columns);
      part.assign(static_cast<std::size_t>(end - begin), 0.0);
      for (; at < row_end && matrix.column_of[at] < end; ++at) {
        part[static_cast<std::size_t>(matrix.column_of[at] - begin)] = matrix.values[at];
      }
      file.write(TypedElements(matrix.element, part).bytes());
    }
  }
}

}  // namespace

void write_matrix(const SparseMatrix& matrix, const std::filesystem::path& path) {
  const std::string ending = lower_case_ending(path);
  void (*write)(const SparseMatrix&, OutputFile&) = nullptr;
  if (ending == ".smtx") {
    write = write_smtx;
  } else if (ending == ".mtx") {
    write = write_mtx;
  } else if (ending == ".npy") {
    write = write_npy;
  } else {
    throw UserError(path.string(),
                    ending.empty() ? "has no ending that names a matrix format"
                                   : fmt::format("the ending {} is not a matrix format that can be written", ending),
                    fmt::format("name a {} file", supported_endings));
  }
  validate(matrix);
  std::error_code problem;  // of which the file says more
  std::filesystem::create_directories(path.parent_path(), problem);
  OutputFile file(path);
  write(matrix, file);
  file.commit();
}

}  // namespace esc

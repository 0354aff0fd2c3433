// SPDX-License-Identifier: Apache-2.0
#include "generator/model/scipy_matrix.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>
#include <vector>

#include "generator/matrix/csr_builder.h"
#include "generator/matrix/row_order.h"
#include "generator/matrix/stored_value.h"
#include "generator/support/error.h"
#include "generator/support/limits.h"
#include "transformer/half_floats.h"

namespace esc {
namespace {

std::vector<std::byte> bytes_of(const StoredTensor& tensor) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(tensor.elements() * tensor.type->bytes()));
  const auto source = open_tensor(tensor);
  if (source->read(bytes) < bytes.size()) {
    refuse_change(*source);
  }
  return bytes;
}

/// The numbers of a type, one after the other, in another one.
template <typename Stored, typename Result>
void convert(std::span<const std::byte> bytes, std::vector<Result>& numbers) {
  for (std::size_t index = 0; index < numbers.size(); ++index) {
    Stored stored{};
    std::memcpy(&stored, bytes.data() + index * sizeof stored, sizeof stored);
    numbers[index] = static_cast<Result>(stored);
  }
}

/// Whole numbers of one dimension.
std::vector<std::int64_t> integers(const StoredTensor& tensor) {
  if (tensor.shape.size() != 1 || (tensor.type != tensor_type("I32") && tensor.type != tensor_type("I64"))) {
    refuse_element(
        tensor, 0,
        fmt::format("is {} of {}, where a row of I32 or I64 is expected", shape_text(tensor.shape), tensor.type->name),
        save_matrix_again);
  }
  std::vector<std::int64_t> numbers(static_cast<std::size_t>(tensor.elements()));
  const std::vector<std::byte> bytes = bytes_of(tensor);
  if (tensor.type == tensor_type("I32")) {
    convert<std::int32_t>(bytes, numbers);
  } else {
    convert<std::int64_t>(bytes, numbers);
  }
  return numbers;
}

/// The values of `data`, with the dimensions that the format has, in the type that is asked for. Which of them count is
/// not known yet: dia has some that stand for nothing.
class Values {
 public:
  Values(const StoredTensor& tensor, std::size_t dimensions, const ReadOptions& options)
      : tensor_(tensor), options_(options) {
    if (!tensor.type->element) {
      refuse_element(tensor, 0, fmt::format("the values are of type {}, not F64, F32 or F16", tensor.type->name),
                     "convert the matrix: a.astype('float32')");
    }
    if (tensor.shape.size() != dimensions || tensor.is_fortran_order) {
      refuse_element(
          tensor, 0,
          fmt::format("the values are {}{}, where {} dimensions in C order are expected", shape_text(tensor.shape),
                      tensor.is_fortran_order ? " in Fortran order" : "", dimensions),
          save_matrix_again);
    }
    if (tensor.elements() > static_cast<std::uint64_t>(most_nonzeros)) {
      refuse_element(tensor, 0, "there are more than 2^31 - 1 values", "cut the matrix into parts");
    }
    numbers_.resize(static_cast<std::size_t>(tensor.elements()));
    const std::vector<std::byte> bytes = bytes_of(tensor);
    switch (*tensor.type->element) {
      case StoredElement::float64:
        convert<double>(bytes, numbers_);
        break;
      case StoredElement::float32:
        convert<float>(bytes, numbers_);
        break;
      default:
        convert<transformer::Float16>(bytes, numbers_);
    }
  }

  const std::vector<std::int64_t>& shape() const { return tensor_.shape; }
  std::uint64_t size() const { return numbers_.size(); }
  double at(std::uint64_t index) const {
    const double stored = numbers_[static_cast<std::size_t>(index)];
    const auto refuse = [&](const std::string& value, const std::string& remedy) {
      refuse_element(tensor_, index, "the value is " + value, remedy);
    };
    const double value = as_asked(stored, options_, refuse);
    if (!options_.allow_nonfinite && !std::isfinite(value)) {
      refuse(fmt::format("{}", value), nonfinite_remedy);
    }
    return value;
  }

 private:
  const StoredTensor& tensor_;
  ReadOptions options_;
  std::vector<double> numbers_;
};

/// Calls visit(row, column, value) for each entry of a format, the same in each pass.
class Entries {
 public:
  Entries(const Weight& weight, const ReadOptions& options)
      : weight_(weight),
        values_(weight.parts[0],
                weight.form == WeightForm::bsr   ? 3
                : weight.form == WeightForm::dia ? 2
                                                 : 1,
                options) {
    if (weight.form == WeightForm::dia) {
      first_ = integers(weight.parts[1]);
      check_count(weight.parts[1], first_, static_cast<std::uint64_t>(values_.shape()[0]));
      return;
    }
    first_ = integers(weight.parts[1]);
    second_ = integers(weight.parts[2]);
    check_count(weight.parts[1], first_, static_cast<std::uint64_t>(values_.shape()[0]));
    if (weight.form == WeightForm::coo) {
      check_count(weight.parts[2], second_, values_.size());
      check_range(weight.parts[1], first_, weight.rows());
      check_range(weight.parts[2], second_, weight.columns());
    } else {
      check_compressed();
    }
  }

  template <typename Visit>
  void for_each(const Visit& visit) const {
    switch (weight_.form) {
      case WeightForm::coo:
        for (std::size_t entry = 0; entry < first_.size(); ++entry) {
          visit(first_[entry], second_[entry], values_.at(entry));
        }
        break;
      case WeightForm::dia:
        visit_diagonals(visit);
        break;
      default:
        visit_compressed(visit);
    }
  }

 private:
  static void check_count(const StoredTensor& tensor, const std::vector<std::int64_t>& numbers,
                          std::uint64_t expected) {
    if (numbers.size() != expected) {
      refuse_element(tensor, 0, fmt::format("there are {} of them for {} values", numbers.size(), expected),
                     save_matrix_again);
    }
  }
  static void check_range(const StoredTensor& tensor, const std::vector<std::int64_t>& numbers, std::int64_t bound) {
    const auto found =
        std::ranges::find_if(numbers, [&](std::int64_t number) { return number < 0 || number >= bound; });
    if (found != numbers.end()) {
      refuse_element(tensor, static_cast<std::uint64_t>(found - numbers.begin()),
                     fmt::format("the index {} is outside 0 to {}", *found, bound - 1), save_matrix_again);
    }
  }

  /// Rows and columns of a block, which is an element but in bsr.
  std::int64_t block_rows() const { return weight_.form == WeightForm::bsr ? values_.shape()[1] : 1; }
  std::int64_t block_columns() const { return weight_.form == WeightForm::bsr ? values_.shape()[2] : 1; }

  /// Of csr, csc and bsr: `first_` are the indices, `second_` says where each line of them begins.
  void check_compressed() const {
    const StoredTensor& starts = weight_.parts[2];
    if (block_rows() < 1 || block_columns() < 1 || weight_.rows() % block_rows() != 0 ||
        weight_.columns() % block_columns() != 0) {
      refuse_element(
          weight_.parts[0], 0,
          fmt::format("blocks of {} x {} do not make up {}", block_rows(), block_columns(), shape_text(weight_.shape)),
          save_matrix_again);
    }
    const bool by_columns = weight_.form == WeightForm::csc;
    const std::int64_t lines = by_columns ? weight_.columns() : weight_.rows() / block_rows();
    if (second_.size() != static_cast<std::uint64_t>(lines) + 1) {
      refuse_element(
          starts, 0,
          fmt::format("there are {} of them, where {} lines have one more than lines", second_.size(), lines),
          save_matrix_again);
    }
    std::int64_t previous = 0;
    for (std::size_t line = 0; line < second_.size(); ++line) {
      if ((line == 0 && second_[line] != 0) || second_[line] < previous) {
        refuse_element(
            starts, line,
            fmt::format("{} follows {}, where offsets start at 0 and never decrease", second_[line], previous),
            save_matrix_again);
      }
      previous = second_[line];
    }
    if (static_cast<std::uint64_t>(previous) != first_.size()) {
      refuse_element(starts, second_.size() - 1,
                     fmt::format("the last offset is {}, and there are {} indices", previous, first_.size()),
                     save_matrix_again);
    }
    check_range(weight_.parts[1], first_, by_columns ? weight_.rows() : weight_.columns() / block_columns());
  }

  template <typename Visit>
  void visit_compressed(const Visit& visit) const {
    const bool by_columns = weight_.form == WeightForm::csc;
    const std::int64_t height = block_rows();
    const std::int64_t width = block_columns();
    for (std::size_t line = 0; line + 1 < second_.size(); ++line) {
      const auto number = static_cast<std::int64_t>(line);
      for (std::int64_t entry = second_[line]; entry < second_[line + 1]; ++entry) {
        const std::int64_t index = first_[static_cast<std::size_t>(entry)];
        if (by_columns) {
          visit(index, number, values_.at(static_cast<std::uint64_t>(entry)));
          continue;
        }
        for (std::int64_t inside = 0; inside < height * width; ++inside) {
          visit(number * height + inside / width, index * width + inside % width,
                values_.at(static_cast<std::uint64_t>(entry * height * width + inside)));
        }
      }
    }
  }

  /// Element (d, j) of the values is in column j, as many rows above the diagonal as the d-th offset says.
  template <typename Visit>
  void visit_diagonals(const Visit& visit) const {
    const std::int64_t length = values_.shape()[1];
    for (std::size_t diagonal = 0; diagonal < first_.size(); ++diagonal) {
      const std::int64_t offset = std::clamp(first_[diagonal], -largest_dimension - 1, largest_dimension + 1);
      const std::int64_t begin = std::max<std::int64_t>(0, offset);
      const std::int64_t end = std::min({length, weight_.columns(), weight_.rows() + offset});
      for (std::int64_t column = begin; column < end; ++column) {
        visit(column - offset, column,
              values_.at(static_cast<std::uint64_t>(static_cast<std::int64_t>(diagonal) * length + column)));
      }
    }
  }

  const Weight& weight_;
  Values values_;
  std::vector<std::int64_t> first_;   ///< indices; rows of coo, offsets of dia
  std::vector<std::int64_t> second_;  ///< where lines begin; columns of coo
};

}  // namespace

SparseMatrix read_scipy_matrix(const Weight& weight, const ReadOptions& options) {
  const Entries entries(weight, options);
  if (weight.rows() > rows_without_evidence && static_cast<std::uint64_t>(weight.rows()) > weight.stored_bytes()) {
    throw UserError(
        weight.place(),
        fmt::format("{} rows are more than {} bytes of arrays are taken for", weight.rows(), weight.stored_bytes()),
        "cut the matrix into parts");
  }
  CsrBuilder builder(weight.rows(), weight.columns(), options.element);
  entries.for_each([&](std::int64_t row, std::int64_t, double) { builder.count(row); });
  builder.start_placing();
  entries.for_each([&](std::int64_t row, std::int64_t column, double value) { builder.place(row, column, value); });
  SparseMatrix matrix = std::move(builder).take();
  sort_rows(matrix);
  if (const auto [row, column] = find_repetition(matrix); row >= 0) {
    throw UserError(weight.place(),
                    fmt::format("the entry at row {}, column {} (counted from 0) is there twice", row, column),
                    "add them up first: a.sum_duplicates()");
  }
  drop_zeros(matrix);
  return matrix;
}

}  // namespace esc

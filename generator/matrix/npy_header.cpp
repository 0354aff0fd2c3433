// SPDX-License-Identifier: Apache-2.0
#include "generator/matrix/npy_header.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "generator/matrix/sparse_matrix.h"
#include "generator/matrix/text_scanner.h"
#include "generator/support/error.h"

namespace esc {
namespace {

constexpr std::string_view magic = "\x93NUMPY";
constexpr std::uint64_t longest_header = 65535;  // as version 1 has it; NumPy's own limit is lower
constexpr const char* write_again = "write the file again with numpy.save";
constexpr const char* too_large = "a dimension is beyond 2^31 - 1";
constexpr const char* cut_it = "cut the matrix into parts";
constexpr const char* too_small = "a dimension is {}, below 1";
constexpr const char* save_matrix = "save a matrix that has rows and columns";
constexpr const char* convert = "convert it first: numpy.save(FILE, a.astype('<f4'))";

/// Parses the header's text, a Python dictionary of three known keys, and nothing else of Python.
class HeaderText {
 public:
  HeaderText(const ByteSource& source, std::string_view text, std::uint64_t begin)
      : source_(source), text_(text), begin_(begin) {}

  NpyArray parse() {
    expect('{');
    while (!take('}')) {
      parse_field();
      if (!take(',')) {
        expect('}');
        break;
      }
    }
    if (next() < text_.size()) {
      refuse(fmt::format("the header goes on after its dictionary with {}", in_quotes(text_.substr(at_))), write_again);
    }
    if (!type_ || !is_fortran_order_ || !shape_) {
      refuse("the header lacks one of 'descr', 'fortran_order' and 'shape'", write_again);
    }
    return {*type_,     *is_fortran_order_, *shape_, begin_ + text_.size(), begin_ + type_at_, begin_ + shape_at_,
            extents_at_};
  }

 private:
  void parse_field() {
    const std::size_t begin = next();
    const std::string_view key = parse_string();
    expect(':');
    if (key == "descr" && !type_) {
      type_ = parse_type();
    } else if (key == "fortran_order" && !is_fortran_order_) {
      is_fortran_order_ = parse_bool();
    } else if (key == "shape" && !shape_) {
      shape_ = parse_shape();
    } else {
      refuse_from(begin, fmt::format("the header's key {} is repeated or unknown", in_quotes(key)), write_again);
    }
  }

  std::string parse_type() {
    type_at_ = next();
    if (type_at_ < text_.size() && text_[type_at_] == '[') {
      refuse("the elements are records, not numbers", "save one field of the array");
    }
    return std::string(parse_string());
  }

  bool parse_bool() {
    next();
    for (const std::string_view word : {"True", "False"}) {
      if (text_.substr(at_, word.size()) == word) {
        at_ += word.size();
        return word == "True";
      }
    }
    refuse("'fortran_order' is neither True nor False", write_again);
  }

  std::vector<std::int64_t> parse_shape() {
    shape_at_ = next();
    std::vector<std::int64_t> shape;
    expect('(');
    while (!take(')')) {
      shape.push_back(parse_dimension());
      if (!take(',')) {
        expect(')');
        break;
      }
    }
    return shape;
  }

  std::int64_t parse_dimension() {
    std::int64_t number = 0;
    const char* begin = text_.data() + next();
    extents_at_.push_back(begin_ + at_);
    const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), number);
    if (error == std::errc::invalid_argument) {
      refuse("'shape' is not a tuple of whole numbers", write_again);
    }
    if (error != std::errc()) {
      refuse(too_large, cut_it);
    }
    if (number < 0) {
      refuse(fmt::format(fmt::runtime(too_small), number), save_matrix);
    }
    at_ += static_cast<std::size_t>(end - begin);
    take('L');  // as Python 2 wrote its integers
    return number;
  }

  std::string_view parse_string() {
    next();
    const char quote = at_ < text_.size() ? text_[at_] : '\0';
    const std::size_t end = quote == '\'' || quote == '"' ? text_.find(quote, at_ + 1) : std::string_view::npos;
    if (end == std::string_view::npos) {
      refuse("a word between quotation marks is expected in the header", write_again);
    }
    const std::string_view word = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    return word;
  }

  /// Skips blanks and says where the next word starts.
  std::size_t next() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t')) {
      ++at_;
    }
    return at_;
  }

  bool take(char c) {
    next();
    const bool found = at_ < text_.size() && text_[at_] == c;
    at_ += found ? 1 : 0;
    return found;
  }

  void expect(char c) {
    if (!take(c)) {
      refuse(fmt::format("'{}' is expected in the header", c), write_again);
    }
  }

  [[noreturn]] void refuse(const std::string& rule, const std::string& remedy) const { refuse_from(at_, rule, remedy); }

  [[noreturn]] void refuse_from(std::size_t at, const std::string& rule, const std::string& remedy) const {
    refuse_at_byte(source_, begin_ + at, rule, remedy);
  }

  const ByteSource& source_;
  std::string_view text_;
  std::uint64_t begin_;
  std::size_t at_ = 0;
  std::optional<std::string> type_;
  std::optional<bool> is_fortran_order_;
  std::optional<std::vector<std::int64_t>> shape_;
  std::size_t type_at_ = 0;
  std::size_t shape_at_ = 0;
  std::vector<std::uint64_t> extents_at_;
};

/// The next `count` bytes, or as many as are left.
std::string read_bytes(ByteSource& source, std::size_t count) {
  std::string bytes(count, '\0');
  bytes.resize(source.read(std::as_writable_bytes(std::span(bytes))));
  return bytes;
}

/// The next `count` bytes as a little-endian number.
std::uint64_t read_number(ByteSource& source, std::uint64_t at, std::size_t count) {
  const std::string bytes = read_bytes(source, count);
  if (bytes.size() < count) {
    refuse_at_byte(source, at + bytes.size(), "the file ends inside its header", write_again);
  }
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < count; ++i) {
    number |= static_cast<std::uint64_t>(static_cast<unsigned char>(bytes[i])) << (8 * i);
  }
  return number;
}

StoredElement element_of(const ByteSource& source, const NpyArray& array) {
  if (const std::optional<StoredElement> element = stored_element(array.type)) {
    return *element;
  }
  refuse_at_byte(
      source, array.type_at,
      fmt::format("the element type {} is none of '<f2', '<f4', '<f8' (little-endian floats)", in_quotes(array.type)),
      convert);
}

/// After a row's index are those of its elements, as they lie.
std::int64_t columns_of(const ByteSource& source, const NpyArray& array) {
  std::int64_t columns = 1;
  for (std::size_t dimension = 1; dimension < array.shape.size(); ++dimension) {
    if (array.shape[dimension] > largest_dimension / columns) {
      refuse_at_byte(source, array.shape_at, "the dimensions after the first make more than 2^31 - 1 columns",
                     "cut the weights into parts");
    }
    columns *= array.shape[dimension];
  }
  return columns;
}

void check_shape(const ByteSource& source, const NpyArray& array) {
  for (std::size_t dimension = 0; dimension < array.shape.size(); ++dimension) {
    if (array.shape[dimension] > largest_dimension) {
      refuse_at_byte(source, array.extents_at[dimension], too_large, cut_it);
    }
    if (array.shape[dimension] < 1) {
      refuse_at_byte(source, array.extents_at[dimension], fmt::format(fmt::runtime(too_small), array.shape[dimension]),
                     save_matrix);
    }
  }
  if (array.shape.size() < 2 || array.shape.size() > 5) {
    refuse_at_byte(
        source, array.shape_at,
        fmt::format("the array has {} dimensions, not 2, nor 3 to 5 as weights of a convolution", array.shape.size()),
        "reshape it to rows x columns");
  }
  if (array.shape.size() > 2 && array.is_fortran_order) {
    refuse_at_byte(source, array.shape_at,
                   fmt::format("an array of {} dimensions is in Fortran order", array.shape.size()),
                   "save it with numpy.save(FILE, numpy.ascontiguousarray(a))");
  }
}

void check_size(const ByteSource& source, const NpyHeader& header) {
  const std::uint64_t elements = static_cast<std::uint64_t>(header.rows) * static_cast<std::uint64_t>(header.columns);
  const std::uint64_t room = source.size() - header.data_begin;
  // Dividing keeps the comparison clear of overflow: rows x columns alone may take 62 bits.
  if (elements > room / header.element_bytes()) {
    refuse_at_byte(source, source.size(),
                   fmt::format("the file ends after {} bytes of data, before {} x {} elements of {} bytes", room,
                               header.rows, header.columns, header.element_bytes()),
                   "the file is cut short or its header is wrong: fetch or write it again");
  }
  if (room != elements * header.element_bytes()) {
    refuse_at_byte(source, header.data_begin + elements * header.element_bytes(),
                   fmt::format("{} bytes follow the last element", room - elements * header.element_bytes()),
                   "keep one array per file");
  }
}

}  // namespace

std::optional<StoredElement> stored_element(std::string_view type) {
  static constexpr std::pair<std::string_view, StoredElement> known[] = {
      {"<f4", StoredElement::float32}, {"<f8", StoredElement::float64}, {"<f2", StoredElement::float16}};
  for (const auto& [name, element] : known) {
    if (type == name) {
      return element;
    }
  }
  return std::nullopt;
}

NpyArray read_npy_array(ByteSource& source) {
  source.rewind();
  if (source.size() == 0) {
    refuse_at_byte(source, 0, "the file is empty", write_again);
  }
  if (read_bytes(source, magic.size()) != magic) {
    refuse_at_byte(source, 0, "the file does not start with \\x93NUMPY, so it is no .npy file", write_again);
  }
  const std::uint64_t major = read_number(source, 6, 1);
  const std::uint64_t minor = read_number(source, 7, 1);
  if (major < 1 || major > 3 || minor != 0) {
    refuse_at_byte(source, 6, fmt::format("version {}.{} of the format is none of 1.0, 2.0, 3.0", major, minor),
                   write_again);
  }
  const std::size_t length_bytes = major == 1 ? 2 : 4;
  const std::uint64_t length = read_number(source, 8, length_bytes);
  const std::uint64_t begin = 8 + length_bytes;
  if (length > longest_header) {
    refuse_at_byte(source, 8, fmt::format("a header of {} bytes is beyond {}", length, longest_header), write_again);
  }
  const std::string text = read_bytes(source, static_cast<std::size_t>(length));
  if (text.size() < length) {
    refuse_at_byte(source, begin + text.size(), "the file ends inside its header", write_again);
  }
  return HeaderText(source, text, begin).parse();
}

NpyHeader read_npy_header(ByteSource& source) {
  const NpyArray array = read_npy_array(source);
  const StoredElement element = element_of(source, array);
  check_shape(source, array);
  const NpyHeader header{element,     array.is_fortran_order, array.shape.front(), columns_of(source, array),
                         array.shape, array.data_begin};
  check_size(source, header);
  return header;
}

}  // namespace esc

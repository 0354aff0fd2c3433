// SPDX-License-Identifier: Apache-2.0
#include "generator/model/weight_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <vector>

#include "generator/support/error.h"

namespace esc {
namespace {

void read_whole(ByteSource& source, std::span<std::byte> buffer) {
  if (source.read(buffer) < buffer.size()) {
    refuse_change(source);
  }
}

/// The elements of a mask, 0 or 1, each for `repeats` values.
class MaskReader {
 public:
  MaskReader(const StoredTensor& mask, std::uint64_t repeats)
      : mask_(mask), source_(open_tensor(mask_)), repeats_(repeats), one_(one_of(mask_)) {}

  /// Clears those of the values that come next which the mask takes away.
  void apply(std::span<std::byte> values, std::size_t value_bytes) {
    for (std::size_t at = 0; at < values.size(); at += value_bytes) {
      if (left_ == 0) {
        is_kept_ = next();
        left_ = repeats_;
      }
      --left_;
      if (!is_kept_) {
        std::ranges::fill(values.subspan(at, value_bytes), std::byte{0});
      }
    }
  }
  void rewind() {
    source_->rewind();
    chunk_.clear();
    next_ = 0;
    read_ = left_ = 0;
  }

 private:
  static constexpr std::uint64_t chunk_elements = 1 << 14;

  static std::uint64_t one_of(const StoredTensor& mask) {
    const std::optional<StoredElement> element = mask.type->element;
    if (!element) {
      return 1;
    }
    switch (*element) {
      case StoredElement::float16:
        return 0x3c00;
      case StoredElement::bfloat16:
        return 0x3f80;
      case StoredElement::float32:
        return std::bit_cast<std::uint32_t>(1.0F);
      default:
        return std::bit_cast<std::uint64_t>(1.0);
    }
  }

  bool next() {
    const std::size_t bytes = static_cast<std::size_t>(mask_.type->bytes());
    if (next_ == chunk_.size()) {
      chunk_.resize(static_cast<std::size_t>(std::min(chunk_elements, mask_.elements() - read_)) * bytes);
      read_whole(*source_, chunk_);
      next_ = 0;
    }
    std::uint64_t bits = 0;
    std::memcpy(&bits, chunk_.data() + next_, bytes);
    next_ += bytes;
    if (bits != 0 && bits != one_) {
      refuse_element(mask_, read_, "is a mask with an element that is neither 0 nor 1", save_model_again);
    }
    ++read_;
    return bits != 0;
  }

  const StoredTensor mask_;
  std::unique_ptr<ByteSource> source_;
  const std::uint64_t repeats_;
  const std::uint64_t one_;
  std::vector<std::byte> chunk_;
  std::size_t next_ = 0;    ///< byte of the chunk
  std::uint64_t read_ = 0;  ///< elements
  std::uint64_t left_ = 0;  ///< values that the element which was read last is for
  bool is_kept_ = true;
};

/// Values, with zeros where a mask has one.
class MaskedSource final : public ByteSource {
 public:
  explicit MaskedSource(const Weight& weight)
      : ByteSource(weight.place(), weight.parts[0].elements() * weight.type->bytes()),
        value_bytes_(static_cast<std::size_t>(weight.type->bytes())),
        values_(open_tensor(weight.parts[0])) {
    for (std::size_t part = 1; part < weight.parts.size(); ++part) {
      // A mask of rows has an element for all values of one; it lies as they do, whichever of the two dimensions is
      // called rows.
      masks_.emplace_back(weight.parts[part], weight.parts[0].elements() / weight.parts[part].elements());
    }
  }

  /// Whole elements only.
  std::size_t read(std::span<std::byte> buffer) override {
    const std::size_t got = values_->read(buffer);
    for (MaskReader& mask : masks_) {
      mask.apply(buffer.first(got / value_bytes_ * value_bytes_), value_bytes_);
    }
    return got;
  }
  void rewind() override {
    values_->rewind();
    for (MaskReader& mask : masks_) {
      mask.rewind();
    }
  }

 private:
  const std::size_t value_bytes_;
  std::unique_ptr<ByteSource> values_;
  std::vector<MaskReader> masks_;
};

/// Values at the places that bits name, bit 0 of a byte for the lowest column; zeros elsewhere.
class BitmaskSource final : public ByteSource {
 public:
  explicit BitmaskSource(const Weight& weight)
      : ByteSource(weight.place(), static_cast<std::uint64_t>(weight.rows()) *
                                       static_cast<std::uint64_t>(weight.columns()) * weight.type->bytes()),
        weight_(weight),
        values_(open_tensor(weight.parts[1])),
        bits_(open_tensor(weight.parts[2])),
        offsets_(weight.form == WeightForm::bitmask ? open_tensor(weight.parts[3]) : nullptr),
        row_bits_(static_cast<std::size_t>(weight.parts[2].shape[1])) {}

  std::size_t read(std::span<std::byte> buffer) override {
    const std::size_t bytes = static_cast<std::size_t>(weight_.type->bytes());
    const std::size_t wanted = std::min<std::uint64_t>(buffer.size() / bytes, elements() - read_);
    for (std::size_t done = 0; done < wanted;) {
      const auto column = static_cast<std::size_t>(read_ % columns());
      if (column == 0) {
        begin_row();
      }
      const std::size_t count = std::min<std::size_t>(wanted - done, columns() - column);
      expand(buffer.subspan(done * bytes, count * bytes), column);
      done += count;
      read_ += count;
      if (read_ == elements()) {
        check_end();
      }
    }
    return wanted * bytes;
  }
  void rewind() override {
    values_->rewind();
    bits_->rewind();
    if (offsets_) {
      offsets_->rewind();
    }
    read_ = 0;
    taken_ = 0;
  }

 private:
  std::size_t columns() const { return static_cast<std::size_t>(weight_.columns()); }
  std::uint64_t elements() const { return static_cast<std::uint64_t>(weight_.rows()) * columns(); }

  void begin_row() {
    const std::uint64_t row = read_ / columns();
    read_whole(*bits_, row_bits_);
    if (const std::size_t last = columns() % 8; last != 0 && std::to_integer<unsigned>(row_bits_.back()) >> last != 0) {
      refuse_element(weight_.parts[2], (row + 1) * row_bits_.size() - 1,
                     fmt::format("has bits after the last column of row {}", row), save_model_again);
    }
    std::uint64_t count = 0;
    for (const std::byte bits : row_bits_) {
      count += static_cast<std::uint64_t>(std::popcount(std::to_integer<unsigned>(bits)));
    }
    check_begin(row, count);
    if (count > weight_.parts[1].elements() - taken_) {
      refuse_element(weight_.parts[2], row * row_bits_.size(),
                     fmt::format("has {} bits up to row {}, and there are {} values", taken_ + count, row,
                                 weight_.parts[1].elements()),
                     save_model_again);
    }
    row_values_.resize(static_cast<std::size_t>(count * weight_.type->bytes()));
    read_whole(*values_, row_values_);
    taken_ += count;
    next_ = 0;
  }

  /// That the values of a row begin and, two of four, end where they should.
  void check_begin(std::uint64_t row, std::uint64_t count) {
    if (!offsets_) {
      if (count != columns() / 2) {
        refuse_element(weight_.parts[2], row * row_bits_.size(),
                       fmt::format("has {} bits in row {}, where two of four are {}", count, row, columns() / 2),
                       save_model_again);
      }
      return;
    }
    std::int64_t offset = 0;
    read_whole(*offsets_, std::as_writable_bytes(std::span(&offset, 1)));
    if (offset < 0 || static_cast<std::uint64_t>(offset) != taken_) {
      refuse_element(weight_.parts[3], row,
                     fmt::format("says that row {} begins at value {}, and {} bits are before it", row, offset, taken_),
                     save_model_again);
    }
  }

  void check_end() const {
    if (taken_ != weight_.parts[1].elements()) {
      refuse_element(weight_.parts[1], taken_,
                     fmt::format("has {} values, and the bitmask {} bits", weight_.parts[1].elements(), taken_),
                     save_model_again);
    }
  }

  void expand(std::span<std::byte> buffer, std::size_t column) {
    const std::size_t bytes = static_cast<std::size_t>(weight_.type->bytes());
    std::ranges::fill(buffer, std::byte{0});
    for (std::size_t at = 0; at < buffer.size(); at += bytes, ++column) {
      if ((std::to_integer<unsigned>(row_bits_[column / 8]) >> (column % 8) & 1U) != 0) {
        std::memcpy(buffer.data() + at, row_values_.data() + next_, bytes);
        next_ += bytes;
      }
    }
  }

  const Weight weight_;
  std::unique_ptr<ByteSource> values_;
  std::unique_ptr<ByteSource> bits_;
  std::unique_ptr<ByteSource> offsets_;
  std::vector<std::byte> row_bits_;    ///< of the row that is being read
  std::vector<std::byte> row_values_;  ///< and its values
  std::size_t next_ = 0;               ///< byte of those that comes next
  std::uint64_t read_ = 0;             ///< elements
  std::uint64_t taken_ = 0;            ///< values
};

}  // namespace

std::unique_ptr<ByteSource> open_weight(const Weight& weight) {
  ESC_CHECK(!is_scipy(weight.form), "SciPy's weights are read entry by entry");
  switch (weight.form) {
    case WeightForm::masked:
      return std::make_unique<MaskedSource>(weight);
    case WeightForm::bitmask:
    case WeightForm::two_four:
      return std::make_unique<BitmaskSource>(weight);
    default:
      return open_tensor(weight.parts.front());
  }
}

DenseArray dense_array(const Weight& weight) {
  const StoredTensor& values = weight.parts.front();
  const bool is_expanded = weight.form == WeightForm::bitmask || weight.form == WeightForm::two_four;
  return {.element = weight.type->element.value(),
          .is_fortran_order = !is_expanded && values.is_fortran_order,
          .rows = weight.rows(),
          .columns = weight.columns(),
          .skipped = 0,
          .first_byte = is_expanded ? std::nullopt : std::optional(values.member ? values.skipped : values.begin)};
}

}  // namespace esc

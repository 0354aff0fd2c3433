// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "generator/ir/loop_nest.h"

namespace esc {

/// The layout of an array, with numbers for its sizes, as terms of C: what the texts of a kernel and of its launcher
/// that locate elements are made of.
class LayoutTerms {
 public:
  LayoutTerms(const ArrayDeclaration& array, const Environment& sizes);

  const Layout& layout() const { return layout_; }
  bool is_over_items(std::size_t dimension) const { return esc::is_over_items(layout_, layout_.dimensions[dimension]); }
  bool has_padding() const;
  /// Whether digits of these index the outermost dimension, whose distance is not known before a call.
  bool indexes_outermost(const std::vector<Digit>& digits) const;
  /// The type of a distance inside of the outermost dimension.
  const char* row_type() const;
  std::int64_t extent(std::size_t dimension) const { return layout_.dimensions[dimension].extent.evaluate(sizes_); }

  std::string least_leading_dimension(const std::string& items) const;
  std::string outermost_extent(const std::string& items) const;
  std::string distance_of_items(const std::string& items, const std::string& leading_dimension) const;
  /// "X[n][64][56][56]".
  std::string form(const std::string& name) const;

  /// How far the digits of a row, or of a column, are from the first element; of a column also what is always added.
  std::string offset(const std::vector<Digit>& digits, bool constants, const std::string& leading_dimension) const;
  /// How far an index of a dimension, a sum or a name, is from its first one.
  std::string distance(std::size_t dimension, const std::string& index, const std::string& leading_dimension) const;

  /// What defines those digits of a number that subscripts name.
  std::string define_digits(const std::vector<Digit>& digits, const std::string& number, const std::string& type) const;
  /// The same of a row of B, which a kernel asks for each non-zero.
  std::string define_row_digits() const;

  /// What has a bit for each tap of padded dimensions, and how its numbers end.
  struct TapWord {
    const char* type;
    const char* ending;
  };
  TapWord tap_word() const;
  /// Which bits of the taps a row has.
  std::string taps_of_row() const;
  /// Sets the bits of the taps that lie outside for a column.
  std::string taps_outside() const;

 private:
  /// The bit of each padded dimension that stands for the digit of a row in it, one after the other.
  struct Tap {
    std::size_t dimension;
    const Digit* digit = nullptr;  ///< none: rows do not index the dimension
    std::int64_t first_bit = 0;
    std::int64_t count = 1;
  };
  std::vector<Tap> taps() const;
  void require(bool holds, const std::string& rule) const;
  bool is_used(const std::string& digit) const;

  const ArrayDeclaration& array_;
  Layout layout_;
  const Environment& sizes_;
  std::vector<std::int64_t> strides_;
  std::int64_t inner_ = 1;
  bool inner_items_ = false;
};

/// A sum of terms, "0" where there are none.
std::string sum_of(const std::vector<std::string>& terms);

/// "factor * number".
std::string times(const std::string& factor, std::int64_t number);

/// A digit as a variable of a device function, where no other name ends like that. A user's own names end in an
/// underscore.
std::string variable_of(const Digit& digit);

}  // namespace esc

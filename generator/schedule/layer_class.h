// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "generator/schedule/product_columns.h"

namespace esc {

/// What the L2 cache holds of the operands when a launch begins: as much as it can, or nothing.
enum class CacheState { warm, cold };

/// What a schedule is chosen for.
struct LayerShape {
  long long bcol = 1;
  std::int64_t rows = 1;
  std::int64_t columns = 1;
  std::int64_t nonzeros = 0;
  std::int64_t longest_row = 0;  ///< non-zeros; 0 where it is not known
  double row_variation = 0;      ///< coefficient of variation of the rows' lengths
  std::string pattern = {};      ///< SHA-256 of the pattern, hexadecimal; empty where it is not known
  std::string layout = "kn";     ///< how B and C lie: databases know the layers of each layout apart
  bool contiguous = true;        ///< whether columns of a row of B are one after the other
  std::string dtype = "f32";     ///< of the elements: databases know those of each type apart
  bool sparse24 = false;         ///< whether of four neighbours in a row two at most are not zero
  bool scattered = true;         ///< whether the non-zeros are without a structure, as those of classes do
  CacheState cache = CacheState::warm;

  double elements() const { return static_cast<double>(rows) * static_cast<double>(columns); }
  /// The share of non-zeros.
  double density() const { return static_cast<double>(nonzeros) / elements(); }
  /// The columns for which its schedule is to be legal.
  ProductColumns product() const { return {bcol, contiguous}; }
};

/// "warm" or "cold".
std::string print(CacheState state);

/// In which state the cache is taken to be for elements of a type: those of 16 bits are weights of models, which are
/// larger than any cache; layers of 32 bits were measured while the cache had them.
CacheState usual_cache(std::string_view dtype);

/// Whether the lengths of the rows have a heavier tail than an exponential distribution, whose coefficient of variation
/// is 1. What pruning leaves of a layer is mostly below 0.5.
bool follows_power_law(const LayerShape& shape);

/// A class of layers: the columns of B and, as twice the logarithm to base 2, rounded, the rows and columns of A and
/// the mean and the largest number of non-zeros of a row. The longest row counts because regions are sized by it.
struct LayerClass {
  long long bcol = 1;
  int rows = 0;
  int columns = 0;
  int mean_row = 0;
  int longest_row = 0;
  auto operator<=>(const LayerClass&) const = default;
};

/// A matrix without non-zeros counts as one with a single one, and the longest row as no shorter than the mean.
LayerClass class_of(const LayerShape& shape);

/// "64 columns of B, about 512 x 362, rows of 16 non-zeros on average and 23 at most".
std::string describe(const LayerClass& layers);

/// How far a layer is from the middle of a class, in octaves: the sum of the distances in the four logarithms to base
/// 2, where that in the columns of A counts half, because schedules depend on it least. Columns of B do not count.
double class_distance(const LayerShape& shape, const LayerClass& layers);

/// The same between the middles of two classes.
double class_distance(const LayerClass& a, const LayerClass& b);

}  // namespace esc

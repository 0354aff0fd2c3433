// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "generator/emit/dispatch.h"
#include "generator/matrix/sparse_matrix.h"
#include "generator/verify/product_case.h"

namespace esc {

/// Some consecutive columns of C.
struct ColumnRange {
  std::int64_t first = 0;
  std::int64_t count = 0;
  bool operator==(const ColumnRange&) const = default;
};

/// One call of a kernel's C function by which the kernel is judged, in the circumstances of deployments.
struct KernelCall {
  ProductCase product;
  std::string reason = {};  ///< what it is made for: "tuned", "ldb alone is another"
  /// The part of the work of a whole product that the call is worth.
  double share = 1;
  std::int64_t least_products =
      10'000;  ///< multiply-adds that it is worth however small its share is: enough for some blocks
  std::vector<ColumnRange> columns =
      {};  ///< those that are compared, ascending, of whole items, whose tiles alone are run; all where it is empty
  std::int64_t shift_packed = 0;  ///< bytes that the packed matrix begins after an address divisible by 256
  std::int64_t item_columns = 1;  ///< columns of C for each of the product's n items
  bool default_stream = false;    ///< else a stream of the caller's own
  int compute_major = 9;          ///< of the device: before 9 there are no programmatic launches
  int compute_minor = 0;
  bool has_features =
      true;  ///< where compute_major is 9: the text is compiled for that architecture alone, with all that it has
  ValueDraw values = {};  ///< what B and what an epilogue reads are drawn from
  std::optional<std::uint64_t> order =
      {};                        ///< in which blocks and threads run is drawn from it; by their numbers without one
  std::uint64_t first_unit = 0;  ///< of a part of a product: the first of the units of rows that are computed

  /// The columns that are compared, one range or more.
  std::vector<ColumnRange> compared() const;
  /// How many they are.
  std::int64_t width() const;
  /// The instance of a kernel of this name that the launcher must take: "NAME_kernel<false, true>".
  std::string expected_kernel(const std::string& name, const Dispatch& dispatch) const;
  /// The product of the compared columns alone, without gaps: what the reference computes.
  ProductCase compact() const;
};

/// "n 64, ldb 67, ldc 64, shift 0 (ldb alone is another)".
std::string print(const KernelCall& call);

/// Of the work of a whole product, for a call that asks which variant comes rather than what it computes.
inline constexpr double part_of_a_product = 1.0 / 128;

/// What the product with other values is for.
inline constexpr const char* other_values_reason = "other values in the same pattern";
/// And with another pattern, where the kernel takes any.
inline constexpr const char* other_pattern_reason = "another pattern";

/// A call for n items of a kernel that is dispatched so, neither B nor C with gaps.
ProductCase product_without_gaps(const Dispatch& dispatch, std::int64_t items);

/// The calls by which a kernel is judged that is dispatched so, for an A of `rows` x `columns`. Every variant is
/// reached, every condition of the dispatch is broken alone, and in the first variants everything else that the C
/// interface allows is tried: docs/reference/verification.md lists them. What none of them needs much of is a part of
/// the product. Where the kernel is tuned for more than `most_items` items, as many are in for those: then no call is
/// tuned.
std::vector<KernelCall> kernel_calls(const Dispatch& dispatch, std::int64_t rows, std::int64_t columns,
                                     std::int64_t most_items = std::numeric_limits<std::int64_t>::max());

/// Leaves out the calls whose zeros, times weights that are not finite, would be no numbers.
void leave_out_what_is_undefined(std::vector<KernelCall>& calls, const SparseMatrix& matrix);

/// Adds, of a text that asks for the features of an architecture, the first call and one where nothing is aligned
/// without these.
void add_calls_without_features(std::vector<KernelCall>& calls);

}  // namespace esc

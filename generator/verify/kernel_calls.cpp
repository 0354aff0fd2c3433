// SPDX-License-Identifier: Apache-2.0
#include "generator/verify/kernel_calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <utility>

namespace esc {
namespace {

constexpr double part = part_of_a_product;

/// Of the product with one column, which takes as long as one with a column for each lane. The same variant computes
/// all rows of another.
constexpr double part_of_one_column = 1.0 / 8;

/// Of the product with whole vectors where that which the kernel was made for has none, so that no other computes many
/// rows by them.
constexpr double part_of_whole_vectors = 1.0 / 8;

constexpr std::int64_t lanes_of_a_warp = 32;

/// Of wider items too many columns would have to be run for a whole one to be among them.
constexpr std::int64_t widest_item_at_ends = 1024;

/// Elements of C that a call may have where all of them are touched though few are compared: each takes 20 bytes with
/// what is noted of it.
constexpr std::int64_t most_zeroed_elements = std::int64_t{1} << 26;

/// A distance of rows at which the last of them begins more than 2^32 elements after the first, so that neither a
/// signed nor an unsigned index of 32 bits reaches it.
std::int64_t far_apart(std::int64_t rows, std::int64_t multiple_of) {
  constexpr std::int64_t distance = std::int64_t{3} << 31;
  return (distance / std::max<std::int64_t>(rows - 1, 1) / multiple_of + 1) * multiple_of;
}

/// Those that the kernel is tuned for, or as many whole vectors of them as there may be.
std::int64_t items_for(const Dispatch& dispatch, std::int64_t most_items) {
  if (dispatch.tuned_items <= most_items) {
    return dispatch.tuned_items;
  }
  const std::int64_t whole = most_items / dispatch.vector_width * dispatch.vector_width;
  return whole == 0 ? most_items : whole;
}

/// The least number of items, or of tiles, that has at least so many columns.
std::int64_t items_of(std::int64_t columns, std::int64_t item_columns) {
  return (columns + item_columns - 1) / item_columns;
}

/// A vector and a few elements beside it, so that what counts a distance in either of them shows.
constexpr std::int64_t odd_gap = 3;

/// Collects calls, each product once.
class Calls {
 public:
  Calls(const Dispatch& dispatch, std::int64_t most_items)
      : dispatch_(dispatch),
        n_(items_for(dispatch, most_items)),
        tuned_(n_ == dispatch.tuned_items),
        vector_(dispatch.vector_width),
        step_(vector_ / std::gcd(vector_, dispatch.item_columns())),
        even_((n_ + step_ - 1) / step_ * step_),
        tile_(dispatch.tile_columns),
        turn_(dispatch.iteration_columns),
        wide_(items_of(std::max(tile_, lanes_of_a_warp), dispatch.item_columns())) {}

  std::vector<KernelCall> take() && { return std::move(calls_); }

  /// The product that the kernel was made for, and the same where nothing is aligned and all rows have gaps.
  void add_whole_products() {
    add(tuned_ ? "tuned" : "as many columns as are checked", {n_, n_, n_}, 1);
    add("nothing is aligned", {n_, n_ + 3, n_ + 5, 1, 1}, 1);
    // All rows, so that what several blocks add to is added in another order.
    calls_.back().order = 1;
    add("one column", {1, 2, 1}, part_of_one_column);
    calls_.back().least_products /= lanes_of_a_warp;
    for (const Sizes& shifted : {Sizes{1, 1, 1, 1, 0}, Sizes{1, 1, 1, 0, 1}, Sizes{1, 3, 2, 3, 1}}) {
      if (add("one column that begins elsewhere", shifted, part)) {
        calls_.back().least_products /= lanes_of_a_warp;
      }
    }
    const std::int64_t beside = n_ > 7 ? n_ - 5 : n_ + 9;
    add("fewer or more columns", {beside, beside, beside}, part);
    add("whole vectors", {even_, even_, even_}, part_of_whole_vectors);
  }

  /// Threads that take turns over the columns take a second one, where they do not for the product that the kernel was
  /// made for.
  void take_turns() {
    if (turn_ > 0 && n_ * dispatch_.item_columns() <= turn_) {
      const std::int64_t more = items_of(turn_ + 1, dispatch_.item_columns());
      add("more columns than the threads take at once", {more, more, more}, part);
      // Each kind of list has a loop of its own over the columns.
      calls_.back().least_products = 100'000;
    }
  }

  /// Each condition of the tuned variant broken alone, by the least that leaves the call vectorised and, where that
  /// variant is not, by one.
  void break_tuned() {
    const std::int64_t step = step_;
    if (vector_ > 1 && !dispatch_.tuned_vectors) {
      if (n_ > 1) {
        add("n alone is less by one", {n_ - 1, n_, n_}, part);
      }
      add("n is more by one", {n_ + 1, n_ + 1, n_ + 1}, part);
      add("ldb alone is more by one", {n_, n_ + 1, n_}, part);
      add("ldc alone is more by one", {n_, n_, n_ + 1}, part);
    }
    if (even_ > step) {
      add("n alone is less", {even_ - step, even_, even_}, part);
    }
    // Where the tiles end with that n, those that the tuned variant would have too many do not show.
    if (tile_ > vector_ && (even_ - step) * dispatch_.item_columns() % tile_ == 0 && even_ > 2 * step) {
      add("n alone is less, within a tile", {even_ - 2 * step, even_, even_}, part);
    }
    add("n is more", {even_ + step, even_ + step, even_ + step}, part);
    add("ldb alone is another", {even_, even_ + vector_, even_}, part);
    add("ldc alone is another", {even_, even_, even_ + vector_}, part);
    add("neither ldb nor ldc is n", {even_, even_ + 2 * vector_, even_ + vector_}, part);
    if (even_ > step) {
      add("n is less", {even_ - step, even_ - step, even_ - step}, part);
    }
  }

  /// Each condition of the vectorised variant broken alone, by one element and, if that is another, by half a vector.
  void break_vectors() {
    if (vector_ == 1) {
      add("B alone begins elsewhere", {even_, even_, even_, 1, 0}, part);
      add("C alone begins elsewhere", {even_, even_, even_, 0, 1}, part);
      return;
    }
    for (const std::int64_t by : {std::int64_t{1}, vector_ / 2}) {
      const int shift = static_cast<int>(by);
      if (even_ > by && by * dispatch_.item_columns() % vector_ != 0) {
        add("n alone is not of whole vectors", {even_ - by, even_, even_}, part);
      }
      add("ldb alone is not of whole vectors", {even_, even_ + by, even_}, part);
      add("ldc alone is not of whole vectors", {even_, even_, even_ + by}, part);
      add("B alone is misaligned", {even_, even_, even_, shift, 0}, part);
      add("C alone is misaligned", {even_, even_, even_, 0, shift}, part);
    }
    add("B and C are misaligned differently", {even_, even_ + vector_, even_ + vector_, 1, 2}, part);
  }

  /// Several tiles of columns, the last of them whole, in part, or with a single column.
  void cross_tiles() {
    const std::int64_t step = step_;
    add("tiles, the last in part", {2 * wide_ + step, 2 * wide_ + step, 2 * wide_ + step}, part);
    add("tiles, the last of one column", {wide_ + 1, wide_ + 2, wide_ + 3}, part);
    add("whole tiles", {2 * wide_, 2 * wide_, 2 * wide_}, part);
  }

  /// More tiles than a grid has, so that there are two launches. Those at their ends are run, so many that whole items
  /// are among them: the columns of a part of one do not say where they are in a product. A launcher that sets C to
  /// zero in front touches all of it: that must be little.
  void exceed_grid(std::int64_t rows) {
    const std::int64_t item = dispatch_.item_columns();
    if (tile_ == 0 || item > widest_item_at_ends ||
        (dispatch_.zeroes_c && rows * most_tiles * tile_ > most_zeroed_elements)) {
      return;
    }
    const std::int64_t end_tiles = item == 1 ? 1 : items_of(2 * item + vector_, tile_);
    const std::int64_t items = items_of((most_tiles + 1) * tile_ + vector_, item);
    const std::int64_t even = (items + step_ - 1) / step_ * step_;
    const auto ends_of = [&](std::int64_t count) {
      const std::int64_t first_behind = items_of((most_tiles - end_tiles) * tile_, item) * item;
      return std::vector<ColumnRange>{{0, end_tiles * tile_ / item * item},
                                      {first_behind, count * item - first_behind}};
    };
    add("more tiles than a grid has", {items, items, items}, part, ends_of(items));
    // The second launch begins after as many gaps.
    add("more tiles than a grid has, with gaps", {even, even + 3 * vector_, even + 2 * vector_}, part, ends_of(even));
    add("more tiles than a grid has, nothing is aligned", {items, items + odd_gap, items + odd_gap + 2, 1, 1}, part,
        ends_of(items));
  }

  /// Values over the whole range of the type, with zeros of both signs and columns of zeros: enough calls of the tuned
  /// variant for all kinds of lines, and one where nothing is aligned.
  void draw_whole_range() {
    const std::int64_t lines = dispatch_.b.is_row_major() ? n_ * dispatch_.item_columns() : n_;
    for (std::int64_t first = 0; first < kinds_of_values; first += lines) {
      KernelCall call = calls_.front();
      call.share = part;
      call.reason = "values over the whole range of the type";
      call.values = {static_cast<std::uint64_t>(kinds_of_values + first), ValueDraw::Range::whole};
      calls_.push_back(std::move(call));
    }
    const std::int64_t wide = std::max(
        n_, dispatch_.b.is_row_major() ? items_of(kinds_of_values, dispatch_.item_columns()) : kinds_of_values);
    KernelCall call{.product = product_of({wide, wide + odd_gap, wide + odd_gap + 2, 1, 1}),
                    .reason = "values over the whole range of the type, nothing is aligned",
                    .share = part,
                    .item_columns = dispatch_.item_columns()};
    call.values = {2 * kinds_of_values + 1, ValueDraw::Range::whole};
    call.order = 2;
    calls_.push_back(std::move(call));
  }

  /// Rows so far apart that an element's index does not fit into 32 bits, in each of the two variants.
  void spread_rows(std::int64_t rows, std::int64_t columns) {
    const std::int64_t indices_of_b = dispatch_.b.outermost_extent(columns, even_);
    const std::int64_t indices_of_c = dispatch_.c.outermost_extent(rows, even_);
    const auto apart = [&](std::int64_t indices) { return std::max(far_apart(indices, vector_), even_); };
    if (indices_of_b > 1) {
      add("elements of B beyond 2^32", {even_, apart(indices_of_b), even_}, part);
    }
    if (indices_of_c > 1) {
      add("elements of C beyond 2^32", {even_, even_, apart(indices_of_c)}, part);
    }
    if (indices_of_b > 1 && indices_of_c > 1 && vector_ > 1) {
      add("elements of B and C beyond 2^32, unaligned", {even_, apart(indices_of_b) + 1, apart(indices_of_c) + 1, 1, 1},
          part);
    }
  }

  /// The product that the kernel was made for in other circumstances.
  void change_circumstances() {
    KernelCall call = calls_.front();
    call.share = part;
    const KernelCall usual = call;
    call.reason = "packed is aligned to 16 bytes only";
    call.shift_packed = 16;
    calls_.push_back(std::exchange(call, usual));
    call.reason = "on the default stream";
    call.default_stream = true;
    calls_.push_back(std::exchange(call, usual));
    if (!dispatch_.runs_earlier) {
      return;
    }
    call.compute_major = 8;
    call.product = product_without_gaps(dispatch_, even_);
    if (dispatch_.programmatic || dispatch_.copies_in_bulk) {
      call.reason = "before compute capability 9.0";
      calls_.push_back(call);
    }
    if (dispatch_.copies_in_bulk) {
      call.product = calls_.at(1).product;
      call.reason = "before compute capability 9.0, nothing is aligned";
      calls_.push_back(call);
    }
  }

 private:
  /// As ProductCase has it of row-major matrices, of any size.
  struct Sizes {
    std::int64_t n = 1;
    std::int64_t ldb = 1;
    std::int64_t ldc = 1;
    int shift_b = 0;
    int shift_c = 0;
  };

  /// Leaves out what is there already, and an n that the C interface cannot take; whether it is new.
  bool add(std::string reason, const Sizes& sizes, double share, std::vector<ColumnRange> columns = {}) {
    if (sizes.n > std::numeric_limits<std::int32_t>::max()) {
      return false;
    }
    const ProductCase product = product_of(sizes);
    const bool known = std::ranges::any_of(calls_, [&](const KernelCall& call) { return call.product == product; });
    if (!known) {
      calls_.push_back({.product = product,
                        .reason = std::move(reason),
                        .share = share,
                        .columns = std::move(columns),
                        .item_columns = dispatch_.item_columns()});
    }
    return !known;
  }

  ProductCase product_of(const Sizes& sizes) const {
    return {static_cast<std::int32_t>(sizes.n), leading_dimension(dispatch_.b, sizes.n, sizes.ldb),
            leading_dimension(dispatch_.c, sizes.n, sizes.ldc), sizes.shift_b, sizes.shift_c};
  }

  /// In another layout than row by row a gap is as long, where there is one.
  std::int64_t leading_dimension(const PlacedLayout& layout, std::int64_t n, std::int64_t of_rows) const {
    const bool gap = of_rows != n && of_rows != even_;
    return layout.is_row_major() ? of_rows : layout.least_leading_dimension(n) + (gap ? of_rows - n : 0);
  }

  const Dispatch& dispatch_;
  std::int64_t n_;  ///< items
  bool tuned_;
  std::int64_t vector_;
  std::int64_t step_;  ///< the least number of items whose columns are whole vectors
  std::int64_t even_;  ///< n_, or the next number of items whose columns are
  std::int64_t tile_;
  std::int64_t turn_;
  std::int64_t wide_;  ///< items whose columns are a tile, or a turn of lanes over the columns
  std::vector<KernelCall> calls_;
};

}  // namespace

std::vector<ColumnRange> KernelCall::compared() const {
  return columns.empty() ? std::vector<ColumnRange>{{0, product.n * item_columns}} : columns;
}

std::int64_t KernelCall::width() const {
  std::int64_t sum = 0;
  for (const ColumnRange& range : compared()) {
    sum += range.count;
  }
  return sum;
}

std::string KernelCall::expected_kernel(const std::string& name, const Dispatch& dispatch) const {
  const std::int64_t width = dispatch.vector_width;
  const std::int64_t all_columns = product.n * item_columns;
  const bool vectors = dispatch.vectors && all_columns % width == 0 && product.ldb % width == 0 &&
                       product.ldc % width == 0 && product.shift_b % width == 0 && product.shift_c % width == 0;
  const bool tuned =
      (vectors || !dispatch.tuned_vectors) && product.n == dispatch.tuned_items &&
      product.ldb == dispatch.b.least_leading_dimension(product.n) &&
      product.ldc == dispatch.c.least_leading_dimension(product.n) &&
      (dispatch.tile_columns == 0 || all_columns <= most_tiles * dispatch.tile_columns / item_columns * item_columns);
  return dispatch.has_vectors ? fmt::format("{}_kernel<{}, {}>", name, tuned, vectors)
                              : fmt::format("{}_kernel<{}>", name, tuned);
}

ProductCase KernelCall::compact() const { return {static_cast<std::int32_t>(width()), width(), width()}; }

std::string print(const KernelCall& call) { return fmt::format("{} ({})", print(call.product), call.reason); }

ProductCase product_without_gaps(const Dispatch& dispatch, std::int64_t items) {
  return {static_cast<std::int32_t>(items), dispatch.b.least_leading_dimension(items),
          dispatch.c.least_leading_dimension(items)};
}

std::vector<KernelCall> kernel_calls(const Dispatch& dispatch, std::int64_t rows, std::int64_t columns,
                                     std::int64_t most_items) {
  Calls calls(dispatch, most_items);
  calls.add_whole_products();
  calls.take_turns();
  calls.break_tuned();
  calls.break_vectors();
  calls.cross_tiles();
  calls.exceed_grid(rows);
  calls.spread_rows(rows, columns);
  calls.change_circumstances();
  calls.draw_whole_range();
  return std::move(calls).take();
}

void leave_out_what_is_undefined(std::vector<KernelCall>& calls, const SparseMatrix& matrix) {
  if (!std::ranges::all_of(matrix.values, [](double value) { return std::isfinite(value); })) {
    std::erase_if(calls, [](const KernelCall& call) { return call.values.range == ValueDraw::Range::whole; });
  }
}

void add_calls_without_features(std::vector<KernelCall>& calls) {
  // The second is that where nothing is aligned.
  for (const std::size_t number : {0, 1}) {
    KernelCall call = calls.at(number);
    call.share = part;
    call.has_features = false;
    call.reason = fmt::format("compiled for 9.0 and devices after{}", number == 0 ? "" : ", nothing is aligned");
    calls.push_back(std::move(call));
  }
}

}  // namespace esc

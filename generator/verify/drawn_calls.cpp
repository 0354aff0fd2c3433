// SPDX-License-Identifier: Apache-2.0
#include "generator/verify/drawn_calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <random>

namespace esc {
namespace {

/// Calls with values, shifts and gaps of their own.
constexpr std::int64_t calls_of_generated = 2;
constexpr std::int64_t calls_of_unknown = 24;

/// The calls for each n go so far at least, and no farther.
constexpr std::int64_t least_swept = 128;
constexpr std::int64_t most_swept = 512;

/// Multiply-adds of a drawn call where each block goes through all columns, so that no part of them can be left out.
constexpr std::int64_t most_products_of_a_block = 1'000'000;

/// Of wider items too many columns would have to be run for whole ones to be among them.
constexpr std::int64_t widest_item_in_parts = 1024;

constexpr std::uint64_t farthest_gap = 1 << 20;
constexpr std::int64_t least_items_of_blocks = 32;

struct Capability {
  int major;
  int minor;
};

/// Those that there are devices of, and that are announced, beside 9.0.
constexpr std::array<Capability, 10> capabilities = {
    {{7, 5}, {8, 0}, {8, 6}, {8, 7}, {8, 9}, {10, 0}, {10, 3}, {11, 0}, {12, 0}, {12, 1}}};

std::vector<Capability> capabilities_of(const Dispatch& dispatch) {
  std::vector<Capability> possible;
  std::ranges::copy_if(capabilities, std::back_inserter(possible),
                       [&](const Capability& one) { return dispatch.runs_earlier || one.major >= first_bulk_major; });
  return possible;
}

/// Numbers from 1 on, as many between one power of two and the next as between any other two: what is drawn evenly over
/// its magnitudes. All of it in integers, so that a seed draws the same on every machine.
class Magnitudes {
 public:
  explicit Magnitudes(std::uint64_t largest)
      : count_((static_cast<std::uint64_t>(std::bit_width(largest)) - 1) * steps +
               (largest - std::bit_floor(largest)) * steps / std::bit_floor(largest) + 1) {}

  std::uint64_t count() const { return count_; }
  /// That at a place below `count`; ascending, from 1 to about the largest.
  std::int64_t at(std::uint64_t place) const {
    const std::uint64_t power = std::uint64_t{1} << (place / steps);
    return static_cast<std::int64_t>(power + power * (place % steps) / steps);
  }

 private:
  static constexpr std::uint64_t steps = 1 << 20;  ///< between two powers

  std::uint64_t count_;
};

class Draw {
 public:
  Draw(const DrawnFor& layer, std::uint64_t seed) : layer_(layer), dispatch_(layer.dispatch), random_(seed) {}

  /// An n of part `number` of `parts` of the magnitudes that there are.
  std::int64_t items_in(std::int64_t number, std::int64_t parts) {
    const Magnitudes magnitudes(static_cast<std::uint64_t>(most_items()));
    const auto begin_of = [&](std::int64_t part) {
      return magnitudes.count() * static_cast<std::uint64_t>(part) / static_cast<std::uint64_t>(parts);
    };
    const std::uint64_t begin = begin_of(number);
    return magnitudes.at(begin + below(std::max<std::uint64_t>(1, begin_of(number + 1) - begin)));
  }

  KernelCall call(std::int64_t items, const char* reason) {
    KernelCall call{.product = product(items),
                    .reason = reason,
                    .share = part_of_a_product,
                    .columns = columns_of(items),
                    .item_columns = dispatch_.item_columns()};
    call.order = random_();
    call.first_unit = random_();
    call.values = {1 + below(1 << 20), one_of(4) ? ValueDraw::Range::whole : ValueDraw::Range::usual};
    call.default_stream = one_of(8);
    call.shift_packed = one_of(4) ? 16 * static_cast<std::int64_t>(1 + 2 * below(8)) : 0;
    if (const std::vector<Capability> others = capabilities_of(dispatch_); one_of(3)) {
      set_device(call, others[below(others.size())]);
    }
    call.has_features = !one_of(4);
    return call;
  }

  static void set_device(KernelCall& call, const Capability& device) {
    call.compute_major = device.major;
    call.compute_minor = device.minor;
  }
  std::uint64_t below(std::uint64_t count) { return random_() % count; }

  /// The largest n that is worth a call: somewhat more than two launches, where a few tiles of them can be run.
  std::int64_t most_items() const {
    const std::int64_t item = dispatch_.item_columns();
    if (!has_parts() || dispatch_.zeroes_c) {
      const std::int64_t of_block = most_products_of_a_block / std::max<std::int64_t>(layer_.longest_row * 4 * item, 1);
      return std::max<std::int64_t>(
          1,
          std::min(layer_.most_items, std::max<std::int64_t>(of_block, std::min<std::int64_t>(4 * dispatch_.tuned_items,
                                                                                              least_items_of_blocks))));
    }
    return std::min<std::int64_t>((2 * most_tiles + 3) * dispatch_.tile_columns / item,
                                  std::numeric_limits<std::int32_t>::max() / item);
  }

 private:
  bool one_of(std::uint64_t many) { return below(many) == 0; }
  bool has_tiles() const { return dispatch_.tile_columns > 0; }
  bool has_parts() const { return has_tiles() && dispatch_.item_columns() <= widest_item_in_parts; }

  /// Between rows, in elements: none, some of all magnitudes, of any length or of whole vectors.
  std::int64_t gap() {
    if (one_of(2)) {
      return 0;
    }
    const Magnitudes gaps(farthest_gap);
    const std::int64_t any = gaps.at(below(gaps.count()));
    return one_of(2) ? any : (any + dispatch_.vector_width - 1) / dispatch_.vector_width * dispatch_.vector_width;
  }

  std::int64_t leading_dimension(const PlacedLayout& layout, std::int64_t items, std::int64_t gap) {
    const std::int64_t least = layout.least_leading_dimension(items);
    return one_of(8) ? static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(least))) : least + gap;
  }

  ProductCase product(std::int64_t items) {
    const auto shift = [&] {
      return one_of(2) ? 0
                       : static_cast<int>(
                             below(static_cast<std::uint64_t>(std::max<std::int64_t>(8, 2 * dispatch_.vector_width))));
    };
    const std::int64_t gap_of_b = gap();
    const std::int64_t gap_of_c = one_of(4) ? gap_of_b : gap();
    ProductCase product{static_cast<std::int32_t>(items), leading_dimension(dispatch_.b, items, gap_of_b),
                        leading_dimension(dispatch_.c, items, gap_of_c)};
    product.shift_b = shift();
    product.shift_c = one_of(4) ? product.shift_b : shift();
    return product;
  }

  /// Whole items at both ends, around a place that is drawn and where a launch ends; all where they are few.
  std::vector<ColumnRange> columns_of(std::int64_t items) {
    const std::int64_t item = dispatch_.item_columns();
    const std::int64_t all = items * item;
    if (!has_parts() || all <= 4 * std::max(dispatch_.tile_columns, item)) {
      return {};
    }
    std::vector<ColumnRange> wanted;
    const auto take = [&](std::int64_t first, std::int64_t count) {
      const std::int64_t begin = std::clamp<std::int64_t>(first, 0, all) / item * item;
      const std::int64_t end =
          std::min(all, (std::clamp<std::int64_t>(first + count, 1, all) + item - 1) / item * item);
      if (begin < end) {
        wanted.push_back({begin, end - begin});
      }
    };
    const std::int64_t tile = dispatch_.tile_columns;
    const std::int64_t launch = most_tiles * tile / item * item;
    take(0, tile);
    take(static_cast<std::int64_t>(below(static_cast<std::uint64_t>(all))), tile / 2 + 1);
    for (std::int64_t end = launch; end < all; end += launch) {
      take(end - 1, 2);
    }
    take(all - tile, tile);
    std::ranges::sort(wanted, {}, &ColumnRange::first);
    std::vector<ColumnRange> joined;
    for (const ColumnRange& range : wanted) {
      if (joined.empty() || joined.back().first + joined.back().count < range.first) {
        joined.push_back(range);
      } else {
        joined.back().count = std::max(joined.back().count, range.first + range.count - joined.back().first);
      }
    }
    return joined;
  }

  const DrawnFor& layer_;
  const Dispatch& dispatch_;
  std::mt19937_64 random_;
};

}  // namespace

std::vector<KernelCall> drawn_calls(const DrawnFor& layer, Breadth breadth, std::uint64_t seed) {
  Draw draw(layer, seed);
  std::vector<KernelCall> calls;
  const std::int64_t count = breadth == Breadth::generated ? calls_of_generated : calls_of_unknown;
  for (std::int64_t number = 0; number <= count; ++number) {
    calls.push_back(draw.call(number < count ? draw.items_in(number, count) : draw.most_items(), "drawn"));
    calls.back().least_products /= 2;
  }
  if (breadth == Breadth::generated) {
    return calls;
  }
  const std::int64_t swept =
      std::min(layer.most_items, std::clamp(4 * layer.dispatch.tuned_items, least_swept, most_swept));
  for (std::int64_t items = 1; items <= swept; ++items) {
    KernelCall call = draw.call(items, "each n");
    call.share = 0;
    call.least_products = 1;
    calls.push_back(std::move(call));
  }
  return calls;
}

std::vector<KernelCall> calls_on_devices(const std::vector<KernelCall>& calls, const Dispatch& dispatch,
                                         Breadth breadth, std::uint64_t seed) {
  std::vector<Capability> devices = capabilities_of(dispatch);
  if (breadth == Breadth::generated) {
    devices = {devices[std::mt19937_64(seed)() % devices.size()]};
  }
  std::vector<KernelCall> more;
  for (const Capability& device : devices) {
    KernelCall call = calls.front();
    call.reason = fmt::format("compute capability {}.{}", device.major, device.minor);
    call.share = 0;
    call.least_products = 1;
    Draw::set_device(call, device);
    more.push_back(std::move(call));
  }
  return more;
}

}  // namespace esc

// SPDX-License-Identifier: Apache-2.0
#include "tests/support/drawn_nest.h"

#include <algorithm>
#include <optional>
#include <ostream>
#include <random>
#include <tuple>

#include "generator/ir/build.h"
#include "generator/ir/print.h"

namespace esc::tests {
namespace {

/// A loop of the nest and a dimension of an array.
struct Count {
  std::string iterator;
  Affine extent;
};
struct Dimension {
  Affine index;
  Affine extent;
};

Dimension dimension_of(const Count& count) { return {Affine::of(count.iterator), count.extent}; }

ArrayDeclaration declared(const std::string& name, const std::vector<Dimension>& dimensions) {
  ArrayDeclaration array{name, {}, ArrayRole::unknown};
  std::ranges::transform(dimensions, std::back_inserter(array.extents), &Dimension::extent);
  return array;
}

Access accessed(const std::string& name, const std::vector<Dimension>& dimensions) {
  Access access{name, {}};
  for (const Dimension& dimension : dimensions) {
    access.subscripts.push_back({"", dimension.index});
  }
  return access;
}

Node in_loops(const std::vector<Count>& loops, const Statement& statement) {
  Node node{statement};
  for (auto loop = loops.rbegin(); loop != loops.rend(); ++loop) {
    node = sequential_loop(loop->iterator, 0, loop->extent, 1, Role::none, {node});
  }
  return node;
}

/// The parts of a nest, before its loops have an order.
struct Parts {
  std::vector<Count> loops;
  std::vector<Count> output_loops;  ///< of an epilogue
  std::vector<Dimension> w;
  std::vector<Dimension> x;
  std::vector<Dimension> y;
  std::vector<Dimension> bias;
  Guard bounds;
};

/// Groups, where there are any, and whether they have dimensions of their own.
struct Groups {
  std::optional<Count> count;
  bool apart = true;

  std::int64_t number() const { return count ? count->extent.constant() : 1; }
  /// The dimensions of what there is in each group.
  std::vector<Dimension> with(const Count& inner) const {
    if (!count) {
      return {dimension_of(inner)};
    }
    if (apart) {
      return {dimension_of(*count), dimension_of(inner)};
    }
    const std::int64_t step = inner.extent.constant();
    return {{Affine::of(count->iterator, step) + Affine::of(inner.iterator), count->extent * step}};
  }
};

/// In one of two cases.
Groups draw_groups(std::mt19937& random) {
  if (random() % 2 == 0) {
    return {};
  }
  return {Count{"g", Affine(static_cast<std::int64_t>(random() % 3) + 1)}, random() % 2 == 0};
}

void add(std::vector<Dimension>& dimensions, const std::vector<Dimension>& more) {
  dimensions.insert(dimensions.end(), more.begin(), more.end());
}

LoopNest nest_of(const Parts& parts, bool has_epilogue, std::mt19937& random) {
  const Access w = accessed("W", parts.w);
  const Access x = accessed("X", parts.x);
  const Access y = accessed("Y", parts.y);
  Guard guard = parts.bounds;
  guard.push_back(is_nonzero(w));
  std::ranges::shuffle(guard, random);
  std::vector<Expression> factors{w, x};
  std::ranges::shuffle(factors, random);
  std::vector<Count> loops = parts.loops;
  std::ranges::shuffle(loops, random);
  LoopNest nest;
  nest.arrays = {declared("W", parts.w), declared("X", parts.x), declared("Y", parts.y)};
  nest.body = {in_loops(loops, {guard, Update{y, product(factors)}})};
  if (has_epilogue) {
    nest.arrays.push_back(declared("bias", parts.bias));
    nest.arrays.push_back(declared("residual", parts.y));
    std::vector<Count> output_loops = parts.output_loops;
    std::ranges::shuffle(output_loops, random);
    const Expression value = (Expression(y) + Expression(accessed("bias", parts.bias))) * Expression(0.5) +
                             Expression(accessed("residual", parts.y));
    nest.body.push_back(in_loops(output_loops, {{}, Store{y, value}}));
  }
  return nest;
}

/// Whether four consecutive columns of B and of C are one after the other.
enum class Width { any, of_vectors };
constexpr std::int64_t vector_columns = 4;

DrawnNest draw_batch(std::int64_t rows, std::int64_t reduction, std::int64_t items, std::int64_t columns, Width width,
                     std::mt19937& random) {
  const auto coin = [&] { return random() % 2 == 0; };
  const bool wide = width == Width::of_vectors;
  const auto transposes = [&] { return !wide && coin(); };
  const bool has_batches = wide || coin();
  const Groups groups = draw_groups(random);
  const Count i{"i", groups.count ? Affine(rows) : Affine::of("M")};
  const Count k{"k", groups.count ? Affine(reduction) : Affine::of("K")};
  const Count t = has_batches ? Count{"t", Affine(columns)} : Count{"t", Affine::of("T")};
  const Count b{"b", Affine::of("batches")};
  Parts parts{{i, k, t}, {i, t}, groups.with(i), {}, {}, coin() ? groups.with(i) : std::vector{dimension_of(t)}, {}};
  parts.w.push_back(dimension_of(k));
  if (groups.count) {
    parts.loops.push_back(*groups.count);
    parts.output_loops.push_back(*groups.count);
  }
  if (has_batches) {
    parts.bias = groups.with(i);
    parts.loops.push_back(b);
    parts.output_loops.push_back(b);
  }
  const bool batch_inside = has_batches && !groups.count && transposes();
  for (const auto& [matrix, row] : {std::pair(&parts.x, k), std::pair(&parts.y, i)}) {
    const bool batch_first = has_batches && !(batch_inside && matrix == &parts.x);
    if (batch_first) {
      matrix->push_back(dimension_of(b));
    }
    if (transposes()) {
      matrix->push_back(dimension_of(t));
      add(*matrix, groups.with(row));
    } else {
      add(*matrix, groups.with(row));
      matrix->push_back(dimension_of(t));
    }
    if (has_batches && !batch_first) {
      matrix->insert(matrix->begin() + 1, dimension_of(b));
    }
  }
  return {nest_of(parts, coin(), random), rows * groups.number(), reduction, groups.number(), items,
          has_batches ? columns : 1};
}

/// One direction of a convolution: output pixels, and the image that they read.
struct Direction {
  std::int64_t stride;
  std::int64_t dilation;
  std::int64_t padding;
  std::int64_t kernel;
  std::int64_t image;

  std::int64_t pixels() const { return (image + 2 * padding - dilation * (kernel - 1) - 1) / stride + 1; }
};

DrawnNest draw_convolution(std::int64_t filters, std::int64_t channels, std::int64_t images, std::int64_t columns,
                           Width width, std::mt19937& random) {
  const auto coin = [&] { return random() % 2 == 0; };
  const bool wide = width == Width::of_vectors;
  const auto between = [&](std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(random);
  };
  const auto draw_direction = [&] {
    Direction one{between(1, 3), between(1, 2), wide ? 0 : between(0, 2), between(1, 3), 0};
    one.image = one.dilation * (one.kernel - 1) + 1 + between(0, 6);
    return one;
  };
  const Direction down = draw_direction();
  const Direction across = wide ? Direction{1, 1, 0, 1, columns} : draw_direction();
  const Count b{"b", Affine::of("batches")};
  const Groups groups = draw_groups(random);
  const Count f{"f", groups.count ? Affine(filters) : Affine::of("F")};
  const Count c{"c", Affine(channels)};
  const Count p{"p", Affine(down.pixels())};
  const Count q{"q", Affine(across.pixels())};
  const Count r{"r", Affine(down.kernel)};
  const Count s{"s", Affine(across.kernel)};
  Parts parts{{b, f, c, p, q, r, s}, {b, f, p, q}, groups.with(f), {}, {}, groups.with(f), {}};
  if (groups.count) {
    parts.loops.push_back(*groups.count);
    parts.output_loops.push_back(*groups.count);
  }
  std::vector<Count> reductions{c, r, s};
  std::ranges::shuffle(reductions, random);
  std::ranges::transform(reductions, std::back_inserter(parts.w), dimension_of);
  const auto pixel = [&](const Direction& one, const std::string& outer, const std::string& inner) {
    const Dimension dimension{Affine::of(outer, one.stride) + Affine::of(inner, one.dilation) - one.padding,
                              Affine(one.image)};
    const std::int64_t most = (one.pixels() - 1) * one.stride + (one.kernel - 1) * one.dilation - one.padding;
    if (one.padding > 0 || coin()) {
      parts.bounds.push_back(Operation{Operator::at_most, {Affine(0), dimension.index}});
    }
    if (most >= one.image || coin()) {
      parts.bounds.push_back(less(dimension.index, dimension.extent));
    }
    return dimension;
  };
  const Dimension h = pixel(down, "p", "r");
  const Dimension w = pixel(across, "q", "s");
  for (const auto& [array, channel, pixels] :
       {std::tuple(&parts.x, c, std::vector{h, w}),
        std::tuple(&parts.y, f, std::vector{dimension_of(p), dimension_of(q)})}) {
    const bool channels_first = wide || coin();
    *array = {dimension_of(b)};
    add(*array, channels_first ? groups.with(channel) : pixels);
    add(*array, channels_first ? pixels : groups.with(channel));
  }
  return {nest_of(parts, coin(), random),
          filters * groups.number(),
          channels * down.kernel * across.kernel,
          groups.number(),
          images,
          down.pixels() * across.pixels()};
}

rc::Gen<DrawnNest> drawn_of(Width width) {
  return rc::gen::map(
      rc::gen::tuple(rc::gen::inRange<std::int64_t>(1, 9), rc::gen::inRange<std::int64_t>(1, 9),
                     rc::gen::inRange<std::int64_t>(1, 3), rc::gen::inRange<std::int64_t>(1, 6),
                     rc::gen::arbitrary<bool>(), rc::gen::arbitrary<std::uint32_t>()),
      [width](const std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t, bool, std::uint32_t>& drawn) {
        const auto& [rows, reduction, items, number, convolves, seed] = drawn;
        const std::int64_t columns = width == Width::of_vectors ? (1 + number % 3) * vector_columns : number;
        std::mt19937 random(seed);
        return convolves ? draw_convolution(rows, std::min<std::int64_t>(reduction, 3), items, columns, width, random)
                         : draw_batch(rows, reduction, items, columns, width, random);
      });
}

}  // namespace

rc::Gen<DrawnNest> drawn_nest() { return drawn_of(Width::any); }

rc::Gen<DrawnNest> drawn_wide_nest() { return drawn_of(Width::of_vectors); }

}  // namespace esc::tests

namespace esc {

void showValue(const tests::DrawnNest& drawn, std::ostream& stream) {
  stream << print(drawn.nest) << "for W of " << drawn.rows << " x " << drawn.stored << ", " << drawn.items
         << " items of " << drawn.item_columns << " columns";
}

}  // namespace esc

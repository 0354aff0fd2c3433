#include "tests/support/drawn_nest.h"

#include <algorithm>
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
  Dimension bias;
  Guard bounds;
};

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
    nest.arrays.push_back(declared("bias", {parts.bias}));
    nest.arrays.push_back(declared("residual", parts.y));
    std::vector<Count> output_loops = parts.output_loops;
    std::ranges::shuffle(output_loops, random);
    const Expression value =
        (Expression(y) + Expression(accessed("bias", {parts.bias}))) * Expression(0.5) + Expression(accessed("residual", parts.y));
    nest.body.push_back(in_loops(output_loops, {{}, Store{y, value}}));
  }
  return nest;
}

/// Whether four consecutive columns of B and of C stand one behind the other.
enum class Width { any, of_vectors };
constexpr std::int64_t vector_columns = 4;

DrawnNest draw_batch(std::int64_t rows, std::int64_t reduction, std::int64_t items, std::int64_t columns, Width width, std::mt19937& random) {
  const auto coin = [&] { return random() % 2 == 0; };
  const bool wide = width == Width::of_vectors;
  const auto transposes = [&] { return !wide && coin(); };
  const bool has_batches = wide || coin();
  const Count i{"i", Affine::of("M")};
  const Count k{"k", Affine::of("K")};
  const Count t = has_batches ? Count{"t", Affine(columns)} : Count{"t", Affine::of("T")};
  const Count b{"b", Affine::of("batches")};
  Parts parts{{i, k, t}, {i, t}, {dimension_of(i), dimension_of(k)}, {dimension_of(k), dimension_of(t)}, {dimension_of(i), dimension_of(t)},
              coin() ? dimension_of(i) : dimension_of(t), {}};
  if (transposes()) {
    std::swap(parts.x[0], parts.x[1]);
  }
  if (transposes()) {
    std::swap(parts.y[0], parts.y[1]);
  }
  if (has_batches) {
    parts.bias = dimension_of(i);
    parts.loops.push_back(b);
    parts.output_loops.push_back(b);
    parts.x.insert(parts.x.begin() + (transposes() ? 1 : 0), dimension_of(b));
    parts.y.insert(parts.y.begin(), dimension_of(b));
  }
  return {nest_of(parts, coin(), random), rows, reduction, items, has_batches ? columns : 1};
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

DrawnNest draw_convolution(std::int64_t filters, std::int64_t channels, std::int64_t images, std::int64_t columns, Width width,
                           std::mt19937& random) {
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
  const Count f{"f", Affine::of("F")};
  const Count c{"c", Affine(channels)};
  const Count p{"p", Affine(down.pixels())};
  const Count q{"q", Affine(across.pixels())};
  const Count r{"r", Affine(down.kernel)};
  const Count s{"s", Affine(across.kernel)};
  Parts parts{{b, f, c, p, q, r, s}, {b, f, p, q}, {}, {}, {}, dimension_of(f), {}};
  std::vector<Count> reductions{c, r, s};
  std::ranges::shuffle(reductions, random);
  parts.w = {dimension_of(f)};
  std::ranges::transform(reductions, std::back_inserter(parts.w), dimension_of);
  const auto pixel = [&](const Direction& one, const std::string& outer, const std::string& inner) {
    const Dimension dimension{Affine::of(outer, one.stride) + Affine::of(inner, one.dilation) - one.padding, Affine(one.image)};
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
  parts.x = wide || coin() ? std::vector{dimension_of(b), dimension_of(c), h, w} : std::vector{dimension_of(b), h, w, dimension_of(c)};
  parts.y = wide || coin() ? std::vector{dimension_of(b), dimension_of(f), dimension_of(p), dimension_of(q)}
                   : std::vector{dimension_of(b), dimension_of(p), dimension_of(q), dimension_of(f)};
  return {nest_of(parts, coin(), random), filters, channels * down.kernel * across.kernel, images, down.pixels() * across.pixels()};
}

rc::Gen<DrawnNest> drawn_of(Width width) {
  return rc::gen::map(rc::gen::tuple(rc::gen::inRange<std::int64_t>(1, 9), rc::gen::inRange<std::int64_t>(1, 9),
                                     rc::gen::inRange<std::int64_t>(1, 3), rc::gen::inRange<std::int64_t>(1, 6), rc::gen::arbitrary<bool>(),
                                     rc::gen::arbitrary<std::uint32_t>()),
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
  stream << print(drawn.nest) << "for W of " << drawn.rows << " x " << drawn.reduction << ", " << drawn.items << " items of "
         << drawn.item_columns << " columns";
}

}  // namespace esc

// SPDX-License-Identifier: Apache-2.0
// The shipped nests beside the plain product: C without warnings, and what their comments say, computed.

#include <gtest/gtest.h>

#include <filesystem>
#include <random>

#include "generator/emit/templates.h"
#include "generator/frontend/parse_loop_nest.h"
#include "generator/ir/interpret.h"
#include "generator/ir/print.h"
#include "generator/ir/print_function.h"
#include "generator/support/file.h"
#include "generator/support/process.h"

namespace esc {
namespace {

TEST(NestTemplates, AreCWithoutWarnings) {
  for (const char* name : {"spmm.c", "conv2d.c", "conv2d_nhwc.c", "conv2d_groups.c", "linear_nk.c", "spmm_csr.c"}) {
    const ProcessResult compiled = run_process({ESC_HOST_COMPILER, "-x", "c", "-std=c11", "-Wall", "-Wextra", "-Werror",
                                                "-fsyntax-only", std::string(ESC_SOURCE_DIR "/templates/") + name});
    EXPECT_EQ(compiled.status, 0) << compiled.output;
    EXPECT_EQ(compiled.output, "");
  }
}

/// Random elements, two of three zero where there are holes.
Tensor drawn(const std::vector<std::int64_t>& extents, bool has_holes, std::mt19937& random) {
  std::int64_t count = 1;
  for (const std::int64_t extent : extents) {
    count *= extent;
  }
  std::uniform_real_distribution<double> between(-1, 1);
  Tensor tensor{extents, {}};
  for (std::int64_t at = 0; at < count; ++at) {
    tensor.elements.push_back(has_holes && at % 3 != 0 ? 0 : between(random));
  }
  return tensor;
}

/// The sizes of a convolution.
struct Convolution {
  std::int64_t images, channels, height, width, filters, rows, columns, stride, pad, dilation;
  std::int64_t groups = 1;  ///< each of so many channels

  std::int64_t out(std::int64_t extent, std::int64_t kernel) const {
    return (extent + 2 * pad - dilation * (kernel - 1) - 1) / stride + 1;
  }
  GivenSizes sizes() const {
    GivenSizes given = plain_sizes();
    if (groups > 1) {
      given.named["groups"] = groups;
    }
    return given;
  }
  GivenSizes plain_sizes() const {
    return {{{"H", height}, {"W", width}, {"stride", stride}, {"pad", pad}, {"dilation", dilation}},
            {filters, channels, rows, columns}};
  }
};

constexpr Convolution convolutions[] = {{2, 3, 7, 6, 4, 3, 3, 1, 1, 1},
                                        {1, 2, 9, 8, 3, 3, 2, 2, 0, 1},
                                        {3, 1, 8, 7, 2, 2, 3, 3, 2, 2},
                                        {1, 4, 5, 5, 3, 1, 1, 1, 0, 1}};

/// Where the element is; the channels are the last dimension or the second.
std::size_t place(bool is_last, std::int64_t n, std::int64_t c, std::int64_t h, std::int64_t w, std::int64_t channels,
                  std::int64_t height, std::int64_t width) {
  return static_cast<std::size_t>(is_last ? ((n * height + h) * width + w) * channels + c
                                          : ((n * channels + c) * height + h) * width + w);
}

void expect_convolution(std::string_view text, const Convolution& size, bool channels_last) {
  const LoopNest nest = parse_as_written(text, "conv.c", NestHeaders::of_system, size.sizes());
  const std::int64_t height = size.out(size.height, size.rows);
  const std::int64_t width = size.out(size.width, size.columns);
  const auto shape = [&](std::int64_t channels, std::int64_t h, std::int64_t w) {
    return channels_last ? std::vector{size.images, h, w, channels} : std::vector{size.images, channels, h, w};
  };
  std::mt19937 random(3);
  Memory memory{{{"N", size.images}}, {}};
  const Tensor weights = drawn({size.filters, size.channels, size.rows, size.columns}, true, random);
  const std::int64_t channels = size.groups * size.channels;
  const Tensor images = drawn(shape(channels, size.height, size.width), false, random);
  memory.arrays["Weights"] = weights;
  memory.arrays["X"] = images;
  const std::vector<std::int64_t> out_shape = shape(size.filters, height, width);
  const std::size_t count = static_cast<std::size_t>(size.images * size.filters * height * width);
  memory.arrays["Y"] = {out_shape, std::vector<double>(count, 0)};
  const Memory result = interpret(nest, memory);
  std::vector<double> expected(count, 0);
  for (std::int64_t n = 0; n < size.images; ++n) {
    for (std::int64_t f = 0; f < size.filters; ++f) {
      for (std::int64_t p = 0; p < height; ++p) {
        for (std::int64_t q = 0; q < width; ++q) {
          double& sum = expected.at(place(channels_last, n, f, p, q, size.filters, height, width));
          for (std::int64_t at = 0; at < size.channels * size.rows * size.columns; ++at) {
            const std::int64_t h = p * size.stride + at / size.columns % size.rows * size.dilation - size.pad;
            const std::int64_t w = q * size.stride + at % size.columns * size.dilation - size.pad;
            if (h >= 0 && h < size.height && w >= 0 && w < size.width) {
              const std::int64_t c = f / (size.filters / size.groups) * size.channels + at / size.columns / size.rows;
              sum += weights.elements.at(static_cast<std::size_t>(f * size.channels * size.rows * size.columns + at)) *
                     images.elements.at(place(channels_last, n, c, h, w, channels, size.height, size.width));
            }
          }
        }
      }
    }
  }
  for (std::size_t at = 0; at < count; ++at) {
    EXPECT_NEAR(result.arrays.at("Y").elements.at(at), expected[at], 1e-12) << at << "\n" << print(nest);
  }
}

TEST(NestTemplates, ConvolveImagesWithChannelsFirst) {
  for (const Convolution& size : convolutions) {
    expect_convolution(conv2d_template, size, false);
  }
}

TEST(NestTemplates, ConvolveImagesWithChannelsLast) {
  for (const Convolution& size : convolutions) {
    expect_convolution(conv2d_nhwc_template, size, true);
  }
}

/// Two groups of two filters, a depthwise convolution, and one with two filters for each channel.
constexpr Convolution grouped_convolutions[] = {
    {2, 3, 7, 6, 4, 3, 3, 1, 1, 1, 2}, {1, 1, 9, 8, 5, 3, 2, 2, 0, 1, 5}, {3, 1, 8, 7, 6, 2, 3, 3, 2, 2, 3}};

TEST(NestTemplates, ConvolveImagesInGroups) {
  for (const Convolution& size : grouped_convolutions) {
    expect_convolution(conv2d_groups_template, size, false);
  }
}

TEST(NestTemplates, AreProductsThatArePrintedAndReadBack) {
  for (const auto& [text, sizes] :
       {std::pair(conv2d_template, convolutions[0].sizes()), std::pair(conv2d_nhwc_template, convolutions[1].sizes()),
        std::pair(conv2d_groups_template, grouped_convolutions[0].sizes()),
        std::pair(conv2d_groups_template, grouped_convolutions[1].sizes()),
        std::pair(linear_nk_template, GivenSizes())}) {
    const LoopNest nest = parse_loop_nest(text, "nest.c", NestHeaders::of_system, sizes);
    EXPECT_EQ(nest.array(ArrayRole::dense).name, "X");
    EXPECT_EQ(nest.array(ArrayRole::output).name, "Y");
    const std::string printed = print_function(nest);
    EXPECT_EQ(parse_loop_nest(printed, "printed.c", NestHeaders::of_system), nest) << printed;
  }
}

TEST(NestTemplates, ALinearLayerHasARowForEachToken) {
  const LoopNest nest = parse_as_written(linear_nk_template, "linear.c");
  EXPECT_EQ(print(nest),
            "for (t = 0; t < N; t++)\n"
            "  for (i = 0; i < M; i++)\n"
            "    for (k = 0; k < K; k++)\n"
            "      if (W[i][k] != 0) Y[t][i] += W[i][k] * X[t][k];\n");
}

}  // namespace
}  // namespace esc

// SPDX-License-Identifier: Apache-2.0
#include "generator/schedule/dense_cost.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "generator/schedule/element_types.h"

namespace esc {
namespace {

/// What a library's kernels of one element type reach. Fitted to cuBLASLt 13 on one H200: 134 products of float32, 134
/// of TF32 and 103 of float16, which it meets within 9, 8 and 9 % on average.
struct Reached {
  double launch;        ///< microseconds: launch, first loads, store
  double arithmetic;    ///< of the rate that the device has
  double step;          ///< microseconds that 1,000 elements of K take at least, one after the other
  double memory;        ///< of the bandwidth, of whatever operands come from
  double split;         ///< microseconds that adding up parts of K takes
  double shared_tiles;  ///< of the bandwidth of L2: above 1 where blocks of a cluster share what they load
};

constexpr Reached of_f32{
    .launch = 3.71, .arithmetic = 0.688, .step = 3.52, .memory = 0.92, .split = 3.51, .shared_tiles = 0.306};
constexpr Reached of_tf32{
    .launch = 2.85, .arithmetic = 0.519, .step = 8, .memory = 0.913, .split = 1.9, .shared_tiles = 0.631};
constexpr Reached of_half{
    .launch = 2.44, .arithmetic = 0.878, .step = 1.51, .memory = 0.877, .split = 3.75, .shared_tiles = 2.3};

/// Of a matrix and one vector, which float32 and TF32 have a kernel for; fitted to 36 products, which it meets within
/// 5 %.
constexpr double vector_launch = 1.84;
constexpr double vector_step = 0.29;
constexpr double vector_memory = 0.85;

constexpr double bytes_of_gigabyte = 1000;  ///< a microsecond
/// 7,950 GB/s of 132 multiprocessors, measured.
constexpr double l2_gigabytes_of_multiprocessor = 60.2;
/// How the time of a kernel and that of its operands add: 1 would be their sum, infinity the longer one.
constexpr double overlap = 3;

constexpr std::array<double, 4> tile_rows{32, 64, 128, 256};
constexpr std::array<double, 5> tile_columns{16, 32, 64, 128, 256};
constexpr std::array<double, 6> parts_of_k{1, 2, 4, 8, 16, 32};
constexpr double least_tile = 1024;  ///< elements of C
constexpr double largest_tile = 128 * 256;
constexpr double least_part = 64;  ///< of K

struct Rates {
  double operations;  ///< a microsecond, of all multiprocessors
  double l2_bytes;
  double operand_bytes;
};

double time_of_tiles(double m, double k, double n, double size, const Rates& rates, double multiprocessors,
                     const Reached& reached) {
  double best = std::numeric_limits<double>::infinity();
  for (const double rows : tile_rows) {
    for (const double columns : tile_columns) {
      if (rows * columns < least_tile || rows * columns > largest_tile) {
        continue;
      }
      for (const double parts : parts_of_k) {
        const double length = k / parts;
        if (parts > 1 && length < least_part) {
          break;
        }
        const double blocks = std::ceil(m / rows) * std::ceil(n / columns) * parts;
        const double waves = std::ceil(blocks / multiprocessors);
        const double arithmetic =
            waves * 2 * rows * columns * length * multiprocessors / (rates.operations * reached.arithmetic);
        const double loads = blocks * (rows + columns) * length * size / (rates.l2_bytes * reached.shared_tiles);
        const double adding = parts > 1 ? reached.split + sizeof(float) * m * n * parts / rates.l2_bytes : 0;
        best = std::min(best, std::max({arithmetic, loads, reached.step * length / 1000}) + adding);
      }
    }
  }
  const double operands = size * (m * k + n * (m + k)) / (rates.operand_bytes * reached.memory);
  return reached.launch + std::pow(std::pow(best, overlap) + std::pow(operands, overlap), 1 / overlap);
}

std::optional<Figure> operations_of(std::string_view dtype, const Device& device) {
  return is_half_type(dtype) ? device.f16_gigaflops
         : dtype == "tf32"   ? device.tf32_gigaflops
         : dtype == "f32"    ? device.fp32_gigaflops
                             : std::nullopt;
}

const Reached& reached_of(std::string_view dtype) {
  return is_half_type(dtype) ? of_half : dtype == "tf32" ? of_tf32 : of_f32;
}

}  // namespace

std::optional<double> dense_microseconds(const LayerShape& shape, const Device& device) {
  const std::optional<Figure> operations = operations_of(shape.dtype, device);
  const std::optional<double> memory_gigabytes = nominal_memory_gigabytes(device);
  if (!operations || !memory_gigabytes || device.key.multiprocessors == 0 || device.key.l2_bytes == 0) {
    return std::nullopt;
  }
  const auto m = static_cast<double>(shape.rows);
  const auto k = static_cast<double>(shape.columns);
  const auto n = static_cast<double>(shape.bcol);
  const double size = bytes_of_type(shape.dtype);
  const double l2_bytes = l2_gigabytes_of_multiprocessor * device.key.multiprocessors * bytes_of_gigabyte;
  const bool fit = size * (m * k + n * (m + k)) <= static_cast<double>(device.key.l2_bytes);
  const Rates rates{
      .operations = operations->value * bytes_of_gigabyte,
      .l2_bytes = l2_bytes,
      .operand_bytes = shape.cache == CacheState::warm && fit ? l2_bytes : *memory_gigabytes * bytes_of_gigabyte};
  const double tiles = time_of_tiles(m, k, n, size, rates, device.key.multiprocessors, reached_of(shape.dtype));
  if (shape.bcol > 1 || is_half_type(shape.dtype)) {
    return tiles;
  }
  return std::min(tiles, vector_launch + vector_step * k / 1000 + size * m * k / (rates.operand_bytes * vector_memory));
}

}  // namespace esc

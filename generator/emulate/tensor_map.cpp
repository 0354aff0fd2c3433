// SPDX-License-Identifier: Apache-2.0
#include "generator/emulate/tensor_map.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <numeric>

namespace esc {
namespace {

constexpr std::uint64_t kPieceBytes = swizzle_piece_bytes;

/// What the last word of an encoded map must be, so that a map that was changed by hand is none.
std::uint64_t checksum(const EncodedTensorMap& encoded) {
  constexpr std::uint64_t kBasis = 0xcbf29ce484222325u;
  constexpr std::uint64_t kPrime = 0x100000001b3u;
  return std::accumulate(encoded.begin(), std::prev(encoded.end()), kBasis,
                         [](std::uint64_t sum, std::uint64_t word) { return (sum ^ word) * kPrime; });
}

bool is_valid(const TensorMap& map) {
  constexpr std::uint64_t kMostElements = std::uint64_t{1} << 32;
  constexpr std::uint64_t kMostStride = std::uint64_t{1} << 40;
  constexpr std::uint32_t kMostOfBox = 256;
  const std::uint64_t row_bytes = map.element_bytes * map.box_columns;
  return (map.element_bytes == 2 || map.element_bytes == 4) && map.base != 0 && map.base % kPieceBytes == 0 &&
         map.columns >= 1 && map.columns <= kMostElements && map.rows >= 1 && map.rows <= kMostElements &&
         map.stride % kPieceBytes == 0 && map.stride < kMostStride && map.box_columns >= 1 &&
         map.box_columns <= kMostOfBox && map.box_rows >= 1 && map.box_rows <= kMostOfBox &&
         row_bytes % kPieceBytes == 0 && map.swizzle <= Swizzle::of_128_bytes &&
         (map.swizzle == Swizzle::none || row_bytes <= kPieceBytes * pieces_of(map.swizzle));
}

}  // namespace

std::uint64_t TensorMap::box_alignment() const {
  constexpr std::uint64_t kPatternRow = 128;
  return kPatternRow * pieces_of(swizzle);
}

std::uint64_t TensorMap::place(std::uint64_t offset) const { return swizzled(offset, swizzle); }

TensorMap::Span TensorMap::inside(std::int32_t x, std::int32_t y, std::uint32_t row) const {
  const std::int64_t at = std::int64_t{y} + row;
  const std::int64_t begin = std::clamp<std::int64_t>(x, 0, static_cast<std::int64_t>(columns));
  const std::int64_t end =
      std::clamp<std::int64_t>(std::int64_t{x} + box_columns, 0, static_cast<std::int64_t>(columns));
  if (at < 0 || at >= static_cast<std::int64_t>(rows) || begin >= end) {
    return {};
  }
  return {static_cast<std::uint32_t>(begin - x), static_cast<std::uint32_t>(end - begin),
          base + static_cast<std::uint64_t>(at) * stride + static_cast<std::uint64_t>(begin) * element_bytes};
}

bool TensorMap::may_begin_at(std::int32_t x) const {
  return x % static_cast<std::int32_t>(kPieceBytes / element_bytes) == 0;
}

std::vector<std::byte> TensorMap::read(std::int32_t x, std::int32_t y) const {
  std::vector<std::byte> box(box_bytes());
  std::vector<std::byte> line(element_bytes * box_columns);
  for (std::uint32_t row = 0; row < box_rows; ++row) {
    const Span span = inside(x, y, row);
    std::ranges::fill(line, std::byte{0});
    if (span.count != 0) {
      std::memcpy(line.data() + element_bytes * span.first, reinterpret_cast<const void*>(span.address),
                  element_bytes * span.count);
    }
    for (std::uint64_t at = 0; at < line.size(); at += kPieceBytes) {
      std::memcpy(box.data() + place(row * line.size() + at), line.data() + at, kPieceBytes);
    }
  }
  return box;
}

bool has_gaps(const TensorMap& map) {
  return map.swizzle != Swizzle::none && map.element_bytes * map.box_columns < kPieceBytes * pieces_of(map.swizzle);
}

std::optional<EncodedTensorMap> encode_tensor_map(const TensorMap& map) {
  if (!is_valid(map)) {
    return std::nullopt;
  }
  EncodedTensorMap encoded{map.base,
                           map.columns,
                           map.rows,
                           map.stride,
                           map.box_columns,
                           map.box_rows,
                           static_cast<std::uint64_t>(map.swizzle),
                           map.element_bytes};
  encoded.back() = checksum(encoded);
  return encoded;
}

std::optional<TensorMap> decode_tensor_map(const EncodedTensorMap& encoded) {
  const TensorMap map{encoded[0],
                      encoded[1],
                      encoded[2],
                      encoded[3],
                      static_cast<std::uint32_t>(encoded[4]),
                      static_cast<std::uint32_t>(encoded[5]),
                      static_cast<Swizzle>(encoded[6]),
                      encoded[7]};
  return encode_tensor_map(map) == encoded ? std::optional(map) : std::nullopt;
}

}  // namespace esc

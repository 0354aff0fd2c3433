// SPDX-License-Identifier: Apache-2.0
#include "generator/report/grey_png.h"

#include <openssl/evp.h>
#include <zlib.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "generator/support/error.h"

namespace esc {
namespace {

/// Four bytes, the highest first.
std::string big_endian(std::uint32_t number) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) {
    bytes += static_cast<char>(number >> shift & 255U);
  }
  return bytes;
}

/// A chunk of a PNG: its length, its name, what is in it, and the checksum of both.
std::string chunk(const std::string& name, const std::string& content) {
  const std::string named = name + content;
  const auto sum = crc32(0, reinterpret_cast<const Bytef*>(named.data()), static_cast<uInt>(named.size()));
  return big_endian(static_cast<std::uint32_t>(content.size())) + named + big_endian(static_cast<std::uint32_t>(sum));
}

std::string deflated(const std::string& content) {
  uLongf bytes = compressBound(static_cast<uLong>(content.size()));
  std::string result(bytes, '\0');
  const int status =
      compress2(reinterpret_cast<Bytef*>(result.data()), &bytes, reinterpret_cast<const Bytef*>(content.data()),
                static_cast<uLong>(content.size()), Z_BEST_COMPRESSION);
  ESC_CHECK(status == Z_OK, "a picture is compressed into as many bytes as zlib asks for");
  result.resize(bytes);
  return result;
}

}  // namespace

std::string grey_png(const DensityRaster& raster) {
  const double densest = std::max(1e-300, raster.densest());
  std::string lines;
  for (int row = 0; row < raster.rows; ++row) {
    lines += '\0';  // a line that is as it is, no difference
    for (int column = 0; column < raster.columns; ++column) {
      const double share = raster.at(row, column);
      lines += static_cast<char>(255 - std::lround(255 * share / densest));
    }
  }
  constexpr std::string_view signature("\x89PNG\r\n\x1a\n", 8);
  const std::string form("\x08\x00\x00\x00\x00",
                         5);  // 8 bits, grey, and the only ways to compress, to filter and to order lines
  return std::string(signature) +
         chunk("IHDR", big_endian(static_cast<std::uint32_t>(raster.columns)) +
                           big_endian(static_cast<std::uint32_t>(raster.rows)) + form) +
         chunk("IDAT", deflated(lines)) + chunk("IEND", {});
}

std::string base64(const std::string& bytes) {
  std::string text(4 * ((bytes.size() + 2) / 3) + 1, '\0');  // and a zero, which is written after them
  EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()), reinterpret_cast<const unsigned char*>(bytes.data()),
                  static_cast<int>(bytes.size()));
  text.pop_back();
  return text;
}

}  // namespace esc

// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/model_fixtures.h"

#include <zlib.h>

namespace esc {
namespace {

std::string number(std::uint64_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) {
    text += static_cast<char>(value >> (8 * i));
  }
  return text;
}

/// What the local header and the directory's entry have in common: version, flags, method, time, date, checksum, sizes
/// and lengths.
std::string common_part(const ArchivedFile& file) {
  const auto checksum = crc32_z(0, reinterpret_cast<const Bytef*>(file.content.data()), file.content.size());
  return number(20, 2) + number(0, 2) + number(0, 2) + number(0, 2) + number(33, 2) + number(checksum, 4) +
         number(file.content.size(), 4) + number(file.content.size(), 4) + number(file.name.size(), 2) + number(0, 2);
}

}  // namespace

std::string archive_of(const std::vector<ArchivedFile>& files) {
  std::string bytes;
  std::string directory;
  for (const ArchivedFile& file : files) {
    directory += "PK\x01\x02" + number(20, 2) + common_part(file) + number(0, 2) + number(0, 2) + number(0, 2) +
                 number(0, 4) + number(bytes.size(), 4) + file.name;
    bytes += "PK\x03\x04" + common_part(file) + file.name + file.content;
  }
  return bytes + directory + "PK\x05\x06" + number(0, 4) + number(files.size(), 2) + number(files.size(), 2) +
         number(directory.size(), 4) + number(bytes.size(), 4) + number(0, 2);
}

}  // namespace esc

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "generator/model/stored_bytes.h"

namespace esc {

/// A file in a zip archive.
struct ZipMember {
  std::string name;
  bool is_deflated = false;    ///< else it is stored as it is
  std::uint32_t checksum = 0;  ///< CRC-32 of its bytes
  std::uint64_t packed = 0;    ///< bytes in the archive
  std::uint64_t size = 0;      ///< bytes of the file itself
  std::uint64_t begin = 0;     ///< where in the archive they begin
};

/// The members of an archive, from its directory at the end, with large ones (ZIP64) too; nothing of them is read but
/// their local headers. Throws UserError with the byte for an archive that is cut short, of several parts or encrypted,
/// has members that overlap, are packed in another way than by deflate, claim more bytes than deflate can make of
/// theirs, or have a name twice.
std::vector<ZipMember> read_zip_directory(const StoredBytes& archive);

}  // namespace esc

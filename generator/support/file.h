// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "generator/support/limits.h"
#include "generator/support/regular_file.h"

namespace esc {

/// The whole content of a regular file, as many bytes as it has when it is opened. Throws UserError when it cannot be
/// read, is a directory, a pipe or a device, or has more than `most_bytes`, before memory is taken for it.
std::string read_file(const std::filesystem::path& path, std::uint64_t most_bytes = most_text_bytes,
                      FileOf owner = FileOf::user);

/// The same of a file of a bundle, which is no link.
inline std::string read_bundle_file(const std::filesystem::path& path, std::uint64_t most_bytes = most_text_bytes) {
  return read_file(path, most_bytes, FileOf::bundle);
}

/// Writes `content` to `path` as an OutputFile: a reader sees the old file or the whole new one, never a part. Throws
/// UserError when the folder cannot be written or the disk is full; then nothing of the new file is left.
void write_file_whole(const std::filesystem::path& path, std::span<const std::byte> content);
void write_file_whole(const std::filesystem::path& path, std::string_view content);

}  // namespace esc

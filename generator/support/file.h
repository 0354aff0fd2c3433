#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace esc {

/// The whole content of a file. Throws UserError when it cannot be read or is a directory.
std::string read_file(const std::filesystem::path& path);

/// Writes `content` to `path` so that a reader sees the old file or the whole new one, never a part: the text goes to a
/// temporary file in the same folder, is flushed to the disk, and is renamed into place. Throws UserError when the
/// folder cannot be written or the disk is full; then nothing of the new file is left.
void write_file_whole(const std::filesystem::path& path, std::span<const std::byte> content);
void write_file_whole(const std::filesystem::path& path, std::string_view content);

}  // namespace esc

// SPDX-License-Identifier: Apache-2.0
#include "generator/support/file.h"

#include <fmt/format.h>

#include "generator/support/error.h"
#include "generator/support/output_file.h"

namespace esc {

std::string read_file(const std::filesystem::path& path, std::uint64_t most_bytes, FileOf owner) {
  const RegularFile file(path, "a text", owner);
  if (file.size() > most_bytes) {
    throw UserError(path.string(),
                    fmt::format("has {} bytes, more than the {} that such a file may have", file.size(), most_bytes),
                    "name another file");
  }
  std::string content(file.size(), '\0');
  file.read_at(0, std::as_writable_bytes(std::span(content)));
  return content;
}

void write_file_whole(const std::filesystem::path& path, std::span<const std::byte> content) {
  OutputFile file(path);
  file.write(content);
  file.commit();
}

void write_file_whole(const std::filesystem::path& path, std::string_view content) {
  write_file_whole(path, std::as_bytes(std::span(content.data(), content.size())));
}

}  // namespace esc

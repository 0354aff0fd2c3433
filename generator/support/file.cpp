#include "generator/support/file.h"

#include <cerrno>
#include <fstream>
#include <iterator>
#include <system_error>

#include "generator/support/error.h"
#include "generator/support/output_file.h"

namespace esc {
namespace {

std::string reason() { return std::generic_category().message(errno); }

}  // namespace

std::string read_file(const std::filesystem::path& path) {
  std::error_code ignored;
  const std::filesystem::file_status status = std::filesystem::status(path, ignored);
  if (std::filesystem::is_directory(status)) {
    throw UserError(path.string(), "is a directory", "name a file");
  }
  // A device may have no end, a pipe may never begin.
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
    throw UserError(path.string(), "is not a file that can be read whole", "name a regular file");
  }
  std::ifstream stream(path, std::ios::binary);
  if (!stream) {
    throw UserError(path.string(), "cannot be read: " + reason());
  }
  std::string content((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
  if (stream.bad()) {
    throw UserError(path.string(), "cannot be read: " + reason());
  }
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

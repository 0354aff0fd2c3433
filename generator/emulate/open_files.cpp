// SPDX-License-Identifier: Apache-2.0
#include "generator/emulate/open_files.h"

#include <algorithm>

namespace esc {

OpenFiles::Handle OpenFiles::open(std::span<const std::byte> contents) {
  files_.emplace(++latest_, contents);
  return latest_;
}

std::span<const std::byte> OpenFiles::read(Handle file, std::size_t most) {
  std::span<const std::byte>& left = files_.at(file);
  const std::span<const std::byte> bytes = left.first(std::min(most, left.size()));
  left = left.subspan(bytes.size());
  return bytes;
}

}  // namespace esc

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace esc {

/// The files that a text under check may ask for, by path: their contents, or nothing where none is at that path.
using KnownFiles = std::map<std::string, std::optional<std::vector<std::byte>>>;

/// What a text has open of them, to read. No file of this machine is touched.
class OpenFiles {
 public:
  /// What the text has in place of a FILE*: no address, and never 0.
  using Handle = std::uint64_t;

  /// `contents` must outlive what is open.
  Handle open(std::span<const std::byte> contents);
  /// Whether a handle stands for an open file; the others may be asked of such ones only.
  bool has(Handle file) const { return files_.contains(file); }
  void close(Handle file) { files_.erase(file); }
  bool empty() const { return files_.empty(); }
  /// The next bytes, as many as are left up to `most`.
  std::span<const std::byte> read(Handle file, std::size_t most);

 private:
  std::map<Handle, std::span<const std::byte>> files_;  ///< what is left of each
  Handle latest_ = 0;
};

}  // namespace esc

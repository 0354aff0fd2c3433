// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>

namespace esc {

/// A file without a name, for what is too large for memory: it goes with the process, however that ends.
class ScratchFile {
 public:
  /// In this folder, or in the nearest one above that is there. Throws UserError.
  explicit ScratchFile(const std::filesystem::path& folder);
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;
  ~ScratchFile();

  /// May be called from several threads. Throws UserError when the disk is full.
  void write(std::span<const std::byte> bytes, std::uint64_t at) const;
  /// What is in the first bytes, which were written.
  std::shared_ptr<const std::byte[]> map(std::size_t bytes) const;

 private:
  std::filesystem::path folder_;
  int descriptor_ = -1;
};

}  // namespace esc

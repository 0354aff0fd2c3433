// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "generator/matrix/byte_source.h"
#include "generator/model/stored_bytes.h"
#include "generator/model/zip_archive.h"

namespace esc {

/// The bytes of a member of an archive as they were before they were packed, from `skipped` on, read from first to
/// last. zlib inflates them: it is on every Debian, where an archive library would bring the decoders and ciphers of
/// all other archives. Throws UserError where they are not what the directory says: at the end of the member too few,
/// too many or of another checksum.
class ZipMemberSource final : public ByteSource {
 public:
  ZipMemberSource(std::shared_ptr<const StoredBytes> archive, ZipMember member, const std::string& name,
                  std::uint64_t skipped);
  ~ZipMemberSource() override;

  std::size_t read(std::span<std::byte> buffer) override;
  void rewind() override;

 private:
  struct Inflater;

  void start();
  std::size_t read_some(std::span<std::byte> buffer);
  std::size_t inflate_some(std::span<std::byte> buffer);
  void skip(std::uint64_t bytes);
  void check_end();
  [[noreturn]] void refuse(const std::string& rule) const;

  std::shared_ptr<const StoredBytes> archive_;
  ZipMember member_;
  std::uint64_t skipped_;
  std::unique_ptr<Inflater> inflater_;
  std::vector<std::byte> packed_;  ///< what was read of the archive and not inflated yet, at the buffer's end
  std::uint64_t taken_ = 0;        ///< bytes of the archive that were read
  std::uint64_t given_ = 0;        ///< bytes of the member that were made of them
  std::uint32_t checksum_ = 0;
};

}  // namespace esc

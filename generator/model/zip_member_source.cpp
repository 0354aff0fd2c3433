// SPDX-License-Identifier: Apache-2.0
#include "generator/model/zip_member_source.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <limits>
#include <new>
#include <utility>

#include "generator/support/error.h"

namespace esc {
namespace {

constexpr std::size_t buffer_bytes = std::size_t{1} << 16;

std::uint32_t checksum_of(std::uint32_t before, std::span<const std::byte> bytes) {
  return static_cast<std::uint32_t>(crc32_z(before, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

}  // namespace

/// zlib's state of a stream without a header of its own, as it is in archives.
struct ZipMemberSource::Inflater {
  Inflater() { ESC_CHECK(inflateInit2(&stream, -MAX_WBITS) == Z_OK, "zlib can be started"); }
  ~Inflater() { inflateEnd(&stream); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  z_stream stream{};
};

ZipMemberSource::ZipMemberSource(std::shared_ptr<const StoredBytes> archive, ZipMember member, const std::string& name,
                                 std::uint64_t skipped)
    : ByteSource(name, member.size - std::min(skipped, member.size)),
      archive_(std::move(archive)),
      member_(std::move(member)),
      skipped_(skipped) {
  start();
}

ZipMemberSource::~ZipMemberSource() = default;

void ZipMemberSource::start() {
  taken_ = 0;
  given_ = 0;
  checksum_ = checksum_of(0, {});
  if (member_.is_deflated) {
    inflater_ = std::make_unique<Inflater>();
    packed_.resize(buffer_bytes);
  }
  skip(skipped_);
}

void ZipMemberSource::rewind() { start(); }

void ZipMemberSource::skip(std::uint64_t bytes) {
  std::array<std::byte, 4096> ignored;
  while (bytes > 0) {
    const auto part =
        std::span(ignored).first(static_cast<std::size_t>(std::min<std::uint64_t>(bytes, ignored.size())));
    if (read(part) < part.size()) {
      refuse("ends too early");
    }
    bytes -= part.size();
  }
}

std::size_t ZipMemberSource::read(std::span<std::byte> buffer) {
  const std::uint64_t left = member_.size - given_;
  const auto wanted = buffer.first(static_cast<std::size_t>(std::min<std::uint64_t>(buffer.size(), left)));
  std::size_t filled = 0;
  while (filled < wanted.size()) {
    const std::size_t got = read_some(wanted.subspan(filled));
    checksum_ = checksum_of(checksum_, wanted.subspan(filled, got));
    filled += got;
    given_ += got;
  }
  if (!wanted.empty() && given_ == member_.size) {
    check_end();
  }
  return filled;
}

std::size_t ZipMemberSource::read_some(std::span<std::byte> buffer) {
  if (member_.is_deflated) {
    return inflate_some(buffer);
  }
  archive_->read_at(member_.begin + taken_, buffer);
  taken_ += buffer.size();
  return buffer.size();
}

std::size_t ZipMemberSource::inflate_some(std::span<std::byte> buffer) {
  z_stream& stream = inflater_->stream;
  const auto room = static_cast<uInt>(std::min<std::size_t>(buffer.size(), std::numeric_limits<uInt>::max()));
  stream.next_out = reinterpret_cast<Bytef*>(buffer.data());
  stream.avail_out = room;
  while (stream.avail_out == room) {
    if (stream.avail_in == 0) {
      const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(packed_.size(), member_.packed - taken_));
      if (count == 0) {
        refuse("is cut short");
      }
      archive_->read_at(member_.begin + taken_, std::span(packed_).first(count));
      taken_ += count;
      stream.next_in = reinterpret_cast<Bytef*>(packed_.data());
      stream.avail_in = static_cast<uInt>(count);
    }
    const int outcome = inflate(&stream, Z_NO_FLUSH);
    if (outcome == Z_STREAM_END) {
      break;
    }
    if (outcome == Z_MEM_ERROR) {
      throw std::bad_alloc();
    }
    if (outcome != Z_OK && outcome != Z_BUF_ERROR) {
      refuse("is not a stream that deflate has written");
    }
  }
  if (stream.avail_out == room) {
    refuse("has fewer bytes than the archive's directory says");
  }
  return room - stream.avail_out;
}

void ZipMemberSource::check_end() {
  if (member_.is_deflated) {
    z_stream& stream = inflater_->stream;
    std::byte more{};
    stream.next_out = reinterpret_cast<Bytef*>(&more);
    stream.avail_out = 1;
    const int outcome = inflate(&stream, Z_FINISH);
    if (stream.avail_out == 0) {
      refuse("has more bytes than the archive's directory says");
    }
    if (outcome != Z_STREAM_END && taken_ == member_.packed) {
      refuse("does not end as deflate ends a stream");
    }
  }
  if (checksum_ != member_.checksum) {
    refuse("has another checksum than the archive's directory says");
  }
}

void ZipMemberSource::refuse(const std::string& rule) const {
  throw UserError(fmt::format("{}, byte {}", name(), member_.begin), fmt::format("{} {}", member_.name, rule),
                  "the file is damaged: fetch or write it again");
}

}  // namespace esc

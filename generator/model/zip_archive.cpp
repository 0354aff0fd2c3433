// SPDX-License-Identifier: Apache-2.0
#include "generator/model/zip_archive.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "generator/model/tensor_name.h"

namespace esc {
namespace {

constexpr const char* write_again = "write the file again with numpy.savez or scipy.sparse.save_npz";

constexpr std::uint32_t end_signature = 0x06054b50;
constexpr std::uint32_t locator_signature = 0x07064b50;
constexpr std::uint32_t end_64_signature = 0x06064b50;
constexpr std::uint32_t entry_signature = 0x02014b50;
constexpr std::uint32_t local_signature = 0x04034b50;
constexpr std::uint64_t end_bytes = 22;
constexpr std::uint64_t longest_comment = 65535;
constexpr std::uint64_t most_directory_bytes = std::uint64_t{64} << 20;
/// Deflate makes at most so many bytes of one.
constexpr std::uint64_t most_inflation = 1032;

/// Little-endian numbers of a part of the archive.
class Record {
 public:
  Record(const StoredBytes& archive, std::uint64_t begin, std::uint64_t bytes) : archive_(archive), begin_(begin) {
    if (begin > archive.size() || bytes > archive.size() - begin) {
      refuse_at_byte(archive, begin, fmt::format("{} bytes are needed here, which the file does not have", bytes),
                     write_again);
    }
    bytes_.resize(static_cast<std::size_t>(bytes));
    archive.read_at(begin, std::as_writable_bytes(std::span(bytes_)));
  }

  std::uint64_t number(std::uint64_t at, int count) const {
    require(at, static_cast<std::uint64_t>(count));
    std::uint64_t number = 0;
    for (int i = 0; i < count; ++i) {
      number |= static_cast<std::uint64_t>(
                    static_cast<unsigned char>(bytes_[static_cast<std::size_t>(at) + static_cast<std::size_t>(i)]))
                << (8 * i);
    }
    return number;
  }
  std::uint64_t u16(std::uint64_t at) const { return number(at, 2); }
  std::uint64_t u32(std::uint64_t at) const { return number(at, 4); }
  std::uint64_t u64(std::uint64_t at) const { return number(at, 8); }
  std::string text(std::uint64_t at, std::uint64_t bytes) const {
    require(at, bytes);
    return bytes_.substr(static_cast<std::size_t>(at), static_cast<std::size_t>(bytes));
  }
  std::uint64_t size() const { return bytes_.size(); }
  /// Of this place in the archive.
  std::uint64_t byte(std::uint64_t at) const { return begin_ + at; }
  [[noreturn]] void refuse(std::uint64_t at, const std::string& rule, const char* remedy = write_again) const {
    refuse_at_byte(archive_, byte(at), rule, remedy);
  }

 private:
  void require(std::uint64_t at, std::uint64_t bytes) const {
    if (at > bytes_.size() || bytes > bytes_.size() - at) {
      refuse(std::min<std::uint64_t>(at, bytes_.size()), "the archive's directory ends inside an entry");
    }
  }

  const StoredBytes& archive_;
  std::uint64_t begin_;
  std::string bytes_;
};

/// Where the directory of an archive is.
struct Directory {
  std::uint64_t begin = 0;
  std::uint64_t bytes = 0;
  std::uint64_t entries = 0;
};

/// The place of the record that ends an archive, which a comment may follow.
std::uint64_t find_end(const StoredBytes& archive) {
  const std::uint64_t tail = std::min(archive.size(), end_bytes + longest_comment);
  const Record record(archive, archive.size() - tail, tail);
  for (std::uint64_t back = end_bytes; back <= tail; ++back) {
    const std::uint64_t at = tail - back;
    if (record.u32(at) == end_signature && record.u16(at + 20) == back - end_bytes) {
      return record.byte(at);
    }
  }
  refuse_at_byte(archive, archive.size(),
                 "no directory of a zip archive is at the end, so it is no .npz file, or it is cut short", write_again);
}

Directory find_directory(const StoredBytes& archive) {
  const std::uint64_t end_at = find_end(archive);
  const Record end(archive, end_at, end_bytes);
  Directory directory{.begin = end.u32(16), .bytes = end.u32(12), .entries = end.u16(10)};
  std::uint64_t limit = end_at;
  if (end.u16(4) != 0 || end.u16(6) != 0 || end.u16(8) != end.u16(10)) {
    end.refuse(4, "the archive is one of several parts");
  }
  if (directory.begin == 0xffffffff || directory.bytes == 0xffffffff || directory.entries == 0xffff) {
    if (end_at < 20) {
      end.refuse(0, "the directory of a large archive is missing");
    }
    const Record locator(archive, end_at - 20, 20);
    if (locator.u32(0) != locator_signature) {
      locator.refuse(0, "the directory of a large archive is missing");
    }
    limit = locator.u64(8);
    const Record large(archive, limit, 56);
    if (large.u32(0) != end_64_signature) {
      large.refuse(0, "the directory of a large archive is missing");
    }
    directory = {.begin = large.u64(48), .bytes = large.u64(40), .entries = large.u64(32)};
  }
  if (directory.begin > limit || directory.bytes != limit - directory.begin || directory.bytes > most_directory_bytes) {
    end.refuse(12, fmt::format("a directory of {} bytes is not at byte {}", directory.bytes, directory.begin));
  }
  return directory;
}

/// Takes the numbers that an entry has no room for from its extra field.
void read_extra_sizes(const Record& directory, std::uint64_t at, std::uint64_t bytes, ZipMember& member,
                      std::uint64_t& local) {
  const std::uint64_t end = at + bytes;
  while (at + 4 <= end) {
    const std::uint64_t length = directory.u16(at + 2);
    if (directory.u16(at) == 1) {
      std::uint64_t next = at + 4;
      for (std::uint64_t* number : {&member.size, &member.packed, &local}) {
        if (*number == 0xffffffff) {
          if (next + 8 > at + 4 + length || next + 8 > end) {
            directory.refuse(at, "an entry lacks the size that it says is large");
          }
          *number = directory.u64(next);
          next += 8;
        }
      }
      return;
    }
    at += 4 + length;
  }
  if (member.size == 0xffffffff || member.packed == 0xffffffff || local == 0xffffffff) {
    directory.refuse(at, "an entry lacks the size that it says is large");
  }
}

/// The first byte of a member after its local header, which begins at `local`.
std::uint64_t data_begin(const StoredBytes& archive, std::uint64_t local) {
  const Record header(archive, local, 30);
  if (header.u32(0) != local_signature) {
    header.refuse(0, "no member of the archive begins here, as its directory says");
  }
  return local + 30 + header.u16(26) + header.u16(28);
}

struct Entry {
  ZipMember member;
  std::uint64_t bytes = 0;  ///< of the entry
  std::uint64_t local = 0;  ///< where the member's header begins
};

Entry read_entry(const StoredBytes& archive, const Record& directory, std::uint64_t at) {
  if (directory.u32(at) != entry_signature) {
    directory.refuse(at, "an entry of the archive's directory is expected here");
  }
  const std::uint64_t name_bytes = directory.u16(at + 28);
  const std::uint64_t residual_bytes = directory.u16(at + 30);
  Entry entry{.member = {.name = directory.text(at + 46, name_bytes),
                         .is_deflated = directory.u16(at + 10) == 8,
                         .checksum = static_cast<std::uint32_t>(directory.u32(at + 16)),
                         .packed = directory.u32(at + 20),
                         .size = directory.u32(at + 24)},
              .bytes = 46 + name_bytes + residual_bytes + directory.u16(at + 32),
              .local = directory.u32(at + 42)};
  ZipMember& member = entry.member;
  if (const std::string problem = name_problem(member.name); !problem.empty()) {
    directory.refuse(at + 46, "the name of a member " + problem, "save the array under another name");
  }
  read_extra_sizes(directory, at + 46 + name_bytes, residual_bytes, member, entry.local);
  if ((directory.u16(at + 8) & 1) != 0) {
    directory.refuse(at + 8, fmt::format("{} is encrypted", member.name));
  }
  if (const std::uint64_t method = directory.u16(at + 10); method != 0 && method != 8) {
    directory.refuse(at + 10,
                     fmt::format("{} is packed by method {}, neither stored nor deflated", member.name, method));
  }
  member.begin = data_begin(archive, entry.local);
  if (member.begin > archive.size() || member.packed > archive.size() - member.begin) {
    directory.refuse(at + 20, fmt::format("{} has {} bytes, which the file does not have after byte {}", member.name,
                                          member.packed, member.begin));
  }
  if (member.is_deflated ? member.size / most_inflation > member.packed : member.size != member.packed) {
    directory.refuse(
        at + 24, fmt::format("{} cannot have {} bytes in {} of the archive", member.name, member.size, member.packed));
  }
  return entry;
}

void refuse_overlaps(const StoredBytes& archive, std::vector<Entry> entries, std::uint64_t directory_begin) {
  std::ranges::sort(entries, {}, &Entry::local);
  for (std::size_t number = 0; number < entries.size(); ++number) {
    const ZipMember& member = entries[number].member;
    const std::uint64_t limit = number + 1 < entries.size() ? entries[number + 1].local : directory_begin;
    if (member.begin + member.packed > limit) {
      refuse_at_byte(archive, limit, fmt::format("{} reaches into what follows it", member.name), write_again);
    }
  }
}

}  // namespace

std::vector<ZipMember> read_zip_directory(const StoredBytes& archive) {
  if (archive.size() < end_bytes) {
    refuse_at_byte(archive, archive.size(),
                   archive.size() == 0 ? "the file is empty" : "the file is too short for a zip archive", write_again);
  }
  const Directory place = find_directory(archive);
  const Record directory(archive, place.begin, place.bytes);
  std::vector<Entry> entries;
  std::set<std::string> names;
  std::uint64_t at = 0;
  for (std::uint64_t number = 0; number < place.entries; ++number) {
    entries.push_back(read_entry(archive, directory, at));
    if (!names.insert(entries.back().member.name).second) {
      directory.refuse(at + 46, fmt::format("{} is there twice", entries.back().member.name),
                       "leave one of the two out");
    }
    at += entries.back().bytes;
  }
  if (at != place.bytes) {
    directory.refuse(std::min(at, place.bytes),
                     fmt::format("the directory's {} entries do not end where it does", place.entries));
  }
  refuse_overlaps(archive, entries, place.begin);
  std::vector<ZipMember> members;
  for (Entry& entry : entries) {
    members.push_back(std::move(entry.member));
  }
  return members;
}

}  // namespace esc

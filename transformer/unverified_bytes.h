#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <utility>

#include "transformer/format_error.h"
#include "transformer/packed_bytes.h"

namespace esc::transformer {

// What the unpackers of all formats need to read bytes that nobody vouches for.

template <typename... Arguments>
[[noreturn]] void refuse(fmt::format_string<Arguments...> text, Arguments&&... arguments) {
  throw FormatError(fmt::format(text, std::forward<Arguments>(arguments)...));
}

/// The value at an offset, of any alignment, that lies inside the bytes.
template <typename Value>
Value load(std::span<const std::byte> bytes, std::uint64_t offset) {
  Value value;
  std::memcpy(&value, bytes.subspan(offset, sizeof value).data(), sizeof value);
  return value;
}

/// The value of this floating-point type at an offset.
inline double load_element(ScalarType type, std::span<const std::byte> bytes, std::uint64_t offset) {
  return type == ScalarType::f64 ? load<double>(bytes, offset) : load<float>(bytes, offset);
}

/// Refuses a header field that is out of range.
inline void check_range(const char* field, std::uint64_t value, std::uint64_t lowest, std::uint64_t highest) {
  if (value < lowest || value > highest) {
    refuse("the header field {} is {}; it can be {} to {}", field, value, lowest, highest);
  }
}

/// Whether the bytes begin with the magic text of a format, of 8 characters.
inline bool begins_with(std::span<const std::byte> packed, const char (&magic)[9]) {
  return packed.size() >= 8 && std::memcmp(packed.data(), magic, 8) == 0;
}

/// The header, when it has this magic text and version, is undamaged, and says how many bytes there are.
template <typename Header>
Header load_header(std::span<const std::byte> packed, const char (&magic)[9], std::uint32_t version) {
  if (packed.size() < header_bytes) {
    refuse("{} bytes are too few for the header of a packed matrix, which has {}", packed.size(), header_bytes);
  }
  const auto header = load<Header>(packed, 0);
  if (!begins_with(packed, magic)) {
    refuse("the bytes are not a packed matrix: they do not begin with {}", std::string_view(magic, 7));
  }
  if (header.version != version) {
    refuse("the packed matrix has format version {}; this program reads version {}", header.version, version);
  }
  constexpr std::uint64_t checksum_at = offsetof(Header, header_checksum);
  if (checksum(packed.data(), checksum_at) != header.header_checksum) {
    refuse("the header is damaged: bytes 0 to {} do not have the checksum stored at byte {}", checksum_at - 1,
           checksum_at);
  }
  if (header.total_bytes != packed.size()) {
    refuse("the packed matrix has {} bytes; its header says {}", packed.size(), header.total_bytes);
  }
  return header;
}

/// Refuses bytes behind the header that do not have the checksum in it.
template <typename Header>
void check_payload(std::span<const std::byte> packed) {
  if (checksum(packed.data() + header_bytes, packed.size() - header_bytes) !=
      load<Header>(packed, 0).payload_checksum) {
    refuse("the packed matrix is damaged: bytes {} to {} do not have the checksum stored at byte {}", header_bytes,
           packed.size() - 1, offsetof(Header, payload_checksum));
  }
}

}  // namespace esc::transformer

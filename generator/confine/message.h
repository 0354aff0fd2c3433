// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace esc {

/// What two processes say to each other: what kind of thing it is, numbers and texts.
struct Message {
  std::uint32_t kind = 0;
  std::vector<std::uint64_t> numbers = {};
  std::vector<std::string> texts = {};
  bool operator==(const Message&) const = default;
};

/// The most bytes that a message may have on its way.
inline constexpr std::size_t most_message_bytes = std::size_t{1} << 20;
/// Before each is how many there are, in so many bytes.
inline constexpr std::size_t message_head_bytes = 8;

/// The message on its way, its head included. Texts are cut, the last ones first, where they are too long for one.
std::string encode(const Message& message);

/// How many bytes follow the head; nothing where no message has so many.
std::optional<std::size_t> length_of(std::span<const char> head);

/// The message of these bytes, the head left out; nothing where they are none. Its texts are made plain
/// (support/plain_text.h): who reads them may show them.
std::optional<Message> decode(std::string_view bytes);

}  // namespace esc

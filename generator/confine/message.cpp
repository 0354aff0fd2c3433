// SPDX-License-Identifier: Apache-2.0
#include "generator/confine/message.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "generator/support/plain_text.h"

namespace esc {
namespace {

constexpr std::size_t most_parts = 1024;

void put(std::string& bytes, std::uint64_t number) {
  bytes.append(reinterpret_cast<const char*>(&number), sizeof number);
}

/// Takes numbers and texts from the front of some bytes, as long as there are enough of them.
class Taker {
 public:
  explicit Taker(std::string_view bytes) : left_(bytes) {}

  std::optional<std::uint64_t> number() {
    std::uint64_t value = 0;
    if (left_.size() < sizeof value) {
      return std::nullopt;
    }
    std::memcpy(&value, left_.data(), sizeof value);
    left_.remove_prefix(sizeof value);
    return value;
  }
  std::optional<std::string_view> text() {
    const std::optional<std::uint64_t> size = number();
    if (!size || *size > left_.size()) {
      return std::nullopt;
    }
    const std::string_view taken = left_.substr(0, *size);
    left_.remove_prefix(*size);
    return taken;
  }
  /// How many of something follow; nothing where a message has not so many.
  std::optional<std::size_t> count() {
    const std::optional<std::uint64_t> value = number();
    return value && *value <= most_parts ? std::optional<std::size_t>(*value) : std::nullopt;
  }
  bool at_end() const { return left_.empty(); }

 private:
  std::string_view left_;
};

}  // namespace

std::string encode(const Message& message) {
  std::string body;
  put(body, message.kind);
  put(body, message.numbers.size());
  for (const std::uint64_t number : message.numbers) {
    put(body, number);
  }
  const std::size_t texts = std::min(message.texts.size(), most_parts);
  put(body, texts);
  for (std::size_t at = 0; at < texts; ++at) {
    const std::size_t room = most_message_bytes - body.size() - (texts - at) * sizeof(std::uint64_t);
    const std::string_view text = std::string_view(message.texts[at]).substr(0, room);
    put(body, text.size());
    body += text;
  }
  std::string bytes;
  put(bytes, body.size());
  return bytes + body;
}

std::optional<std::size_t> length_of(std::span<const char> head) {
  const std::optional<std::uint64_t> length = Taker({head.data(), head.size()}).number();
  return length && *length <= most_message_bytes ? std::optional<std::size_t>(*length) : std::nullopt;
}

std::optional<Message> decode(std::string_view bytes) {
  Taker taker(bytes);
  Message message;
  const std::optional<std::uint64_t> kind = taker.number();
  const std::optional<std::size_t> numbers = taker.count();
  if (!kind || *kind > ~std::uint32_t{0} || !numbers) {
    return std::nullopt;
  }
  message.kind = static_cast<std::uint32_t>(*kind);
  for (std::size_t at = 0; at < *numbers; ++at) {
    const std::optional<std::uint64_t> number = taker.number();
    if (!number) {
      return std::nullopt;
    }
    message.numbers.push_back(*number);
  }
  const std::optional<std::size_t> texts = taker.count();
  if (!texts) {
    return std::nullopt;
  }
  for (std::size_t at = 0; at < *texts; ++at) {
    const std::optional<std::string_view> text = taker.text();
    if (!text) {
      return std::nullopt;
    }
    message.texts.push_back(plain_lines(*text));
  }
  return taker.at_end() ? std::optional(message) : std::nullopt;
}

}  // namespace esc

// SPDX-License-Identifier: Apache-2.0
#include "generator/support/plain_text.h"

#include <array>
#include <cstdint>
#include <optional>
#include <utility>

#include "generator/support/replace_all.h"

namespace esc {
namespace {

constexpr std::string_view replacement_character = "\xef\xbf\xbd";

/// The character that a text begins with, and its bytes; absent where these are not UTF-8.
struct Character {
  std::uint32_t code = 0;
  std::size_t bytes = 0;
};

std::optional<Character> first_of(std::string_view text) {
  const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
  if (byte(0) < 0x80) {
    return Character{byte(0), 1};
  }
  const std::size_t bytes = byte(0) >> 5 == 0x6 ? 2 : byte(0) >> 4 == 0xe ? 3 : byte(0) >> 3 == 0x1e ? 4 : 0;
  if (bytes == 0 || text.size() < bytes) {
    return std::nullopt;
  }
  std::uint32_t code = byte(0) & (0xffU >> (bytes + 1));
  for (std::size_t at = 1; at < bytes; ++at) {
    if (byte(at) >> 6 != 0x2) {
      return std::nullopt;
    }
    code = code << 6 | (byte(at) & 0x3fU);
  }
  constexpr std::array<std::uint32_t, 5> least_of_bytes = {0, 0, 0x80, 0x800, 0x10000};
  const bool is_surrogate = code >= 0xd800 && code <= 0xdfff;
  return code < least_of_bytes[bytes] || code > 0x10ffff || is_surrogate ? std::nullopt
                                                                         : std::optional(Character{code, bytes});
}

/// Whether a character ends a line, steers a terminal, or turns the direction of what follows.
bool is_hidden(std::uint32_t code) {
  constexpr std::array<std::pair<std::uint32_t, std::uint32_t>, 8> ranges = {{{0x0, 0x1f},
                                                                              {0x7f, 0x9f},
                                                                              {0x61c, 0x61c},
                                                                              {0x200e, 0x200f},
                                                                              {0x2028, 0x2029},
                                                                              {0x202a, 0x202e},
                                                                              {0x2066, 0x2069},
                                                                              {0xfeff, 0xfeff}}};
  for (const auto& [first, last] : ranges) {
    if (code >= first && code <= last) {
      return true;
    }
  }
  return false;
}

template <typename IsKept>
std::string replaced(std::string_view text, char replacement, const IsKept& is_kept) {
  std::string result;
  while (!text.empty()) {
    const std::optional<Character> character = first_of(text);
    if (!character) {
      result += replacement_character;
    } else if (is_hidden(character->code) && !is_kept(character->code)) {
      result += replacement;
    } else {
      result += text.substr(0, character->bytes);
    }
    text.remove_prefix(character ? character->bytes : 1);
  }
  return result;
}

}  // namespace

bool is_plain_text(std::string_view text) { return plain_text(text) == text; }

std::string plain_text(std::string_view text, char replacement) {
  return replaced(text, replacement, [](std::uint32_t) { return false; });
}

std::string plain_lines(std::string_view text) {
  return replaced(text, '?', [](std::uint32_t code) { return code == '\n' || code == '\r' || code == '\t'; });
}

std::string comment_text(std::string_view text) {
  std::string comment = replace_all(replace_all(plain_text(text), "*/", "*_"), "/*", "/_");
  for (const char third : std::string_view("=/'()!<>-")) {
    comment = replace_all(std::move(comment), std::string("??") + third, std::string("?_") + third);
  }
  return replace_all(std::move(comment), "\\", "_");
}

}  // namespace esc

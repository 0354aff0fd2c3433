// SPDX-License-Identifier: Apache-2.0
#include "generator/support/plain_text.h"

#include <algorithm>
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

/// Whether a character ends a line, steers a terminal, turns the direction of what follows, or does not show by itself:
/// the controls, the format characters and those that are to be ignored where they are not known (Unicode's Cc, Cf, Zl,
/// Zp and Default_Ignorable_Code_Point), fillers, and codes of which nobody knows what they look like: private ones and
/// those that are no characters.
bool is_hidden(std::uint32_t code) {
  constexpr std::array<std::pair<std::uint32_t, std::uint32_t>, 35> ranges = {{
      {0x0, 0x1f},        {0x7f, 0x9f},       {0xad, 0xad},       {0x34f, 0x34f},     {0x600, 0x605},
      {0x61c, 0x61c},     {0x6dd, 0x6dd},     {0x70f, 0x70f},     {0x890, 0x891},     {0x8e2, 0x8e2},
      {0x115f, 0x1160},   {0x17b4, 0x17b5},   {0x180b, 0x180f},   {0x200b, 0x200f},   {0x2028, 0x202e},
      {0x2060, 0x206f},   {0x2800, 0x2800},   {0x3164, 0x3164},   {0xe000, 0xf8ff},   {0xfdd0, 0xfdef},
      {0xfe00, 0xfe0f},   {0xfeff, 0xfeff},   {0xffa0, 0xffa0},   {0xfff0, 0xfffb},   {0xfffe, 0xffff},
      {0x110bd, 0x110bd}, {0x110cd, 0x110cd}, {0x13430, 0x1343f}, {0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a},
      {0x1fffe, 0x1ffff}, {0x2fffe, 0x2ffff}, {0x3fffe, 0xdffff}, {0xe0000, 0xe0fff}, {0xe1000, 0x10ffff},
  }};
  return std::ranges::any_of(ranges, [&](const auto& range) { return code >= range.first && code <= range.second; });
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

bool is_plain_text(std::string_view text) {
  // As nearly every line of a long file is.
  const bool is_printable_ascii = std::ranges::all_of(text, [](char one) { return one >= ' ' && one <= '~'; });
  return is_printable_ascii || plain_text(text) == text;
}

std::string plain_text(std::string_view text, char replacement) {
  return replaced(text, replacement, [](std::uint32_t) { return false; });
}

std::string plain_lines(std::string_view text) {
  return replaced(text, '?', [](std::uint32_t code) { return code == '\n' || code == '\t'; });
}

std::string comment_text(std::string_view text) {
  std::string comment = replace_all(replace_all(plain_text(text), "*/", "*_"), "/*", "/_");
  for (const char third : std::string_view("=/'()!<>-")) {
    comment = replace_all(std::move(comment), std::string("??") + third, std::string("?_") + third);
  }
  return replace_all(std::move(comment), "\\", "_");
}

}  // namespace esc

// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/mutation.h"

#include <algorithm>
#include <cctype>
#include <utility>
#include <vector>

namespace esc::fuzz {
namespace {

using Range = std::pair<std::size_t, std::size_t>;  ///< begin and length

bool is_word_character(char character) {
  return std::isalnum(static_cast<unsigned char>(character)) != 0 || character == '_' || character == '.';
}

/// The names and numbers of a text.
std::vector<Range> tokens_of(const std::string& text) {
  std::vector<Range> tokens;
  for (std::size_t begin = 0; begin < text.size();) {
    std::size_t end = begin;
    while (end < text.size() && is_word_character(text[end])) {
      ++end;
    }
    if (end > begin) {
      tokens.emplace_back(begin, end - begin);
    }
    begin = end + 1;
  }
  return tokens;
}

/// The lines of a text, with their ends.
std::vector<Range> lines_of(const std::string& text) {
  std::vector<Range> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size() - 1) + 1;
    lines.emplace_back(begin, end - begin);
    begin = end;
  }
  return lines;
}

}  // namespace

const std::string& Mutation::one_seed() {
  const std::size_t chosen = below(harness_.seeds.size() + harness_.refused.size());
  return chosen < harness_.seeds.size() ? harness_.seeds[chosen] : harness_.refused[chosen - harness_.seeds.size()];
}

std::string Mutation::changed(std::string input) {
  for (std::size_t changes = 1 + below(2) * below(3); changes > 0; --changes) {
    switch (below(8)) {
      case 0:
      case 1:
      case 2:
        change_bytes(input);
        break;
      case 3:
        change_lines(input);
        break;
      case 4:
        take_part_of_seed(input);
        break;
      default:
        change_token(input);
    }
  }
  return input;
}

void Mutation::change_bytes(std::string& input) {
  const std::size_t at = below(input.size() + 1);
  const std::size_t length = std::min(input.size() - at, 1 + below(12));
  switch (below(7)) {
    case 0:
    case 1:
      if (at < input.size()) {
        input[at] = static_cast<char>(static_cast<unsigned char>(input[at]) ^ (1U << below(8)));
      }
      break;
    case 2:
      input.insert(at, one_word());
      break;
    case 3:
      input.replace(at, length, one_word());
      break;
    case 4:
      input.erase(at, length);
      break;
    case 5:
      input.insert(at, input.substr(below(input.size() + 1), length));
      break;
    default:
      // Rarely: most of what is cut short is refused at its end, and nothing in front is looked at any more.
      if (below(4) == 0) {
        input.resize(at);
      }
  }
}

void Mutation::change_token(std::string& input) {
  const std::vector<Range> tokens = tokens_of(input);
  if (tokens.empty()) {
    input += one_word();
    return;
  }
  const auto [begin, length] = tokens[below(tokens.size())];
  switch (below(4)) {
    case 0: {
      const auto [other, other_length] = tokens[below(tokens.size())];
      input.replace(begin, length, input.substr(other, other_length));
      break;
    }
    case 1:
      input.erase(begin, length);
      break;
    case 2:
      input.insert(begin + length, " " + one_word() + " ");
      break;
    default:
      input.replace(begin, length, one_word());
  }
}

void Mutation::change_lines(std::string& input) {
  const std::vector<Range> lines = lines_of(input);
  if (lines.empty()) {
    return;
  }
  const auto [begin, length] = lines[below(lines.size())];
  const auto [other, other_length] = lines[below(lines.size())];
  const std::string taken = input.substr(other, other_length);
  switch (below(3)) {
    case 0:
      input.erase(begin, length);
      break;
    case 1:
      input.insert(begin, taken);
      break;
    default:
      input.replace(begin, length, taken);
  }
}

void Mutation::take_part_of_seed(std::string& input) {
  const std::string& seed = one_seed();
  const std::size_t from = below(seed.size() + 1);
  const std::string part = seed.substr(from, 1 + below(80));
  const std::size_t at = below(input.size() + 1);
  input.replace(at, below(2) == 0 ? 0 : std::min(input.size() - at, part.size()), part);
}

}  // namespace esc::fuzz

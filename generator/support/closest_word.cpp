// SPDX-License-Identifier: Apache-2.0
#include "generator/support/closest_word.h"

#include <algorithm>
#include <cctype>

namespace esc {
namespace {

/// What of a word counts when it is compared.
std::string compared(std::string_view word) {
  word.remove_prefix(std::min(word.find_first_not_of('-'), word.size()));
  std::string lower(word);
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower;
}

/// Edits from one word to the other, two exchanged neighbours being one (the optimal string alignment distance).
std::size_t distance(const std::string& from, const std::string& to) {
  // Row i has the distances of the first i letters of `from` to the beginnings of `to`.
  std::vector<std::vector<std::size_t>> rows(from.size() + 1, std::vector<std::size_t>(to.size() + 1));
  for (std::size_t i = 0; i <= from.size(); ++i) {
    for (std::size_t j = 0; j <= to.size(); ++j) {
      if (i == 0 || j == 0) {
        rows[i][j] = i + j;
        continue;
      }
      const std::size_t changed = rows[i - 1][j - 1] + (from[i - 1] == to[j - 1] ? 0 : 1);
      rows[i][j] = std::min({changed, rows[i - 1][j] + 1, rows[i][j - 1] + 1});
      if (i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1]) {
        rows[i][j] = std::min(rows[i][j], rows[i - 2][j - 2] + 1);
      }
    }
  }
  return rows[from.size()][to.size()];
}

}  // namespace

std::vector<std::string> closest_words(std::string_view word, const std::vector<std::string>& known) {
  // Longer than any word that is known anywhere: nobody's slip of the hand.
  constexpr std::size_t longest = 64;
  const std::string wanted = compared(word);
  if (wanted.size() > longest) {
    return {};
  }
  std::size_t least = std::max<std::size_t>(1, wanted.size() / 3);
  std::vector<std::string> closest;
  for (const std::string& candidate : known) {
    const std::string text = compared(candidate);
    // A word of which every letter is another one is no nearer than any.
    const std::size_t edits = distance(wanted, text);
    if (edits > least || edits >= std::max(wanted.size(), text.size())) {
      continue;
    }
    if (edits < least) {
      closest.clear();
      least = edits;
    }
    closest.push_back(candidate);
  }
  return closest;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& known) {
  const std::vector<std::string> closest = closest_words(word, known);
  if (closest.empty()) {
    return "";
  }
  std::string text = "did you mean ";
  for (std::size_t number = 0; number < closest.size(); ++number) {
    text += (number == 0 ? "" : number + 1 == closest.size() ? " or " : ", ") + closest[number];
  }
  return text + "? ";
}

}  // namespace esc

// SPDX-License-Identifier: Apache-2.0
#include "generator/verify/policy_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "generator/support/error.h"

namespace esc {
namespace {

/// What both nvcc and the emulator take, before the part of a kernel's text that a run-time compiler does not
/// need.
constexpr std::string_view taken_by_both = "# ifndef __CUDACC_RTC__";

}  // namespace

PolicyText::PolicyText(std::string file, const std::string& text)
    : file_(std::move(file)), tokens_(tokens_of(text)), declarations_(declarations_of(tokens_)) {
  std::vector<bool> open;  // conditional parts, whether compilers differ in them
  for (std::size_t i = 0; i < declarations_.size(); ++i) {
    const Declaration& declaration = declarations_[i];
    if (declaration.kind == DeclarationKind::directive && opens_condition(declaration.first)) {
      open.push_back(!is_boundary(i));
    } else if (declaration.kind == DeclarationKind::directive && is(declaration.first + 1, "endif") && !open.empty()) {
      open.pop_back();
    }
    is_conditional_.push_back(std::ranges::find(open, true) != open.end());
  }
}

bool PolicyText::is_boundary(std::size_t declaration) const {
  const Declaration& it = declarations_[declaration];
  return it.kind == DeclarationKind::directive && print(it) == taken_by_both;
}

bool PolicyText::is_marked(const Declaration& function, std::string_view word) const {
  for (std::size_t at = function.first; at < function.body; ++at) {
    if (is(at, word)) {
      return true;
    }
  }
  return false;
}

bool PolicyText::opens_condition(std::size_t directive) const {
  return is(directive + 1, "if") || is(directive + 1, "ifdef") || is(directive + 1, "ifndef");
}

std::string PolicyText::print(const Piece& piece) const {
  std::string text;
  for (std::size_t at = piece.first; at < piece.last; ++at) {
    text += (at == piece.first ? "" : begins_directive(tokens_, at) ? "\n" : " ") + tokens_[at].text;
  }
  return text;
}

void PolicyText::refuse(std::size_t at, const std::string& rule, const std::string& remedy) const {
  const unsigned line = at < tokens_.size() ? tokens_[at].line : tokens_.empty() ? 1 : tokens_.back().line;
  throw UserError(fmt::format("{}:{}", file_, line), rule, remedy, ExitStatus::check_failed);
}

Inside inside_of(const PolicyText& text, const Declaration& declaration) {
  const auto end_of_conditional = [&](std::size_t first) {
    int depth = 0;
    for (std::size_t at = first; at < declaration.last; ++at) {
      if (begins_directive(text.tokens(), at)) {
        depth += text.opens_condition(at) ? 1 : text.is(at + 1, "endif") ? -1 : 0;
        if (depth == 0) {
          return end_of_line(text.tokens(), at);
        }
      }
    }
    text.refuse(first, "has a conditional part without its #endif");
  };
  Inside inside;
  for (std::size_t at = declaration.first; at < declaration.last;) {
    if (!begins_directive(text.tokens(), at)) {
      inside.plain.push_back(at++);
      continue;
    }
    const Piece piece{at, text.opens_condition(at) ? end_of_conditional(at) : end_of_line(text.tokens(), at)};
    (text.opens_condition(at) ? inside.conditionals : inside.directives).push_back(piece);
    at = piece.last;
  }
  return inside;
}

}  // namespace esc

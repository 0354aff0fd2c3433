// SPDX-License-Identifier: Apache-2.0
#include "generator/frontend/format_source.h"

#include <clang/Format/Format.h>
#include <clang/Tooling/Core/Replacement.h>
#include <fmt/format.h>

#include "generator/support/error.h"

namespace esc {
namespace {

clang::format::FormatStyle generated_style(const std::string& file_name) {
  using clang::format::FormatStyle;
  FormatStyle style = clang::format::getGoogleStyle(clang::format::guessLanguage(file_name, ""));
  style.ColumnLimit = 100;
  style.DerivePointerAlignment = false;
  style.PointerAlignment = FormatStyle::PAS_Left;
  style.ReflowComments = FormatStyle::RCS_Never;  // their tables and line breaks are the author's
  return style;
}

std::string reformat_once(const std::string& text, const clang::format::FormatStyle& style,
                          const std::string& file_name) {
  clang::format::FormattingAttemptStatus status;
  const clang::tooling::Range whole(0, static_cast<unsigned>(text.size()));
  const auto replacements = clang::format::reformat(style, text, whole, file_name, &status);
  ESC_CHECK(status.FormatComplete, fmt::format("{}:{}: emitted text has a syntax error", file_name, status.Line));
  auto formatted = clang::tooling::applyAllReplacements(text, replacements);
  ESC_CHECK(static_cast<bool>(formatted), "replacements made for a text apply to it");
  return *formatted;
}

}  // namespace

std::string format_source(std::string_view text, const std::string& file_name) {
  const clang::format::FormatStyle style = generated_style(file_name);
  std::string formatted = reformat_once(std::string(text), style, file_name);
  // Breaking a comment or a macro can move what follows so that a second pass would lay it out otherwise.
  for (int pass = 0; pass < 4; ++pass) {
    std::string again = reformat_once(formatted, style, file_name);
    if (again == formatted) {
      return formatted;
    }
    formatted = std::move(again);
  }
  throw Defect(__FILE__, __LINE__, "again == formatted", "formatting does not settle");
}

}  // namespace esc

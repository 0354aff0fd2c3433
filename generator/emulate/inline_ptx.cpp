// SPDX-License-Identifier: Apache-2.0
#include "generator/emulate/inline_ptx.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "generator/emulate/ptx_instructions.h"
#include "generator/frontend/host_compiler/tokens.h"
#include "generator/support/error.h"
#include "generator/support/number_in.h"

namespace esc {
namespace {

/// What a string literal stands for; blanks, tabs and line ends all become one blank. None for what has other escapes.
std::optional<std::string> content_of(const std::string& literal) {
  std::string content;
  if (literal.size() < 2 || literal.front() != '"') {
    return std::nullopt;
  }
  for (std::size_t at = 1; at + 1 < literal.size(); ++at) {
    char c = literal[at];
    if (c == '\\') {
      c = literal[++at];
      if (c != 'n' && c != 't') {
        return std::nullopt;
      }
      c = ' ';
    }
    if (c != ' ' || (!content.empty() && content.back() != ' ')) {
      content += c;
    }
  }
  return content;
}

/// Blanks, with the line ends of `text` where they are.
std::string blanked(std::string_view text) {
  std::string blanks(text);
  std::ranges::replace_if(blanks, [](char c) { return c != '\n'; }, ' ');
  return blanks;
}

/// `name`, then blanks for what the name does not cover of the first line, and the line ends.
std::string name_over(const std::string& name, std::string_view text) {
  const std::string blanks = blanked(text);
  const std::size_t covered = std::min({name.size(), blanks.find('\n'), blanks.size()});
  return name + blanks.substr(covered);
}

/// The tokens of a text, each "::" as the two colons that it is between the parts of a statement.
std::vector<SourceToken> tokens_with_colons(const std::string& text) {
  std::vector<SourceToken> tokens;
  for (SourceToken& token : tokens_of(text)) {
    if (token.text != "::" || token.length != 2) {
      tokens.push_back(std::move(token));
      continue;
    }
    token.text = ":";
    token.length = 1;
    tokens.push_back(token);
    token.begins_line = false;
    ++token.offset;
    tokens.push_back(std::move(token));
  }
  return tokens;
}

class Translator {
 public:
  Translator(const std::string& text, const std::string& file_name)
      : text_(text), file_name_(file_name), tokens_(tokens_with_colons(text)) {}

  std::string run() {
    bool in_directive = false;
    while (at_ < tokens_.size()) {
      const SourceToken& token = tokens_[at_];
      if (token.begins_line) {
        in_directive = token.text == "#";
        follow_line_number();
      }
      if (token.kind != SourceToken::Kind::word || token.text != "asm") {
        ++at_;
        continue;
      }
      line_ = line_of(token);
      if (in_directive) {
        refuse("\"asm\" in a directive");
      }
      translate_statement();
    }
    return std::move(result_) + text_.substr(copied_);
  }

 private:
  [[noreturn]] void refuse(const std::string& what) const {
    throw UserError(fmt::format("{}:{}", file_name_, line_), "inline PTX that the emulator does not know: " + what,
                    "write it as docs/reference/verification.md lists it, or with CUDA's intrinsics");
  }

  std::string_view spelling(std::size_t index) const {
    return index < tokens_.size() ? std::string_view(tokens_[index].text) : std::string_view();
  }

  bool is_literal(std::size_t index) const {
    return index < tokens_.size() && tokens_[index].kind == SourceToken::Kind::literal;
  }

  /// "#line 7" makes the next line the seventh.
  void follow_line_number() {
    const bool numbered = spelling(at_) == "#" && spelling(at_ + 1) == "line" && at_ + 2 < tokens_.size() &&
                          tokens_[at_ + 2].kind == SourceToken::Kind::number;
    if (numbered) {
      // What is no number of a line shows nothing but another line in messages.
      shift_ = number_in<std::int32_t>(tokens_[at_ + 2].text).value_or(1) - 1 - static_cast<long>(tokens_[at_].line);
    }
  }

  long line_of(const SourceToken& token) const { return static_cast<long>(token.line) + shift_; }

  /// Takes over what is before `offset` as it is.
  void copy_to(std::size_t offset) {
    result_ += text_.substr(copied_, offset - copied_);
    copied_ = offset;
  }

  std::size_t end_of(std::size_t index) const { return tokens_[index].offset + tokens_[index].length; }

  void replace(std::size_t end, const std::string& with) {
    result_ += with;
    copied_ = end;
  }

  [[noreturn]] void refuse_form(const std::string& instruction) const {
    refuse(fmt::format("{}, of another form than asm volatile(\"...\" : outputs : inputs);", instruction));
  }

  void expect(std::string_view token, const std::string& instruction) const {
    if (spelling(at_) != token) {
      refuse_form(instruction);
    }
  }

  void translate_statement() {
    const std::size_t first = at_;
    ++at_;
    const bool is_volatile = spelling(at_) == "volatile";
    at_ += is_volatile ? 1 : 0;
    expect("(", "\"asm\"");
    ++at_;
    std::string instruction;
    const std::size_t template_begin = at_;
    while (is_literal(at_)) {
      const std::optional<std::string> content = content_of(tokens_[at_].text);
      if (!content) {
        refuse(fmt::format("{} with escapes", tokens_[at_].text));
      }
      instruction += *content;
      ++at_;
    }
    instruction.erase(instruction.find_last_not_of(' ') + 1);
    const std::string quoted = fmt::format("\"{}\"", instruction.substr(0, 200));
    const auto known = ptx_instructions().find(instruction);
    if (at_ == template_begin || known == ptx_instructions().end()) {
      refuse(quoted);
    }
    if (!is_volatile && !is_pure_ptx(instruction)) {
      refuse_form(quoted);
    }
    copy_to(tokens_[first].offset);
    const std::size_t name_end = end_of(at_ - 1);
    replace(name_end,
            name_over(known->second.call + "(",
                      std::string_view(text_).substr(tokens_[first].offset, name_end - tokens_[first].offset)));
    expect(":", quoted);
    const bool no_outputs = known->second.outputs.empty();
    const std::vector<std::string> outputs = translate_operands(quoted, " ", no_outputs);
    expect(":", quoted);
    const std::vector<std::string> inputs = translate_operands(
        quoted, no_outputs || known->second.inputs.empty() ? " " : ",", known->second.inputs.empty());
    const bool has_memory = skip_clobber(quoted);
    if (known->second.needs_memory && !has_memory) {
      refuse(quoted + " without the clobber \"memory\"");
    }
    expect(")", quoted);
    ++at_;
    expect(";", quoted);
    if (outputs != known->second.outputs || inputs != known->second.inputs) {
      refuse(fmt::format("{} with the constraints {} : {}, where it has {} : {}", quoted, fmt::join(outputs, ", "),
                         fmt::join(inputs, ", "), fmt::join(known->second.outputs, ", "),
                         fmt::join(known->second.inputs, ", ")));
    }
  }

  /// From the ':' before operands to after the last; `separator` takes the place of the ':'. There may be none
  /// where the instruction has none.
  std::vector<std::string> translate_operands(const std::string& quoted, const std::string& separator,
                                              bool may_be_none) {
    copy_to(tokens_[at_].offset);
    replace(end_of(at_), separator);
    std::vector<std::string> constraints;
    if (may_be_none && !is_literal(at_ + 1)) {
      ++at_;
      return constraints;
    }
    do {
      ++at_;
      if (!is_literal(at_)) {
        refuse_form(quoted);
      }
      constraints.push_back(content_of(tokens_[at_].text).value_or(""));
      copy_to(tokens_[at_].offset);
      replace(end_of(at_), blanked(std::string_view(text_).substr(tokens_[at_].offset, tokens_[at_].length)));
      ++at_;
      expect("(", quoted);
      skip_brackets();
    } while (spelling(at_) == ",");
    return constraints;
  }

  /// From a bracket to after the one that closes it.
  void skip_brackets() {
    int depth = 0;
    do {
      const std::string_view token = spelling(at_);
      if (token.empty() || token == ";" || token == "asm") {
        refuse("operands without an end");
      }
      depth += token == "(" || token == "[" || token == "{" ? 1 : token == ")" || token == "]" || token == "}" ? -1 : 0;
      ++at_;
    } while (depth > 0);
  }

  /// Whether there was one.
  bool skip_clobber(const std::string& quoted) {
    if (spelling(at_) != ":") {
      return false;
    }
    if (!is_literal(at_ + 1) || content_of(tokens_[at_ + 1].text) != "memory") {
      refuse(quoted + " with another clobber than \"memory\"");
    }
    copy_to(tokens_[at_].offset);
    const std::size_t end = end_of(at_ + 1);
    replace(end, blanked(std::string_view(text_).substr(copied_, end - copied_)));
    at_ += 2;
    return true;
  }

  const std::string& text_;
  const std::string& file_name_;
  const std::vector<SourceToken> tokens_;
  std::size_t at_ = 0;
  std::size_t copied_ = 0;  ///< how much of the text is in the result, or has been replaced
  std::string result_;
  long shift_ = 0;  ///< of line numbers
  long line_ = 1;   ///< of the latest statement
};

}  // namespace

std::string translate_inline_ptx(const std::string& text, const std::string& file_name) {
  return Translator(text, file_name).run();
}

}  // namespace esc

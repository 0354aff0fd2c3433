// SPDX-License-Identifier: Apache-2.0
#include "generator/verify/declarations.h"

#include <string_view>

namespace esc {
namespace {

using Tokens = std::vector<SourceToken>;

constexpr std::size_t nowhere = static_cast<std::size_t>(-1);

/// Reads one declaration after the other.
class Reader {
 public:
  explicit Reader(const Tokens& tokens) : tokens_(tokens) {}

  Declaration read(std::size_t first) const {
    if (begins_directive(tokens_, first)) {
      return {DeclarationKind::directive, first, end_of_line(tokens_, first), 0, {}};
    }
    if (is(first, "}")) {
      return {DeclarationKind::scope, first, first + 1, 0, {}};
    }
    if (is(first, "namespace")) {
      std::size_t at = first + 1;
      while (is_word(at) || is(at, "::")) {
        ++at;
      }
      if (is(at, "{")) {
        return {DeclarationKind::scope, first, at + 1, 0, {}};
      }
    }
    return classified(cut(first));
  }

 private:
  /// A declaration's extent, and the first of '=', '{' and ';' in it that no bracket surrounds, which says what it is.
  struct Extent {
    std::size_t first;
    std::size_t start;  ///< after `template <...>`
    std::size_t last;
    std::size_t decisive;
    bool matches = true;  ///< its brackets
  };

  bool is(std::size_t at, std::string_view text) const { return at < tokens_.size() && tokens_[at].text == text; }
  bool is_word(std::size_t at) const { return at < tokens_.size() && tokens_[at].kind == SourceToken::Kind::word; }
  bool opens(std::size_t at) const { return is(at, "(") || is(at, "[") || is(at, "{"); }
  bool closes(std::size_t at) const { return is(at, ")") || is(at, "]") || is(at, "}"); }

  /// After the angle brackets that open at `at`.
  std::size_t behind_angles(std::size_t at) const {
    int angles = 0;
    int brackets = 0;
    for (; at < tokens_.size(); ++at) {
      brackets += opens(at) ? 1 : closes(at) ? -1 : 0;
      if (brackets == 0) {
        angles += is(at, "<") ? 1 : is(at, ">") ? -1 : is(at, ">>") ? -2 : 0;
        if (angles <= 0) {
          return at + 1;
        }
      }
    }
    return at;
  }

  std::size_t behind_templates(std::size_t at) const {
    while (is(at, "template") && is(at + 1, "<")) {
      at = behind_angles(at + 1);
    }
    return at;
  }

  /// The bracket that matches the closing one at `at`, not before `first`.
  std::size_t opening(std::size_t first, std::size_t at) const {
    int depth = 0;
    for (; at > first; --at) {
      depth += closes(at) ? 1 : opens(at) ? -1 : 0;
      if (depth == 0) {
        return at;
      }
    }
    return nowhere;
  }

  /// The bracket that matches the opening one at `at`, before `last`.
  std::size_t closing(std::size_t at, std::size_t last) const {
    int depth = 0;
    for (; at < last; ++at) {
      depth += opens(at) ? 1 : closes(at) ? -1 : 0;
      if (depth == 0) {
        return at;
      }
    }
    return nowhere;
  }

  /// The parenthesis that ends a function's parameters, before its body at `brace`.
  std::size_t end_of_parameters(std::size_t brace) const {
    std::size_t at = brace - 1;
    while (at > 0 && (is(at, "const") || is(at, "noexcept"))) {
      --at;
    }
    return is(at, ")") ? at : nowhere;
  }

  bool is_body(std::size_t at, std::size_t first) const {
    return at != nowhere && at > first && is(at, "{") && end_of_parameters(at) != nowhere;
  }

  Extent cut(std::size_t first) const {
    Extent extent{first, behind_templates(first), tokens_.size(), nowhere};
    int depth = 0;
    for (std::size_t at = extent.start; at < tokens_.size();) {
      if (begins_directive(tokens_, at)) {
        at = end_of_line(tokens_, at);
        continue;
      }
      const bool decides = depth == 0 && extent.decisive == nowhere && (is(at, "=") || is(at, "{") || is(at, ";"));
      extent.decisive = decides ? at : extent.decisive;
      depth += opens(at) ? 1 : closes(at) ? -1 : 0;
      if (depth < 0) {
        extent.matches = false;
      }
      const bool ends = is(at, ";") || (is(at, "}") && is_body(extent.decisive, first));
      ++at;
      if (depth <= 0 && (ends || !extent.matches)) {
        extent.last = at;
        return extent;
      }
    }
    extent.matches = false;
    return extent;
  }

  Declaration classified(const Extent& extent) const {
    Declaration declaration{DeclarationKind::other, extent.first, extent.last, 0, {}};
    if (!extent.matches || extent.decisive == nowhere) {
      return declaration;
    }
    if (is_body(extent.decisive, extent.start)) {
      read_function(extent, declaration);
    } else if (is(extent.start, "static_assert")) {
      declaration.kind = DeclarationKind::assertion;
    } else if (is(extent.start, "using") && is_word(extent.start + 1) && is(extent.start + 2, "=")) {
      declaration.kind = DeclarationKind::alias;
      declaration.name = tokens_[extent.start + 1].text;
    } else if (!read_type(extent, declaration)) {
      read_constant(extent, declaration);
    }
    return declaration;
  }

  void read_function(const Extent& extent, Declaration& declaration) const {
    const std::size_t open = opening(extent.start, end_of_parameters(extent.decisive));
    if (open == nowhere || open < extent.start + 2 || is(open - 2, "::")) {
      return;
    }
    const bool is_operator = is(open - 2, "operator");
    if (is_word(open - 1) || is_operator) {
      declaration.kind = DeclarationKind::function;
      declaration.body = extent.decisive;
      declaration.name = (is_operator ? "operator" : "") + tokens_[open - 1].text;
    }
  }

  bool read_type(const Extent& extent, Declaration& declaration) const {
    std::size_t at = extent.start;
    const bool is_enumeration = is(at, "enum") && (is(at + 1, "class") || is(at + 1, "struct"));
    if (!is_enumeration && !is(at, "struct") && !is(at, "class") && !is(at, "union")) {
      return false;
    }
    at += is_enumeration ? 2 : 1;
    if (is(at, "alignas") && is(at + 1, "(")) {
      at = closing(at + 1, extent.last) + 1;
    }
    const bool begins = is_word(at) && (is(at + 1, "{") || is(at + 1, ":") || is(at + 1, "final"));
    if (!begins || !is(extent.decisive, "{") || closing(extent.decisive, extent.last) + 2 != extent.last) {
      return false;  // it declares a variable as well, or specialises a template
    }
    declaration.kind = DeclarationKind::type;
    declaration.name = tokens_[at].text;
    return true;
  }

  void read_constant(const Extent& extent, Declaration& declaration) const {
    std::size_t name = extent.decisive;
    while (name > extent.start && is(name - 1, "]")) {
      name = opening(extent.start, name - 1);
      if (name == nowhere) {
        return;
      }
    }
    if (name <= extent.start + 1 || !is_word(name - 1) || is(name - 2, "::") || is(extent.decisive, ";")) {
      return;
    }
    --name;
    bool is_constexpr = false;
    for (std::size_t at = extent.start; at < name; ++at) {
      is_constexpr = is_constexpr || is(at, "constexpr");
    }
    int depth = 0;
    for (std::size_t at = extent.start; at < extent.last; ++at) {
      depth += opens(at) ? 1 : closes(at) ? -1 : 0;
      if (at > name && depth == 0 && is(at, ",")) {
        return;  // declares more than one
      }
    }
    if (is_constexpr) {
      declaration.kind = DeclarationKind::constant;
      declaration.name = tokens_[name].text;
    }
  }

  const Tokens& tokens_;
};

}  // namespace

bool begins_directive(const std::vector<SourceToken>& tokens, std::size_t at) {
  return at < tokens.size() && tokens[at].begins_line && tokens[at].text == "#";
}

std::size_t end_of_line(const std::vector<SourceToken>& tokens, std::size_t at) {
  do {
    ++at;
  } while (at < tokens.size() && !tokens[at].begins_line);
  return at;
}

std::vector<Declaration> declarations_of(const std::vector<SourceToken>& tokens) {
  const Reader reader(tokens);
  std::vector<Declaration> all;
  for (std::size_t at = 0; at < tokens.size(); at = all.back().last) {
    all.push_back(reader.read(at));
  }
  return all;
}

}  // namespace esc

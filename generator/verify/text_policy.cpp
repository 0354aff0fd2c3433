// SPDX-License-Identifier: Apache-2.0
#include "generator/verify/text_policy.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <set>
#include <string_view>
#include <vector>

#include "generator/frontend/host_compiler/tokens.h"
#include "generator/support/error.h"
#include "generator/support/plain_text.h"

namespace esc {
namespace {

using Tokens = std::vector<SourceToken>;

/// What both nvcc and the emulator take, in front of the part of a kernel's text that a run-time compiler does not need.
constexpr std::string_view taken_by_both = "# ifndef __CUDACC_RTC__";

/// Words of CUDA that begin with underscores and that a text may use beside those that are generated.
constexpr std::array<std::string_view, 58> words_of_cuda = {
    "__global__",     "__device__",       "__shared__",         "__constant__",        "__host__",
    "__restrict__",   "__launch_bounds__", "__forceinline__",   "__noinline__",        "__align__",
    "__syncthreads",  "__syncwarp",       "__threadfence",      "__threadfence_block", "__shfl_sync",
    "__shfl_up_sync", "__shfl_down_sync", "__shfl_xor_sync",    "__ballot_sync",       "__any_sync",
    "__all_sync",     "__activemask",     "__ldg",              "__ldcs",              "__ldcg",
    "__stcs",         "__stcg",           "__popc",             "__popcll",            "__byte_perm",         "__ffs",
    "__ffsll",        "__clz",            "__clzll",            "__brev",              "__int_as_float",
    "__float_as_int", "__uint_as_float",  "__float_as_uint",    "__umulhi",            "__fmaf_rn",
    "__fadd_rn",      "__fmul_rn",        "__pipeline_commit",  "__pipeline_memcpy_async",
    "__cvta_generic_to_shared",           "__half",             "__half2",             "__half2float",
    "__float2half_rn", "__ushort_as_half", "__half_as_ushort",  "__nv_bfloat16",       "__nv_bfloat162",
    "__bfloat162float", "__float2bfloat16_rn", "__ushort_as_bfloat16", "__bfloat16_as_ushort"};

/// Words that mean something to one compiler only, though they are not reserved.
constexpr std::array<std::string_view, 4> words_of_one_compiler = {"asm", "linux", "unix", "typeof"};

bool is_reserved(std::string_view word) {
  return word.find("__") != word.npos ||
         (word.size() > 1 && word[0] == '_' && std::isupper(static_cast<unsigned char>(word[1])) != 0);
}

/// A directive or a conditional part, from `first` to before `last`.
struct Piece {
  std::size_t first;
  std::size_t last;
};

/// A text as its tokens, and what it has of directives. Looks at `generated` and at what is checked in the same way.
class Text {
 public:
  Text(std::string file, const std::string& text) : file_(std::move(file)), tokens_(tokens_of(text)) { read_pieces(); }

  /// Tokens with blanks between them, and a line end in front of each directive.
  std::string print(const Piece& piece) const {
    std::string text;
    for (std::size_t at = piece.first; at < piece.last; ++at) {
      text += (at == piece.first ? "" : begins_directive(at) ? "\n" : " ") + tokens_[at].text;
    }
    return text;
  }

  /// What is included, whole conditional parts, other directives, and the tokens that are in none of them.
  const std::vector<Piece>& includes() const { return includes_; }
  const std::vector<Piece>& conditionals() const { return conditionals_; }
  const std::vector<Piece>& directives() const { return directives_; }
  const std::vector<std::size_t>& plain() const { return plain_; }
  const SourceToken& token(std::size_t at) const { return tokens_[at]; }
  std::size_t size() const { return tokens_.size(); }

  [[noreturn]] void refuse(std::size_t at, const std::string& rule) const {
    throw UserError(fmt::format("{}:{}", file_, at < tokens_.size() ? tokens_[at].line : 1), rule,
                    "generate the bundle again", ExitStatus::check_failed);
  }

 private:
  bool begins_directive(std::size_t at) const { return tokens_[at].begins_line && tokens_[at].text == "#"; }

  std::size_t end_of_line(std::size_t at) const {
    do {
      ++at;
    } while (at < tokens_.size() && !tokens_[at].begins_line);
    return at;
  }

  /// The first word of the directive at `at`; empty for a '#' alone.
  std::string_view word_at(std::size_t at) const {
    return at + 1 < end_of_line(at) ? std::string_view(tokens_[at + 1].text) : std::string_view();
  }

  static bool opens(std::string_view word) { return word == "if" || word == "ifdef" || word == "ifndef"; }

  /// Behind the #endif of the conditional part that begins at `first`.
  std::size_t end_of_conditional(std::size_t first) const {
    int depth = 0;
    for (std::size_t at = first; at < tokens_.size(); ++at) {
      if (begins_directive(at)) {
        depth += opens(word_at(at)) ? 1 : word_at(at) == "endif" ? -1 : 0;
        if (depth == 0) {
          return end_of_line(at);
        }
      }
    }
    refuse(first, "has a conditional part without its #endif");
  }

  void read_pieces() {
    int open = 0;  // conditional parts that both compilers take and that surround this place
    for (std::size_t at = 0; at < tokens_.size();) {
      if (!begins_directive(at)) {
        plain_.push_back(at++);
        continue;
      }
      const std::size_t end = end_of_line(at);
      const std::string_view word = word_at(at);
      if (word == "include") {
        includes_.push_back({at, end});
      } else if (opens(word) && print({at, end}) == taken_by_both) {
        ++open;
      } else if (opens(word)) {
        conditionals_.push_back({at, end_of_conditional(at)});
        at = conditionals_.back().last;
        continue;
      } else if (word == "endif" && open > 0) {
        --open;
      } else {
        directives_.push_back({at, end});
      }
      at = end;
    }
    if (open != 0) {
      refuse(tokens_.size(), "has a conditional part without its #endif");
    }
  }

  std::string file_;
  Tokens tokens_;
  std::vector<Piece> includes_;
  std::vector<Piece> conditionals_;
  std::vector<Piece> directives_;
  std::vector<std::size_t> plain_;
};

std::set<std::string> printed(const Text& text, const std::vector<Piece>& pieces) {
  std::set<std::string> all;
  for (const Piece& piece : pieces) {
    all.insert(text.print(piece));
  }
  return all;
}

/// "# pragma unroll", with a number or without.
bool asks_to_unroll(const Text& text, const Piece& piece) {
  const std::size_t tokens = piece.last - piece.first;
  const bool unrolls =
      tokens >= 3 && text.token(piece.first + 1).text == "pragma" && text.token(piece.first + 2).text == "unroll";
  return unrolls && (tokens == 3 || (tokens == 4 && text.token(piece.first + 3).kind == SourceToken::Kind::number));
}

/// A directive in a message: its first words.
std::string shortened(const std::string& text) {
  constexpr std::size_t most = 60;
  const std::string line = text.substr(0, text.find('\n'));
  return line.size() <= most ? line : line.substr(0, most) + " ...";
}

/// Whether nothing but blanks follows in the line. A backslash in front of them is easily overlooked, behind a comment above
/// all, and compilers differ in what it does there.
bool ends_line(const std::string& text, std::size_t at) {
  const std::size_t next = text.find_first_not_of(" \t", at);
  return next < text.size() && text[next] == '\n';
}

void check_characters(const std::string& file, const std::string& text) {
  const auto refuse = [&](std::size_t at, const std::string& rule) {
    const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n');
    throw UserError(fmt::format("{}:{}", file, line), rule, "generate the bundle again", ExitStatus::check_failed);
  };
  for (std::size_t at = 0; at < text.size(); ++at) {
    const auto c = static_cast<unsigned char>(text[at]);
    if ((c < 0x20 && c != '\n' && c != '\t') || c == 0x7f) {
      refuse(at, fmt::format("has the control character {:#04x}", c));
    }
    if (c == '?' && at + 2 < text.size() && text[at + 1] == '?' &&
        std::string_view("=/'()!<>-").find(text[at + 2]) != std::string_view::npos) {
      refuse(at, "has a trigraph, which compilers take in different ways");
    }
    if (c == '\\' && ends_line(text, at + 1)) {
      refuse(at, "joins two lines with a backslash");
    }
  }
  const std::string plain = plain_lines(text);
  if (const auto [shown, hidden] = std::ranges::mismatch(plain, text); hidden != text.end()) {
    refuse(static_cast<std::size_t>(hidden - text.begin()),
           "has characters that do not show, or bytes that are not UTF-8");
  }
}

void check_directives(const Text& text, const Text& generated) {
  const std::set<std::string> includes = printed(generated, generated.includes());
  for (const Piece& piece : text.includes()) {
    if (!includes.contains(text.print(piece))) {
      const std::string name = piece.first + 2 < piece.last ? text.print({piece.first + 2, piece.last}) : "nothing";
      text.refuse(piece.first, fmt::format("the text includes {}, which is no part of a bundle", shortened(name)));
    }
  }
  const std::set<std::string> conditionals = printed(generated, generated.conditionals());
  for (const Piece& piece : text.conditionals()) {
    if (!conditionals.contains(text.print(piece))) {
      text.refuse(piece.first, fmt::format("has a conditional part that no generated text has, '{}'",
                                           shortened(text.print(piece))));
    }
  }
  const std::set<std::string> directives = printed(generated, generated.directives());
  for (const Piece& piece : text.directives()) {
    if (!asks_to_unroll(text, piece) && !directives.contains(text.print(piece))) {
      text.refuse(piece.first, fmt::format("has a directive that no generated text has, '{}'",
                                           shortened(text.print(piece))));
    }
  }
}

/// An assembly statement up to its operands: "asm volatile ( "..."".
std::string assembly_at(const Text& text, std::size_t at) {
  const auto is = [&](std::size_t token, std::string_view word) { return token < text.size() && text.token(token).text == word; };
  std::size_t end = at + 1;
  end += is(end, "volatile") ? 1 : 0;
  end += is(end, "(") ? 1 : 0;
  while (end < text.size() && text.token(end).kind == SourceToken::Kind::literal) {
    ++end;
  }
  return text.print({at, end});
}

void check_words(const Text& text, const Text& generated) {
  std::set<std::string_view> known(words_of_cuda.begin(), words_of_cuda.end());
  std::set<std::string> known_assembly;
  for (const std::size_t at : generated.plain()) {
    known.insert(generated.token(at).text);
    if (generated.token(at).text == "asm") {
      known_assembly.insert(assembly_at(generated, at));
    }
  }
  for (const std::size_t at : text.plain()) {
    const SourceToken& token = text.token(at);
    const bool word = token.kind == SourceToken::Kind::word;
    const bool foreign =
        is_reserved(token.text) || std::ranges::find(words_of_one_compiler, token.text) != words_of_one_compiler.end();
    if (word && foreign && !known.contains(token.text)) {
      text.refuse(at, fmt::format("uses '{}', which no generated text has", shortened(token.text)));
    }
    if (token.text == "asm" && !known_assembly.contains(assembly_at(text, at))) {
      text.refuse(at, fmt::format("has assembly that no generated text has, '{}'", shortened(assembly_at(text, at))));
    }
    const bool ascii = std::ranges::all_of(token.text, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
    if (!ascii || (word && token.text.find('\\') != std::string::npos)) {
      text.refuse(at, "has characters outside ASCII");
    }
    if (token.text == "[" && at + 1 < text.size() && text.token(at + 1).text == "[") {
      text.refuse(at, "has an attribute, which no generated text has");
    }
  }
}

}  // namespace

void check_text(const std::string& file, const std::string& text, const std::string& generated) {
  check_characters(file, text);
  const Text of_bundle(file, text);
  const Text of_generator(file, generated);
  check_directives(of_bundle, of_generator);
  check_words(of_bundle, of_generator);
}

}  // namespace esc

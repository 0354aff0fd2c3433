// SPDX-License-Identifier: Apache-2.0
#include "generator/verify/text_policy.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include "generator/support/error.h"
#include "generator/support/plain_text.h"
#include "generator/verify/freedom.h"
#include "generator/verify/own_names.h"
#include "generator/verify/policy_text.h"

namespace esc {
namespace {

/// Words of CUDA that a kernel may use beside those that are generated: they are the same to nvcc and to the emulator.
constexpr std::array<std::string_view, 106> words_of_cuda = {"__device__",
                                                             "__shared__",
                                                             "__restrict__",
                                                             "__forceinline__",
                                                             "__noinline__",
                                                             "__align__",
                                                             "__syncthreads",
                                                             "__syncwarp",
                                                             "__threadfence",
                                                             "__threadfence_block",
                                                             "__shfl_sync",
                                                             "__shfl_up_sync",
                                                             "__shfl_down_sync",
                                                             "__shfl_xor_sync",
                                                             "__ballot_sync",
                                                             "__any_sync",
                                                             "__all_sync",
                                                             "__activemask",
                                                             "__ldg",
                                                             "__ldcs",
                                                             "__ldcg",
                                                             "__stcs",
                                                             "__stcg",
                                                             "__popc",
                                                             "__popcll",
                                                             "__byte_perm",
                                                             "__dp2a_lo",
                                                             "__dp4a",
                                                             "__ffs",
                                                             "__ffsll",
                                                             "__clz",
                                                             "__clzll",
                                                             "__brev",
                                                             "__int_as_float",
                                                             "__float_as_int",
                                                             "__uint_as_float",
                                                             "__float_as_uint",
                                                             "__umulhi",
                                                             "__fmaf_rn",
                                                             "__fadd_rn",
                                                             "__fmul_rn",
                                                             "__pipeline_commit",
                                                             "__pipeline_memcpy_async",
                                                             "__pipeline_wait_prior",
                                                             "__cvta_generic_to_shared",
                                                             "__half",
                                                             "__half2",
                                                             "__half2float",
                                                             "__float2half_rn",
                                                             "__ushort_as_half",
                                                             "__half_as_ushort",
                                                             "__nv_bfloat16",
                                                             "__nv_bfloat162",
                                                             "__bfloat162float",
                                                             "__float2bfloat16_rn",
                                                             "__ushort_as_bfloat16",
                                                             "__bfloat16_as_ushort",
                                                             "threadIdx",
                                                             "blockIdx",
                                                             "blockDim",
                                                             "gridDim",
                                                             "atomicAdd",
                                                             "atomicSub",
                                                             "atomicMin",
                                                             "atomicMax",
                                                             "atomicExch",
                                                             "atomicAnd",
                                                             "atomicOr",
                                                             "atomicXor",
                                                             "atomicCAS",
                                                             "min",
                                                             "max",
                                                             "fmaf",
                                                             "size_t",
                                                             "int2",
                                                             "int3",
                                                             "int4",
                                                             "uint2",
                                                             "uint3",
                                                             "uint4",
                                                             "short2",
                                                             "short4",
                                                             "ushort2",
                                                             "ushort4",
                                                             "char2",
                                                             "char4",
                                                             "uchar2",
                                                             "uchar4",
                                                             "float2",
                                                             "float3",
                                                             "float4",
                                                             "double2",
                                                             "make_int2",
                                                             "make_int4",
                                                             "make_uint2",
                                                             "make_uint4",
                                                             "make_short2",
                                                             "make_short4",
                                                             "make_ushort2",
                                                             "make_ushort4",
                                                             "make_uchar4",
                                                             "make_char4",
                                                             "make_float2",
                                                             "make_float4",
                                                             "make_double2",
                                                             "uint8_t"};

/// Of the C library what a transformer may use beside what is generated; limits of integers are numbers, which some
/// versions compare with and others do not.
constexpr std::array<std::string_view, 21> words_of_the_library = {
    "memcpy",   "memmove",   "memset",   "memcmp",    "size_t",    "ptrdiff_t",  "int8_t",
    "int16_t",  "int32_t",   "int64_t",  "uint8_t",   "uint16_t",  "uint32_t",   "uint64_t",
    "intptr_t", "uintptr_t", "offsetof", "INT32_MAX", "INT64_MAX", "UINT32_MAX", "UINT64_MAX"};

template <class Range>
bool is_among(const Range& words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

/// A text in a message: its first words.
std::string shortened(const std::string& text) {
  constexpr std::size_t most = 60;
  const std::string line = text.substr(0, text.find('\n'));
  return line.size() <= most ? line : line.substr(0, most) + " ...";
}

/// "# pragma unroll", with a number or without.
bool asks_to_unroll(const PolicyText& text, const Piece& piece) {
  const std::size_t tokens = piece.last - piece.first;
  const bool unrolls = tokens >= 3 && text.is(piece.first + 1, "pragma") && text.is(piece.first + 2, "unroll");
  return unrolls && (tokens == 3 || (tokens == 4 && text.token(piece.first + 3).kind == SourceToken::Kind::number));
}

/// Whether the number has a form that every compiler takes alike: no suffix of one's own or of another standard.
bool is_plain_number(std::string_view number) {
  const bool is_hexadecimal = number.starts_with("0x") || number.starts_with("0X");
  const bool has_float_suffix = !is_hexadecimal || number.find_first_of("pP") != number.npos;
  while (!number.empty() && (std::string_view("uUlL").find(number.back()) != std::string_view::npos ||
                             (has_float_suffix && (number.back() == 'f' || number.back() == 'F')))) {
    number.remove_suffix(1);
  }
  const std::string_view digits = is_hexadecimal ? "xX.'0123456789abcdefABCDEFpP+-" : "bB.'0123456789eE+-";
  return !number.empty() && number.find_first_not_of(digits) == number.npos;
}

/// A string or a character without a prefix and a suffix.
bool is_plain_literal(std::string_view literal) {
  return literal.size() >= 2 && (literal.front() == '"' || literal.front() == '\'') &&
         literal.back() == literal.front();
}

/// Which words there are in the language's libraries for a text of this kind.
using Vocabulary = std::function<bool(std::string_view)>;

/// Whether nothing but blanks follows in the line. A backslash before them is easily overlooked, after a comment
/// above all, and compilers differ in what it does there.
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

/// Holds a text against the generated one.
class PolicyCheck {
 public:
  PolicyCheck(const PolicyText& text, const PolicyText& generated, const Freedom& freedom, Vocabulary vocabulary,
              bool has_device_code)
      : text_(text),
        generated_(generated),
        freedom_(freedom),
        vocabulary_(std::move(vocabulary)),
        has_device_code_(has_device_code) {}

  void run() const {
    std::size_t next = 0;  // of the fixed declarations
    for (std::size_t i = 0; i < text_.declarations().size(); ++i) {
      const Declaration& it = text_.declarations()[i];
      if (next < freedom_.fixed.size() && is_generated(it, fixed(next))) {
        ++next;
      } else if (it.kind == DeclarationKind::directive) {
        refuse_directive(it);
      } else if (next < freedom_.first_gap || next > freedom_.last_gap || text_.is_conditional(i) ||
                 !has_simple_form(it)) {
        refuse_fixed(it, next);
      } else if (!freedom_.open_texts.contains(text_.print(it))) {
        check_own(it);
      }
    }
    if (next < freedom_.fixed.size()) {
      text_.refuse(text_.tokens().size(),
                   fmt::format("lacks what is generated, '{}'", shortened(generated_.print(fixed(next)))));
    }
  }

 private:
  const Declaration& fixed(std::size_t i) const { return generated_.declarations()[freedom_.fixed[i]]; }

  bool is_generated(const Declaration& it, const Declaration& other) const {
    return it.last - it.first == other.last - other.first && differing_token(it, other) == it.last;
  }

  /// The first token of `it` that `other` has not in its place.
  std::size_t differing_token(const Declaration& it, const Declaration& other) const {
    std::size_t at = it.first;
    while (at < it.last && at - it.first < other.last - other.first &&
           text_.token(at).text == generated_.token(at - it.first + other.first).text) {
      ++at;
    }
    return at;
  }

  [[noreturn]] void refuse_directive(const Declaration& it) const {
    const Piece piece{it.first, it.last};
    if (text_.is(it.first + 1, "include")) {
      const std::string name =
          piece.first + 2 < piece.last ? text_.print(Piece{piece.first + 2, piece.last}) : "nothing";
      text_.refuse(it.first, fmt::format("the text includes {}, which is no part of a bundle", shortened(name)));
    }
    const bool opens = text_.opens_condition(it.first);
    text_.refuse(it.first, fmt::format("has a {} that no generated text has here, '{}'",
                                       opens ? "conditional part" : "directive", shortened(text_.print(piece))));
  }

  /// Refuses what must be as it is generated.
  [[noreturn]] void refuse_fixed(const Declaration& it, std::size_t next) const {
    const bool is_in_gap = next >= freedom_.first_gap && next <= freedom_.last_gap;
    if (is_in_gap && !has_simple_form(it)) {
      refuse_form(it);
    }
    const std::size_t at = next < freedom_.fixed.size() ? differing_token(it, fixed(next)) : it.first;
    const std::string is = at < it.last ? text_.token(at).text : "nothing more";
    text_.refuse(at, fmt::format("has '{}' where another text is generated: host code must be the generated one",
                                 shortened(is)));
  }

  [[noreturn]] void refuse_form(const Declaration& it) const {
    text_.refuse(it.first,
                 fmt::format("has '{}', which no generated text has, and which is no function with its body, no "
                             "constexpr constant and no type",
                             shortened(text_.print(it))));
  }

  void check_own(const Declaration& it) const {
    if (it.kind == DeclarationKind::function && has_device_code_) {
      check_function(it);
    }
    if (!is_kernel(text_, it) && it.kind != DeclarationKind::assertion) {
      check_name(it);
    }
    const Inside inside = inside_of(text_, it);
    for (const Piece& piece : inside.conditionals) {
      if (!freedom_.parts.contains(text_.print(piece))) {
        text_.refuse(piece.first, fmt::format("has a conditional part that no generated text has, '{}'",
                                              shortened(text_.print(piece))));
      }
    }
    for (const Piece& piece : inside.directives) {
      if (!asks_to_unroll(text_, piece) && !freedom_.parts.contains(text_.print(piece))) {
        refuse_directive({DeclarationKind::directive, piece.first, piece.last, 0, {}});
      }
    }
    for (const std::size_t at : inside.plain) {
      check_token(it, at);
    }
  }

  void check_function(const Declaration& it) const {
    if (is_kernel(text_, it)) {
      if (!freedom_.kernel_heads.contains(text_.head_of(it))) {
        text_.refuse(it.first,
                     fmt::format("has a kernel that host code does not know so, '{}'", shortened(text_.head_of(it))),
                     "leave the kernel its name, parameters and bounds");
      }
    } else if (!text_.is_marked(it, "__device__") && !text_.is_marked(it, "constexpr")) {
      text_.refuse(it.first, fmt::format("has a function for the host that no generated text has, '{}'", it.name),
                   "make it a __device__ function");
    }
  }

  void check_name(const Declaration& it) const {
    if (freedom_.fixed_names.contains(it.name)) {
      text_.refuse(it.first,
                   fmt::format("declares '{}' otherwise than is generated, though {} uses it", it.name,
                               has_device_code_ ? "host code" : "the C interface"),
                   "leave it as it is, and use a constant with another name");
    }
    if (!freedom_.open_names.contains(it.name) && (!has_own_form(it.name) || is_taken(it.name))) {
      text_.refuse(it.first, fmt::format("declares '{}', which is no name of its own", shortened(it.name)),
                   "rename it, in lower case or as types are called (PieceOfRow)");
    }
  }

  void check_token(const Declaration& it, std::size_t at) const {
    const SourceToken& token = text_.token(at);
    const bool ascii = std::ranges::all_of(token.text, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
    const bool is_word = token.kind == SourceToken::Kind::word;
    if (!ascii || (is_word && token.text.find('\\') != std::string::npos)) {
      text_.refuse(at, "has characters outside ASCII");
    }
    if (text_.is(at, "[") && text_.is(at + 1, "[")) {
      text_.refuse(at, "has an attribute, which no generated text has");
    }
    if (is_word && is_word_of_storage(token.text)) {
      check_storage(it, at);
    }
    if (text_.is(at, "asm") && freedom_.words.contains("asm") && !freedom_.assembly.contains(assembly_at(text_, at))) {
      text_.refuse(at, fmt::format("has assembly that no generated text has, '{}'", shortened(assembly_at(text_, at))));
    }
    if (text_.is(at, "double") && has_device_code_ && is_long(at)) {
      text_.refuse(at, "has a long double, which has another size on a device");
    }
    if (freedom_.words.contains(token.text)) {
      return;
    }
    if (is_word) {
      check_word(at);
    } else if (token.kind == SourceToken::Kind::number
                   ? !is_plain_number(token.text)
                   : token.kind == SourceToken::Kind::literal && !is_plain_literal(token.text)) {
      text_.refuse(at, fmt::format("has {}, a form of literal that no generated text has", shortened(token.text)));
    }
  }

  /// Whether "long" is beside this "double", or with a word between them.
  bool is_long(std::size_t at) const {
    const auto is_word = [&](std::size_t place) { return text_.token(place).kind == SourceToken::Kind::word; };
    return (at > 0 && text_.is(at - 1, "long")) || text_.is(at + 1, "long") ||
           (at > 1 && is_word(at - 1) && text_.is(at - 2, "long")) ||
           (at + 2 < text_.tokens().size() && is_word(at + 1) && text_.is(at + 2, "long"));
  }

  void check_word(std::size_t at) const {
    const std::string& word = text_.token(at).text;
    if (vocabulary_(word)) {
      return;
    }
    if (is_taken(word) || word.find("__") != std::string::npos || word.front() == '_') {
      text_.refuse(
          at,
          fmt::format("uses '{}', which no generated text has, and which headers or compilers have", shortened(word)),
          "rename it, in lower case or as types are called (PieceOfRow)");
    }
    if (!has_own_form(word)) {
      text_.refuse(at,
                   fmt::format("uses '{}', which no generated text has, and which a header may have", shortened(word)),
                   "rename it, in lower case or as types are called (PieceOfRow)");
    }
  }

  /// Nothing may be kept from one call to the next, but in what is generated.
  void check_storage(const Declaration& it, std::size_t at) const {
    const std::string& word = text_.token(at).text;
    const bool is_constant =
        word == "static" && (text_.is(at + 1, "constexpr") || (at > it.first && text_.is(at - 1, "constexpr")));
    const bool is_in_head = it.kind == DeclarationKind::function && at < it.body &&
                            (word == "static" || word == "__device__" || word == "__global__");
    const bool is_member = it.kind == DeclarationKind::type && word == "__device__";
    if (!is_constant && !is_in_head && !is_member && !freedom_.statements.contains(statement_at(text_, it, at))) {
      text_.refuse(at,
                   fmt::format("has '{}', which no generated text has: a text keeps nothing from one call to the next",
                               shortened(statement_at(text_, it, at))),
                   "use a constexpr constant, or a variable of the block");
    }
  }

  const PolicyText& text_;
  const PolicyText& generated_;
  const Freedom& freedom_;
  Vocabulary vocabulary_;
  bool has_device_code_;
};

}  // namespace

void check_kernel_text(const std::string& file, const std::string& text, const std::string& generated) {
  check_characters(file, text);
  const PolicyText of_generator(file, generated);
  const auto is_of_cuda = [](std::string_view word) { return is_among(words_of_cuda, word); };
  PolicyCheck(PolicyText(file, text), of_generator, freedom_of_kernel(of_generator), is_of_cuda, true).run();
}

void check_transformer_text(const std::string& file, const std::string& text, const std::string& generated) {
  check_characters(file, text);
  const PolicyText of_generator(file, generated);
  const auto is_of_the_library = [](std::string_view word) { return is_among(words_of_the_library, word); };
  PolicyCheck(PolicyText(file, text), of_generator, freedom_of_transformer(of_generator), is_of_the_library, false)
      .run();
}

}  // namespace esc

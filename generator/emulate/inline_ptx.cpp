// SPDX-License-Identifier: Apache-2.0
#include "generator/emulate/inline_ptx.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "generator/emulate/matrix_fragments.h"
#include "generator/frontend/host_compiler/tokens.h"
#include "generator/support/error.h"

namespace esc {
namespace {

/// What an instruction needs beside its text, and what is called in its place.
struct Instruction {
  std::vector<std::string> outputs;  ///< constraints
  std::vector<std::string> inputs;
  std::string call;
  bool needs_memory = false;  ///< whether it must have the clobber "memory": it orders accesses that it does not name
};

using InstructionTable = std::map<std::string, Instruction, std::less<>>;

/// "{%2, %3}".
std::string operand_list(int first, int count) {
  std::string list;
  for (int operand = first; operand < first + count; ++operand) {
    list += fmt::format("{}%{}", list.empty() ? "" : ", ", operand);
  }
  return "{" + list + "}";
}

void add_loads(InstructionTable& table) {
  for (const int matrices : {1, 2, 4}) {
    for (const bool transposed : {false, true}) {
      const std::string text = fmt::format("ldmatrix.sync.aligned.m8n8.x{}{}.shared.b16 {}, [%{}];", matrices,
                                           transposed ? ".trans" : "", operand_list(0, matrices), matrices);
      table[text] = {std::vector<std::string>(static_cast<std::size_t>(matrices), "=r"),
                     {"r"},
                     fmt::format("__esc_ldmatrix<{}>", transposed ? 1 : 0)};
    }
  }
}

void add_transposition(InstructionTable& table) {
  table["movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;"] = {{"=r"}, {"r"}, "__esc_movmatrix"};
}

/// A form of mma: D and C are the same registers.
struct ProductForm {
  MatrixProduct::Element element;
  const char* types;
  const char* shape;
  const char* sparse_shape;
};

void add_products(InstructionTable& table) {
  using Element = MatrixProduct::Element;
  const std::vector<std::string> sums(4, "+f");
  for (const ProductForm& form : {ProductForm{Element::float16, "f16.f16", "m16n8k16", "m16n8k32"},
                                  ProductForm{Element::bfloat16, "bf16.bf16", "m16n8k16", "m16n8k32"},
                                  ProductForm{Element::tensor_float32, "tf32.tf32", "m16n8k8", "m16n8k16"}}) {
    const std::string d = operand_list(0, 4);
    const std::string a = operand_list(4, 4);
    table[fmt::format("mma.sync.aligned.{}.row.col.f32.{}.f32 {}, {}, {}, {};", form.shape, form.types, d, a,
                      operand_list(8, 2), d)] = {sums, std::vector<std::string>(6, "r"),
                                                 fmt::format("__esc_mma<{}>", MatrixProduct{form.element}.number())};
    for (const bool ordered : {false, true}) {
      for (const std::uint32_t selector : {0u, 1u}) {
        const MatrixProduct product{form.element, true, ordered, selector};
        table[fmt::format("mma.sp{}.sync.aligned.{}.row.col.f32.{}.f32 {}, {}, {}, {}, %12, 0x{};",
                          ordered ? "::ordered_metadata" : "", form.sparse_shape, form.types, d, a, operand_list(8, 4),
                          d, selector)] = {sums, std::vector<std::string>(9, "r"),
                                           fmt::format("__esc_mma<{}>", product.number())};
      }
    }
  }
}

/// A form of wgmma. Behind its predicate stand the signs of A and B, and of 16-bit elements that B is not transposed.
struct WarpgroupForm {
  MatrixProduct::Element element;
  const char* types;
  int depth;
  const char* immediates;
};

void add_warpgroup_products(InstructionTable& table) {
  using Element = MatrixProduct::Element;
  table["wgmma.fence.sync.aligned;"] = {{}, {}, "__esc_wgmma_fence", true};
  table["wgmma.commit_group.sync.aligned;"] = {{}, {}, "__esc_wgmma_commit", true};
  table["wgmma.wait_group.sync.aligned 0;"] = {{}, {}, "__esc_wgmma_wait", true};
  table[""] = {{"+f"}, {}, "__esc_keep", true};  // no instruction: what is made of the register stays behind it
  table["// kept"] = {std::vector<std::string>(4, "+r"), {}, "__esc_keep_operand", true};  // nor is one: registers of A
  constexpr int most_columns = 96;
  for (const WarpgroupForm& form : {WarpgroupForm{Element::tensor_float32, "tf32.tf32", 8, "1, 1"},
                                    WarpgroupForm{Element::float16, "f16.f16", 16, "1, 1, 0"}}) {
    for (int columns = 8; columns <= most_columns; columns += 8) {
      const int sums = columns / 2;
      const std::string text = fmt::format(
          "{{ .reg .pred adds; setp.ne.b32 adds, %{}, 0; wgmma.mma_async.sync.aligned.m64n{}k{}.f32.{} {}, {}, %{}, "
          "adds, {}; }}",
          sums + 5, columns, form.depth, form.types, operand_list(0, sums), operand_list(sums, 4), sums + 4,
          form.immediates);
      table[text] = {std::vector<std::string>(static_cast<std::size_t>(sums), "+f"),
                     {"r", "r", "r", "r", "l", "r"},
                     fmt::format("__esc_wgmma<{}, {}>", MatrixProduct{form.element}.number(), sums)};
    }
  }
}

void add_async_copies(InstructionTable& table) {
  const auto add = [&](const std::string& text, std::vector<std::string> inputs, const std::string& call) {
    table[text] = {{}, std::move(inputs), call, true};
  };
  const std::string bulk = "shared::cluster.global.mbarrier::complete_tx::bytes";
  add("mbarrier.init.shared::cta.b64 [%0], %1;", {"r", "r"}, "__esc_mbarrier_init");
  add("fence.mbarrier_init.release.cluster;", {}, "__esc_async_fence");
  add("fence.proxy.async.shared::cta;", {}, "__esc_proxy_fence");
  add("mbarrier.arrive.shared::cta.b64 _, [%0];", {"r"}, "__esc_mbarrier_arrive");
  add("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;", {"r", "r"}, "__esc_mbarrier_expect");
  add("{ .reg .pred done; again: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1; @!done bra again; }", {"r", "r"},
      "__esc_mbarrier_wait");
  add("cp.async.bulk." + bulk + " [%0], [%1], %2, [%3];", {"r", "l", "r", "r"}, "__esc_bulk_copy");
  add("cp.async.bulk.tensor.2d." + bulk + " [%0], [%1, {%2, %3}], [%4];", {"r", "l", "r", "r", "r"}, "__esc_tensor_copy");
}

void add_byte_permutation(InstructionTable& table) { table["prmt.b32 %0, %1, 0, %2;"] = {{"=r"}, {"r", "r"}, "__esc_permute_bytes"}; }

void add_conversion(InstructionTable& table) {
  table["cvt.rn.f16x2.f32 %0, %1, %2;"] = {{"=r"}, {"f", "f"}, "__esc_convert_to_halves"};
}

void add_clusters(InstructionTable& table) {
  table["barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;"] = {{}, {}, "__esc_meet_cluster", true};
  table["mapa.shared::cluster.u32 %0, %1, %2;"] = {{"=r"}, {"r", "r"}, "__esc_map_to_block"};
  table["st.shared::cluster.v4.b32 [%0], {%1, %2, %3, %4};"] = {{}, std::vector<std::string>(5, "r"), "__esc_store_in_cluster", true};
}

void add_named_barrier(InstructionTable& table) {
  table["bar.sync %0, %1;"] = {{}, {"r", "r"}, "__esc_bar_sync", true};
}

/// Whether it is a function of its operands alone, which may be moved. What reads memory must stay where it is.
bool is_pure(std::string_view instruction) {
  return std::ranges::any_of(std::array{"mma", "prmt", "cvt"},
                             [&](const char* name) { return instruction.starts_with(name); });
}

const InstructionTable& instructions() {
  static const InstructionTable kTable = [] {
    InstructionTable table;
    add_loads(table);
    add_transposition(table);
    add_products(table);
    add_warpgroup_products(table);
    add_async_copies(table);
    add_clusters(table);
    add_named_barrier(table);
    add_byte_permutation(table);
    add_conversion(table);
    return table;
  }();
  return kTable;
}

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
  std::ranges::replace_if(
      blanks, [](char c) { return c != '\n'; }, ' ');
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
                    "write it as docs/verification.md lists it, or with CUDA's intrinsics");
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
      shift_ = std::strtol(tokens_[at_ + 2].text.c_str(), nullptr, 10) - 1 - static_cast<long>(tokens_[at_].line);
    }
  }

  long line_of(const SourceToken& token) const { return static_cast<long>(token.line) + shift_; }

  /// Takes over what stands in front of `offset` as it is.
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
    const auto known = instructions().find(instruction);
    if (at_ == template_begin || known == instructions().end()) {
      refuse(quoted);
    }
    if (!is_volatile && !is_pure(instruction)) {
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
    const std::vector<std::string> inputs =
        translate_operands(quoted, no_outputs || known->second.inputs.empty() ? " " : ",", known->second.inputs.empty());
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

  /// From the ':' in front of operands to behind the last; `separator` takes the place of the ':'. There may be none
  /// where the instruction has none.
  std::vector<std::string> translate_operands(const std::string& quoted, const std::string& separator, bool may_be_none) {
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

  /// From a bracket to behind the one that closes it.
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
  std::size_t copied_ = 0;  ///< how much of the text stands in the result, or has been replaced
  std::string result_;
  long shift_ = 0;  ///< of line numbers
  long line_ = 1;   ///< of the latest statement
};

}  // namespace

std::string translate_inline_ptx(const std::string& text, const std::string& file_name) {
  return Translator(text, file_name).run();
}

}  // namespace esc

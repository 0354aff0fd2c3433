// SPDX-License-Identifier: Apache-2.0
#include "tests/support/text_mutants.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <set>

#include "tests/support/text_words.h"

namespace esc::tests {
namespace {

const std::set<std::string> statement_keywords = {
    "return", "if",      "for",       "while",         "do",     "switch", "case",   "default",
    "const",  "using",   "constexpr", "static",        "struct", "enum",   "inline", "template",
    "extern", "typedef", "namespace", "static_assert", "public", "else"};

/// Names of types, as far as emitted texts declare variables of them.
const std::set<std::string> type_words = {"const",    "unsigned", "int",      "long",  "float",    "double",
                                          "bool",     "char",     "size_t",   "short", "int32_t",  "int64_t",
                                          "uint32_t", "uint64_t", "uint16_t", "void",  "uintptr_t"};

/// Where a line is.
struct Place {
  int number;          ///< among the lines that read like it, counted from 1
  std::string within;  ///< the class or struct
};

class Mutants {
 public:
  explicit Mutants(const std::string& text) : text_(text), words_(words_of(text)) {
    find_pairs();
    number_lines();
  }

  std::vector<TextMutant> take() && {
    exchange_operators();
    change_constants();
    drop_statements();
    decide_guards();
    drop_elses();
    exchange_arguments();
    exchange_identifiers();
    return std::move(mutants_);
  }

 private:
  bool is(std::size_t index, const char* text) const { return index < words_.size() && words_[index].text == text; }

  /// The bracket that belongs to each.
  void find_pairs() {
    pair_.resize(words_.size());
    std::vector<std::size_t> open;
    for (std::size_t at = 0; at < words_.size(); ++at) {
      const std::string& text = words_[at].text;
      if (text == "(" || text == "{" || text == "[") {
        open.push_back(at);
      } else if ((text == ")" || text == "}" || text == "]") && !open.empty()) {
        pair_[at] = open.back();
        pair_[open.back()] = at;
        open.pop_back();
      }
    }
  }

  /// Lines that read alike are told apart by their order, and by the class or struct that they are in.
  void number_lines() {
    std::map<std::string, int> seen;
    std::string within;
    for (std::size_t begin = 0; begin < text_.size(); begin = std::min(text_.find('\n', begin), text_.size()) + 1) {
      const std::string line = text_.substr(begin, text_.find('\n', begin) - begin);
      if (line.starts_with("class ") || line.starts_with("struct ")) {
        const std::size_t name = line.find(' ') + 1;
        within = line.substr(name, line.find_first_of(" {;:", name) - name);
      } else if (line.starts_with("}")) {
        within.clear();
      }
      place_[begin] = {++seen[without_blanks(line)], within};
    }
  }

  void add(const char* kind, std::size_t begin, std::size_t end, const std::string& replacement) {
    const std::size_t before = text_.rfind('\n', begin) + 1;
    const std::size_t behind = std::min(text_.find('\n', end), text_.size());
    const std::string faulty = text_.substr(before, begin - before) + replacement + text_.substr(end, behind - end);
    if (without_blanks(faulty) == without_blanks(text_.substr(before, behind - before))) {
      return;
    }
    mutants_.push_back({kind, without_blanks(text_.substr(before, behind - before)), without_blanks(faulty),
                        place_.at(before).number, place_.at(before).within, begin, end, replacement});
  }
  void replace(const char* kind, std::size_t at, const std::string& replacement) {
    add(kind, words_[at].begin, words_[at].end, replacement);
  }

  void exchange_operators() {
    static const std::map<std::string, std::vector<std::string>> others = {
        {"<", {"<=", ">"}}, {"<=", {"<"}},  {">", {">=", "<"}}, {">=", {">"}},  {"==", {"!="}}, {"!=", {"=="}},
        {"+", {"-"}},       {"-", {"+"}},   {"*", {"+"}},       {"/", {"*"}},   {"%", {"/"}},   {"&", {"|"}},
        {"|", {"&"}},       {"<<", {">>"}}, {">>", {"<<"}},     {"&&", {"||"}}, {"||", {"&&"}}, {"+=", {"-="}},
        {"-=", {"+="}},     {"++", {"--"}}, {"&=", {"|="}},     {"|=", {"&="}}, {"^", {"|"}}};
    for (std::size_t at = 1; at + 1 < words_.size(); ++at) {
      const auto found = others.find(words_[at].text);
      if (found == others.end() || is_bracket_of_types(at)) {
        continue;
      }
      for (const std::string& other : found->second) {
        replace("operator", at, other);
      }
    }
  }

  /// Whether a token is, most likely, part of a type or of a list of template arguments.
  bool is_bracket_of_types(std::size_t at) const {
    const std::string& text = words_[at].text;
    const std::string& before = words_[at - 1].text;
    const std::string& next = words_[at + 1].text;
    if (text == "*" || text == "&" || text == "&&") {
      return type_words.contains(before) || before == ">" || before == "Element" || next == "const" || next == ")" ||
             next == ">" || next == "__restrict__" || before == "auto" || before == "(" || before == "," ||
             before == "=" || before == "return" || before == "[";
    }
    if (text == "<" || text == ">") {
      return before.ends_with("_cast") || before == "template" || type_words.contains(before) ||
             type_words.contains(next) || before == "*" || next == "(" || next == "*" || next == "::" ||
             next == "class" || next == "typename";
    }
    return false;
  }

  void change_constants() {
    for (std::size_t at = 0; at < words_.size(); ++at) {
      const std::string& text = words_[at].text;
      if (words_[at].kind != clang::tok::numeric_constant || text.find('.') != std::string::npos) {
        continue;
      }
      std::size_t digits = 0;
      const bool hexadecimal = text.starts_with("0x");
      unsigned long long value = 0;
      try {
        value = std::stoull(text, &digits, 0);
      } catch (const std::exception&) {
        continue;
      }
      const std::string suffix = text.substr(digits);
      std::set<unsigned long long> others{value + 1, 0, 2 * value};
      if (value > 0) {
        others.insert(value - 1);
      }
      others.erase(value);
      for (const unsigned long long other : others) {
        replace("constant", at, (hexadecimal ? fmt::format("{:#x}", other) : fmt::format("{}", other)) + suffix);
      }
    }
  }

  /// Expressions that are as statements, and those that leave a loop.
  void drop_statements() {
    for (std::size_t at = 1; at < words_.size(); ++at) {
      if (is(at, ";")) {
        continue;
      }
      const std::string& before = words_[at - 1].text;
      const bool begins =
          before == ";" || before == "{" || before == "}" || (before == ")" && follows_condition(at - 1));
      if (!begins || statement_keywords.contains(words_[at].text) || type_words.contains(words_[at].text) ||
          !is_in_function(at)) {
        continue;
      }
      if (const std::optional<std::size_t> end = end_of_statement(at); end && !is_declaration(at, *end)) {
        add("dropped statement", words_[at].begin, words_[*end].end, ";");
      }
    }
  }

  bool follows_condition(std::size_t closing) const {
    const std::size_t opening = pair_[closing];
    return opening > 0 && (is(opening - 1, "if") || is(opening - 1, "for") || is(opening - 1, "while"));
  }

  /// In braces that follow a parameter list, or that are in such.
  bool is_in_function(std::size_t at) const {
    for (std::size_t open = at; open-- > 0;) {
      if (!is(open, "{") || pair_[open] < at) {
        continue;
      }
      if (is(open - 1, ")") || is(open - 1, "const")) {
        return true;
      }
    }
    return false;
  }

  std::optional<std::size_t> end_of_statement(std::size_t at) const {
    for (; at < words_.size(); ++at) {
      const std::string& text = words_[at].text;
      if (text == ";") {
        return at;
      }
      if (text == "{" || text == "}") {
        return std::nullopt;
      }
      if ((text == "(" || text == "[") && pair_[at] > at) {
        at = pair_[at];
      }
    }
    return std::nullopt;
  }

  /// Two names beside each other are a type and a variable.
  bool is_declaration(std::size_t at, std::size_t end) const {
    for (std::size_t next = at + 1; next < end && !is(next, "(") && !is(next, "="); ++next) {
      if (words_[next].kind == clang::tok::raw_identifier &&
          (words_[next - 1].kind == clang::tok::raw_identifier || is(next - 1, ">"))) {
        return true;
      }
    }
    return false;
  }

  void decide_guards() {
    for (std::size_t at = 0; at + 1 < words_.size(); ++at) {
      if (is(at, "if") && is(at + 1, "(") && pair_[at + 1] > at) {
        const std::size_t first = words_[at + 1].end;
        const std::size_t last = words_[pair_[at + 1]].begin;
        const std::string condition = text_.substr(first, last - first);
        add("guard that always holds", first, last, "true || (" + condition + ")");
        add("guard that never holds", first, last, "false && (" + condition + ")");
      }
    }
  }

  void drop_elses() {
    for (std::size_t at = 0; at + 1 < words_.size(); ++at) {
      if (is(at, "else") && is(at + 1, "{") && pair_[at + 1] > at) {
        add("dropped else", words_[at].begin, words_[pair_[at + 1]].end, "");
      }
    }
  }

  void exchange_arguments() {
    for (std::size_t at = 1; at + 1 < words_.size(); ++at) {
      const bool is_call =
          is(at, "(") && pair_[at] > at + 1 && (words_[at - 1].kind == clang::tok::raw_identifier || is(at - 1, ">"));
      if (!is_call || words_[at - 1].text == "if" || words_[at - 1].text == "for" || words_[at - 1].text == "while") {
        continue;
      }
      std::vector<std::pair<std::size_t, std::size_t>> arguments;
      std::size_t first = at + 1;
      for (std::size_t next = at + 1; next <= pair_[at]; ++next) {
        if (is(next, ",") || next == pair_[at]) {
          arguments.emplace_back(words_[first].begin, words_[next - 1].end);
          first = next + 1;
        } else if ((is(next, "(") || is(next, "[") || is(next, "{")) && pair_[next] > next) {
          next = pair_[next];
        }
      }
      for (std::size_t number = 0; number + 1 < arguments.size(); ++number) {
        const auto [a, behind_a] = arguments[number];
        const auto [b, behind_b] = arguments[number + 1];
        const std::string one = text_.substr(a, behind_a - a);
        const std::string other = text_.substr(b, behind_b - b);
        if (one != other) {
          add("exchanged arguments", a, behind_b, other + text_.substr(behind_a, b - behind_a) + one);
        }
      }
    }
  }

  /// A variable, where its scope begins and ends, and its type as it is written without const.
  struct Variable {
    std::string name;
    std::string type;
    std::size_t from;
    std::size_t to;
  };

  std::vector<Variable> variables() const {
    std::vector<Variable> found;
    for (std::size_t at = 1; at + 1 < words_.size(); ++at) {
      const std::string& next = words_[at + 1].text;
      if (words_[at].kind != clang::tok::raw_identifier || type_words.contains(words_[at].text) ||
          !(next == "=" || next == ";" || next == "," || next == ")" || next == "[" || next == "{")) {
        continue;
      }
      std::string type;
      bool names_type = false;
      for (std::size_t word = at; word-- > 0;) {
        const std::string& text = words_[word].text;
        if (text != "const" && text != "__restrict__" && text != "constexpr" && !type_words.contains(text) &&
            text != "*") {
          break;
        }
        names_type = names_type || (type_words.contains(text) && text != "const");
        if (text != "const" && text != "constexpr" && text != "__restrict__") {
          type = text + " " + type;
        }
      }
      if (names_type) {
        found.push_back({words_[at].text, type, at, end_of_scope(at)});
      }
    }
    return found;
  }

  /// Of the block around a declaration; of a parameter that after the parameters.
  std::size_t end_of_scope(std::size_t at) const {
    for (std::size_t open = at; open-- > 0;) {
      if (is(open, "(") && pair_[open] > at) {
        for (std::size_t next = pair_[open]; next < words_.size() && !is(next, ";"); ++next) {
          if (is(next, "{")) {
            return pair_[next];
          }
        }
        return at;
      }
      if (is(open, "{") && pair_[open] > at) {
        return pair_[open];
      }
    }
    return words_.size();
  }

  void exchange_identifiers() {
    const std::vector<Variable> all = variables();
    for (std::size_t at = 1; at + 1 < words_.size(); ++at) {
      if (words_[at].kind != clang::tok::raw_identifier || is(at - 1, ".") || is(at - 1, "->") || is(at + 1, "(")) {
        continue;
      }
      const Variable* meant = nullptr;
      for (const Variable& variable : all) {
        if (variable.name == words_[at].text && variable.from < at && at < variable.to) {
          meant = &variable;
        }
      }
      if (meant == nullptr) {
        continue;
      }
      // The one declared last before it: the likeliest slip.
      const Variable* other = nullptr;
      for (const Variable& variable : all) {
        if (variable.type == meant->type && variable.name != meant->name && is_complete(variable.from, at) &&
            at < variable.to) {
          other = &variable;
        }
      }
      if (other != nullptr) {
        replace("exchanged identifier", at, other->name);
      }
    }
  }

  /// Whether the declaration at `from` has ended before `at`.
  bool is_complete(std::size_t from, std::size_t at) const {
    for (std::size_t next = from; next < at; ++next) {
      if (is(next, ";") || is(next, "{")) {
        return true;
      }
    }
    return false;
  }

  const std::string& text_;
  std::vector<Word> words_;
  std::vector<std::size_t> pair_;
  std::map<std::size_t, Place> place_;  ///< of each line, by where it begins
  std::vector<TextMutant> mutants_;
};

}  // namespace

std::vector<TextMutant> text_mutants(const std::string& text) { return Mutants(text).take(); }

}  // namespace esc::tests

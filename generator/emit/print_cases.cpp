// SPDX-License-Identifier: Apache-2.0
#include "generator/emit/print_cases.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "generator/emit/print_statement.h"
#include "generator/ir/print.h"
#include "generator/ir/rewrite.h"
#include "generator/support/error.h"

namespace esc {
namespace {

std::string plural(std::int64_t count, const std::string& noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

/// The index variables that a block needs from outside; N is a parameter of every function.
std::set<std::string> free_names(const Block& block) {
  std::set<std::string> used;
  std::set<std::string> defined{"N"};
  rewrite(block, {.affine =
                      [&](const Affine& affine) {
                        for (const Affine::Term& term : affine.terms()) {
                          used.insert(term.name);
                        }
                        return affine;
                      },
                  .access =
                      [&](const Access& access) {
                        for (const Subscript& subscript : access.subscripts) {
                          if (!subscript.offset.empty()) {
                            used.insert(subscript.offset);
                          }
                        }
                        return access;
                      },
                  .definition = [&](const std::string& name) { return *defined.insert(name).first; },
                  .around =
                      [&](const Node& node) {
                        defined.insert(std::get<Loop>(node.content).iterator);
                        return node;
                      }});
  std::erase_if(used, [&](const std::string& name) { return defined.contains(name); });
  return used;
}

enum class Passage { row_offsets, sums, loads, adds, other };

Passage passage_of(const Statement& statement) {
  if (const auto* define = std::get_if<Define>(&statement.action)) {
    if (is_index(define->type)) {
      const bool bits = define->value.operation(Operator::lowest_set_bit) != nullptr ||
                        define->value.operation(Operator::clear_lowest_set_bit) != nullptr;
      return bits ? Passage::row_offsets : Passage::other;
    }
    return std::holds_alternative<double>(define->value.content) ? Passage::sums : Passage::loads;
  }
  return std::get<Update>(statement.action).atomic ? Passage::adds : Passage::other;
}

const char* comment_on(Passage passage) {
  switch (passage) {
    case Passage::row_offsets:
      return "The rows of the row tile that the pattern names.";
    case Passage::sums:
      return "What this thread adds up: c<r>_<w> is for row r and column j + 32 * w.";
    case Passage::adds:
      return "Other lists of the row tile add to the same rows of C.";
    case Passage::loads:
    case Passage::other:
      break;
  }
  return "";
}

const char* loop_comment(const Loop& loop) {
  if (loop.role != Role::reduction) {
    return "";
  }
  return loop.step != Affine(1)   ? "Several enumerated columns."
         : loop.lower == Affine() ? "An enumerated column."
                                  : "A column that is left.";
}

/// A comment before each passage of statements.
Block with_notes(const Block& block) {
  Block result;
  Passage last = Passage::other;
  for (const Node& node : block) {
    if (const auto* loop = std::get_if<Loop>(&node.content)) {
      Loop commented = *loop;
      commented.body = with_notes(loop->body);
      if (const std::string comment = loop_comment(*loop); !comment.empty()) {
        commented.body.insert(commented.body.begin(), Node{Note{comment}});
      }
      result.push_back(Node{std::move(commented)});
      last = Passage::other;
      continue;
    }
    const Passage passage = passage_of(std::get<Statement>(node.content));
    if (passage != last) {
      if (const std::string comment = comment_on(passage); !comment.empty()) {
        result.push_back(Node{Note{comment}});
      }
      last = passage;
    }
    result.push_back(node);
  }
  return result;
}

const std::string& section_type(const PackedAccess& packed, const std::string& array) {
  const auto found = std::ranges::find(packed.sections, array, &PackedAccess::Section::array);
  ESC_CHECK(found != packed.sections.end(), "the packed matrix has a section " + array);
  return found->type;
}

bool is_position(const std::string& name) { return name == "first" || name == "values"; }

}  // namespace

CasesText print_cases(const LoopNest& nest, const Switch& choice, const PackedAccess& packed) {
  const char* const element = c_name(nest.element());
  CasesText text;
  text.choice = fmt::format("switch ({}) {{\n", std::get<std::string>(choice.subject));
  for (const Case& one : choice.cases) {
    const auto* pattern = std::get_if<Pattern>(&one.label);
    const std::int64_t rows = pattern != nullptr ? pattern->popcount() : std::get<std::int64_t>(one.label);
    const std::string label = pattern != nullptr ? print(*pattern) : fmt::format("{}", rows);
    const std::string function = pattern != nullptr ? "multiply_pattern_" + label.substr(2)
                                                    : fmt::format("multiply_{}_row{}", rows, rows == 1 ? "" : "s");
    std::string parameters;
    std::string arguments;
    for (const std::string& name : free_names(one.body)) {
      parameters += fmt::format(", {} {}", is_position(name) ? packed.offset_type : "int", name);
      arguments += ", " + name;
    }
    text.functions += fmt::format(
        "// Lists with {}{}: every loaded element of B feeds {}.\n"
        "__device__ __forceinline__ void {}(const {}* __restrict__ Cols, const {}* __restrict__ ANNZ, "
        "const {}* __restrict__ B, long long ldb, {}* __restrict__ C, long long ldc, unsigned int N{}) {{\n{}}}\n\n",
        pattern != nullptr ? "pattern " + label + ", " : "", plural(rows, "non-zero row"), plural(rows, "multiply-add"),
        function, section_type(packed, "Cols"), element, element, element, parameters,
        StatementPrinter(nest).print(with_notes(one.body)));
    text.choice += fmt::format("case {}: {}(Cols, ANNZ, B, ldb, C, ldc, N{}); break;\n", label, function, arguments);
  }
  text.choice += "default: break;\n}\n";
  return text;
}

}  // namespace esc

#include "generator/ir/print_function.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "generator/ir/print.h"
#include "generator/support/error.h"

namespace esc {
namespace {

/// The names that the extents are made of, each once.
std::vector<std::string> size_names(const LoopNest& nest) {
  std::vector<std::string> names;
  for (const ArrayDeclaration& array : nest.arrays) {
    for (const Affine& extent : array.extents) {
      for (const Affine::Term& term : extent.terms()) {
        if (std::ranges::find(names, term.name) == names.end()) {
          names.push_back(term.name);
        }
      }
    }
  }
  return names;
}

std::string parameter(const ArrayDeclaration& array) {
  std::string extents;
  for (const Affine& extent : array.extents) {
    extents += fmt::format("[{}]", print(extent));
  }
  return fmt::format("{}{} {}{}", array.role == ArrayRole::output ? "" : "const ", c_name(array.type), array.name, extents);
}

std::string body(const Block& block, int level) {
  std::string text;
  for (const Node& node : block) {
    const auto* loop = std::get_if<Loop>(&node.content);
    if (loop == nullptr) {
      text += print(Block{node}, level);
      continue;
    }
    ESC_CHECK(loop->step == 1 && !is_mapped(loop->mapping), "the loops of an input nest are plain");
    text += fmt::format("{:{}}for (int {} = {}; {} < {}; {}++)\n{}", "", 2 * level, loop->iterator, print(loop->lower),
                        loop->iterator, print(loop->upper), loop->iterator, body(loop->body, level + 1));
  }
  return text;
}

}  // namespace

std::string print_function(const LoopNest& nest) {
  std::vector<std::string> parameters;
  for (const std::string& size : size_names(nest)) {
    parameters.push_back("int " + size);
  }
  for (const ArrayDeclaration& array : nest.arrays) {
    parameters.push_back(parameter(array));
  }
  return fmt::format("void product({}) {{\n{}}}\n", fmt::join(parameters, ", "), body(nest.body, 1));
}

}  // namespace esc

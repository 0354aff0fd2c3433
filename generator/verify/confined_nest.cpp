// SPDX-License-Identifier: Apache-2.0
#include "generator/verify/confined_nest.h"

#include <fmt/format.h>

#include <algorithm>

#include "generator/confine/confined_process.h"
#include "generator/ir/print_function.h"
#include "generator/support/error.h"

namespace esc {
namespace {

constexpr Allowance allowance{
    .time = std::chrono::milliseconds(20'000), .memory = std::uint64_t{512} << 20, .reads_files = true};
constexpr std::size_t most_text = 64 << 10;
constexpr int most_depth = 64;

/// Whether the text is as `print_function` writes one: short, without directives, and not deep.
bool is_plain(const std::string& text) {
  int depth = 0;
  int deepest = 0;
  for (const char c : text) {
    depth += c == '(' || c == '[' || c == '{' ? 1 : c == ')' || c == ']' || c == '}' ? -1 : 0;
    deepest = std::max(deepest, depth);
  }
  const bool printed = std::all_of(text.begin(), text.end(), [](char c) {
    return c == '\n' || (c >= 0x20 && c < 0x7f && c != '#' && c != '\\' && c != '%');
  });
  const bool has_trigraphs = text.find("??") != std::string::npos;
  return printed && !has_trigraphs && text.size() <= most_text && deepest <= most_depth;
}

/// The nest, as the process that reads the text prints it.
std::string print_in_confinement(const std::string& text, const std::string& file_name, NestHeaders headers,
                                 const GivenSizes& sizes) {
  const auto parse = [text, file_name, headers, sizes](const Channel& channel) {
    channel.send({0, {}, {print_function(parse_loop_nest(text, file_name, headers, sizes))}});
  };
  ConfinedProcess process(allowance, parse, 2 * text.size());
  const Message answer = process.answer();
  if (answer.texts.size() != 1 || !is_plain(answer.texts.front())) {
    throw ConfinedEnd("is read as something that is no nest");
  }
  return answer.texts.front();
}

}  // namespace

LoopNest read_confined_nest(const std::string& text, const std::string& file_name, NestHeaders headers,
                            const GivenSizes& sizes) {
  try {
    const std::string printed = print_in_confinement(text, file_name, headers, sizes);
    LoopNest nest = parse_loop_nest(printed, "nest.c", NestHeaders::of_system);
    if (print_function(nest) != printed) {
      throw ConfinedEnd("is read as something that is no nest");
    }
    return nest;
  } catch (const ConfinedEnd& end) {
    throw UserError(file_name, fmt::format("the loop nest cannot be read: its text {}", end.what()),
                    "write the nest without macros, deep brackets and large headers");
  }
}

}  // namespace esc

// SPDX-License-Identifier: Apache-2.0
#include "generator/commands/nest_line.h"

#include <fmt/ranges.h>

#include "generator/commands/epilogue_nest.h"
#include "generator/commands/sizes.h"
#include "generator/matrix/typed_elements.h"

namespace esc {

void add_nest_options(CLI::App& command, NestLine& line, CLI::Option* spec) {
  CLI::Option* const kernel =
      command.add_option("--kernel", line.file, "C file with the input loop nest (default: the shipped SpMM)")
          ->type_name("FILE");
  CLI::Option* const epilogue =
      command
          .add_option("--epilogue", line.epilogue,
                      "What becomes of each sum before it is stored, as in bias+relu: " + epilogue_names())
          ->type_name("PART+...")
          ->excludes(kernel);
  CLI::Option* const size =
      command
          .add_option("--size", line.sizes,
                      "Integer parameters of the loop nest that have this number in every call (repeatable)")
          ->type_name("NAME=VALUE,...")
          ->allow_extra_args(false);
  command.add_option("--layout", line.layout, layout_help)->type_name("kn|nk");
  if (spec != nullptr) {
    for (CLI::Option* const option : {kernel, epilogue, size}) {
      option->excludes(spec);
    }
  }
}

CLI::Option* add_element_option(CLI::App& command, std::optional<std::string>& dtype, const std::string& help) {
  const std::string of_nest =
      "Element type, " + kernel_element_words() + " (default: the loop nest's, f32 for the shipped one)";
  return command.add_option("--dtype", dtype, help.empty() ? of_nest : help)
      ->type_name(fmt::format("{}", fmt::join(kernel_element_names(), "|")));
}

NestSource nest_source(const NestLine& line) {
  NestSource source{.file = line.file, .epilogue = line.epilogue};
  source.sizes.named = parse_sizes(line.sizes);
  if (line.layout) {
    source.layout = parse_layout(*line.layout);
  }
  return source;
}

}  // namespace esc

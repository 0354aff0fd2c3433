// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "generator/commands/commands.h"
#include "generator/commands/spec_form.h"

namespace esc {

void add_spec_command(CLI::App& program, const CommonOptions& /*common*/, Action& action) {
  CLI::App* command = add_command(program, "spec", "Print what a spec, the JSON file of generate --spec, may say",
                                  "escgen spec --schema > esc-spec.schema.json");
  command->add_flag("--schema")
      ->description("Print the JSON schema (draft 2020-12) of specs of layers and of models")
      ->required();
  command->callback([&action] {
    action = [] {
      fmt::print("{}\n", spec_schema().dump(2));
      return ExitStatus::done;
    };
  });
}

}  // namespace esc

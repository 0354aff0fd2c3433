// SPDX-License-Identifier: Apache-2.0
#include "generator/commands/describe_commands.h"

#include "generator/commands/completion.h"
#include "generator/commands/man_page.h"
#include "generator/commands/option_words.h"
#include "generator/emit/layer.h"

namespace esc {

void add_describing_commands(CLI::App& program, const CommonOptions& common, Action& action) {
  const CLI::App* const whole = &program;
  CLI::App* const completion =
      add_command(program, "completion", "Print what bash or zsh needs to complete command lines",
                  "source <(" + common.program + " completion bash)");
  const auto shell = std::make_shared<std::string>();
  completion->add_option("SHELL", *shell, "bash or zsh")->required()->check(one_of({"bash", "zsh"}));
  completion->callback([=, &action] {
    action = [=] {
      fmt::print("{}", *shell == "bash" ? bash_completion(*whole) : zsh_completion(*whole));
      return ExitStatus::done;
    };
  });
  CLI::App* const man = add_command(program, "man", "Print the page for man(1)", common.program + " man");
  man->group("");
  man->callback([=, &action] {
    action = [=] {
      fmt::print("{}", man_page(*whole, tool_version));
      return ExitStatus::done;
    };
  });
}

}  // namespace esc

// SPDX-License-Identifier: Apache-2.0
#include "generator/commands/commands.h"
#include "generator/confine/process_helper.h"
#include "generator/frontend/clang_folder.h"
#include "generator/frontend/llvm_failures.h"

int main(int argc, char** argv) {
  esc::take_llvm_failures();
  return esc::run_program(argc, argv,
                          {.name = "escgen",
                           .description = "escgen turns a pruned weight matrix into a CUDA SpMM kernel made for it.",
                           .llvm = ESC_LLVM_VERSION,
                           .commands = {esc::add_generate_command, esc::add_verify_command, esc::add_pack_command,
                                        esc::add_report_command, esc::add_inspect_command, esc::add_lower_command,
                                        esc::add_nest_command, esc::add_sample_command, esc::add_spec_command},
                           // A confined process may not look for the compiler's folder itself.
                           .begin = [] { esc::start_process_helper([] { esc::frontend::clang_folder(); }); },
                           .renamed = {{"inspect", "--ufi", "--tile-rows"}}});
}

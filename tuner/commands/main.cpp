// SPDX-License-Identifier: Apache-2.0
#include "tuner/commands/commands.h"

int main(int argc, char** argv) {
  return esc::run_program(argc, argv,
                          {.name = "esctune",
                           .description = "esctune measures schedules on a GPU and keeps the fastest for escgen.",
                           .commands = {esc::add_run_command, esc::add_layer_command, esc::add_calibrate_command,
                                        esc::add_merge_command, esc::add_show_command, esc::add_report_command,
                                        esc::add_publish_command, esc::add_regret_command, esc::add_devices_command},
                           .renamed = {{"run", "--no-peers", "--no-libraries"},
                                       {"layer", "--no-peers", "--no-libraries"},
                                       {"report", "--night", "--earlier"}}});
}

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "generator/commands/command.h"

namespace esc {

// The commands of esctune.
void add_run_command(CLI::App& program, const CommonOptions& common, Action& action);
void add_devices_command(CLI::App& program, const CommonOptions& common, Action& action);
void add_layer_command(CLI::App& program, const CommonOptions& common, Action& action);
void add_calibrate_command(CLI::App& program, const CommonOptions& common, Action& action);
void add_merge_command(CLI::App& program, const CommonOptions& common, Action& action);
void add_show_command(CLI::App& program, const CommonOptions& common, Action& action);
void add_report_command(CLI::App& program, const CommonOptions& common, Action& action);
void add_publish_command(CLI::App& program, const CommonOptions& common, Action& action);
void add_regret_command(CLI::App& program, const CommonOptions& common, Action& action);

}  // namespace esc

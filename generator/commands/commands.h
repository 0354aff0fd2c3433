// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "generator/commands/command.h"

namespace esc {

// The commands of escgen.
void add_generate_command(CLI::App& program, const CommonOptions& common, Action& action);
void add_lower_command(CLI::App& program, const CommonOptions& common, Action& action);
void add_nest_command(CLI::App& program, const CommonOptions& common, Action& action);
void add_inspect_command(CLI::App& program, const CommonOptions& common, Action& action);
void add_verify_command(CLI::App& program, const CommonOptions& common, Action& action);
void add_pack_command(CLI::App& program, const CommonOptions& common, Action& action);
void add_report_command(CLI::App& program, const CommonOptions& common, Action& action);
void add_sample_command(CLI::App& program, const CommonOptions& common, Action& action);
void add_spec_command(CLI::App& program, const CommonOptions& common, Action& action);

}  // namespace esc

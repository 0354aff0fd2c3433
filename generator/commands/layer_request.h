#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "generator/commands/console.h"
#include "generator/emit/generate.h"
#include "generator/matrix/read_options.h"
#include "generator/schedule/schedule_database.h"
#include "generator/schedule/target.h"
#include "generator/support/error.h"

namespace esc {

/// What is to be generated: one matrix for one bCol. The command line gives one, a spec file many.
struct LayerRequest {
  std::string matrix;
  std::int64_t bcol = 0;
  std::string name;
  std::string schedule = "auto";
  std::string kernel;  ///< empty: the shipped SpMM
  std::vector<int> architectures;
  std::optional<TargetDevice> device;  ///< whose schedules auto takes; absent: those of the shipped database
  ReadOptions read;
  std::optional<double> min_sparsity;
};

/// How, for all layers of a command.
struct GenerateMode {
  std::string output;
  bool compaction = true;
  bool verify = true;
  bool resources = false;
  bool force = false;
  bool check = false;
  bool dry_run = false;
  bool json = false;
  std::shared_ptr<const ScheduleDatabase> database;  ///< that auto looks into; null: a shipped one
};

/// Generates, checks or only describes one layer, as the mode says. Results go to standard output.
ExitStatus process_layer(const LayerRequest& request, const GenerateMode& mode, const Console& console);

/// The layers of a spec file: {"layers": [{"matrix": FILE, "bcol": N or [N, ...], "name": .., "schedule": .., "kernel":
/// .., "seed": .., "gpu": .. or "arch": ..}, ...]}. Relative files are looked for beside the spec. With several bCols,
/// _nN is appended to the name. Throws UserError, with the place in the file, for anything else and when two layers
/// have the same name.
std::vector<LayerRequest> read_spec(const std::string& file);

}  // namespace esc

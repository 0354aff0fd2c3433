// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "generator/commands/console.h"
#include "generator/commands/nest_source.h"
#include "generator/commands/packed_limit.h"
#include "generator/emit/generate.h"
#include "generator/matrix/read_options.h"
#include "generator/schedule/database_files.h"
#include "generator/schedule/target.h"
#include "generator/support/error.h"
#include "generator/support/stage_progress.h"

namespace esc {

class QuickTuner;

/// What is to be generated: one matrix for one bCol. The command line gives one, a spec file many.
struct LayerRequest {
  std::string matrix;
  std::int64_t bcol = 0;
  std::string name;
  std::string schedule = "auto";  ///< "auto", "published", or the text of one
  std::string form = {};          ///< that auto packs the matrix in (packed_form); empty: any
  /// What was measured of the layer, or of another one of its kind: auto takes the fastest that the matrix allows.
  std::shared_ptr<const TuningRecord> tuning = {};
  NestSource nest;
  /// What it is built for; none: the default architectures. Of several, auto takes the first one's schedule.
  std::vector<TargetDevice> devices;
  std::optional<ScalarType> element;  ///< none: what the loop nest has
  ReadOptions read;
  std::optional<double> min_sparsity;
};

/// The architectures that it is built for.
std::vector<int> architectures_for(const LayerRequest& request);

/// The device that auto chooses for: the first one that is named, or the one that was measured on.
TargetDevice wanted_device(const LayerRequest& request);
/// What the kernel may count on.
KernelTarget target_of(const LayerRequest& request);

/// How, for all layers of a command.
struct GenerateMode {
  std::string output;
  std::optional<PackedLimit> max_packed;
  bool compaction = true;
  bool verify = true;
  bool resources = false;
  bool force = false;
  bool check = false;
  bool dry_run = false;
  bool json = false;
  /// What the user has measured, which auto lays over what this program knows: of databases the nearest device's.
  UserMeasurements own;
  /// Measures what auto would take first; null: nothing is measured.
  std::shared_ptr<const QuickTuner> tuner = {};

  /// Whether a bundle that is there must be the very one that is made, for it is not replaced.
  bool keeps_bundles() const { return !force && !check && !dry_run; }
};

/// Whether what auto would take first for the layer is measured.
inline bool is_tuned(const LayerRequest& request, const GenerateMode& mode) {
  return mode.tuner && request.schedule == "auto";
}

/// The first schedules that auto may choose, at most so many: those that the matrix allows and that pack it within the
/// bytes that auto allows; where there is none, what auto falls back to. What is found out on the way is kept in
/// `fragments`, for the layer's kernels. Throws UserError where there is none within --max-packed.
std::vector<Schedule> first_usable_schedules(const LayerRequest& request, const GenerateMode& mode,
                                             const LoopNest& nest, const SparseMatrix& matrix,
                                             std::shared_ptr<PackingCache> fragments, std::size_t most);

/// The layer as its schedule makes it: the one that is asked for, or the one that `auto` finds and the matrix allows.
/// What the user should know of the choice is in its notes; that devices share it is said at once as well. What is
/// found out on the way to the matrix as fragments is kept in `fragments`, for its other kernels. Throws UserError.
GeneratedLayer make_layer(const LayerRequest& request, const GenerateMode& mode, const LoopNest& nest,
                          const SparseMatrix& matrix, std::shared_ptr<PackingCache> fragments, const Console& console);

/// What auto would choose for a layer, found without packing it.
struct PlannedLayer {
  ScheduleChoice choice;
  double bytes = 0;  ///< of the packed matrix, about: as those of some of its rows are
};

/// Rows of a layer, at most, whose packed bytes are planned to tell those of all.
inline constexpr std::int64_t planned_rows = 512;

/// Plans a layer of a product whose sizes follow from the matrix. What is found out about its rows on the way is kept
/// in `fragments`, for its other kernels. Throws UserError as make_layer does.
PlannedLayer plan_layer(const LayerRequest& request, const GenerateMode& mode, const LoopNest& nest,
                        const SparseMatrix& matrix, std::shared_ptr<PackingCache> fragments);

/// The matrix of a layer in the type of its nest, and what became of values that the type does not hold.
struct StoredMatrix {
  SparseMatrix matrix;
  Rounding rounding;
};

/// Reads it. Throws UserError as the readers do, and for values that the type holds as infinities alone.
StoredMatrix read_stored_matrix(const LayerRequest& request, const LoopNest& nest, const Console& console,
                                StageProgress& progress);

/// Generates, checks or only describes one layer, as the mode says. Results go to standard output.
ExitStatus process_layer(const LayerRequest& request, const GenerateMode& mode, const Console& console);

/// The layers of a spec's text: {"layers": [{"matrix": FILE, "bcol": N or [N, ...], "name": .., "schedule": ..,
/// "kernel": .. or "epilogue": .., "layout": .., "sizes": {NAME: VALUE, ..}, "dtype": .., "seed": .., "gpu": .. or
/// "arch": ..}, ...]}. Relative files are looked for beside the spec. With several bCols, _nN is appended to the name.
/// GPUs are those of `devices`. Throws UserError, with the place in the file, for anything else and when two layers
/// have the same name.
std::vector<LayerRequest> parse_spec(const std::string& text, const std::string& file,
                                     const KnownDevices& devices = shipped_devices());

/// The same of the file.
std::vector<LayerRequest> read_spec(const std::string& file);

}  // namespace esc

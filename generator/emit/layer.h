// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "generator/emit/tuning_record.h"
#include "generator/ir/loop_nest.h"
#include "generator/matrix/fingerprint.h"
#include "generator/matrix/round_values.h"
#include "generator/matrix/statistics.h"
#include "generator/schedule/scheduler.h"
#include "transformer/packed.h"
#include "transformer/pattern_check.h"

namespace esc {

/// Everything that the text of a bundle depends on: one layer, one bCol, one schedule. Immutable once made.
struct Layer {
  std::string name;                ///< a C identifier; prefix of every symbol and file
  std::string source_file;         ///< base name of the matrix file, for the reader
  std::int64_t bcol = 0;           ///< columns of B that the kernel is made for
  std::vector<int> architectures;  ///< CUDA architectures, 80 for sm_80, ascending
  ScheduleChoice choice;
  LoopNest input;    ///< the nest as the front end read it
  LoopNest lowered;  ///< its final form for this layer
  MatrixStatistics statistics;
  Rounding rounding = {};  ///< of its values, where they were read in a wider type
  Fingerprint fingerprint;
  transformer::PackedFormat format;
  Environment sizes;  ///< of the matrix and its packed form, by the names that nests have for them
  std::vector<transformer::PatternDigest> digests;
  std::optional<TuningRecord> tuning = {};  ///< by which the schedule was chosen; absent where nothing was measured
};

/// Whether the nest needs a kernel for a matrix of so many non-zeros: without any, and without an epilogue, C is zero.
inline bool needs_kernel(const LoopNest& nest, std::int64_t nonzeros) {
  return nonzeros > 0 || nest.epilogue.has_value();
}
inline bool has_kernel(const Layer& layer) { return needs_kernel(layer.input, layer.statistics.nonzeros); }
/// Whether the layer's kernels can write the dense matrix from the packed one, and values the other way: NAME_unpack
/// and NAME_values are there.
inline bool can_unpack(const Layer& layer) { return has_kernel(layer) && !layer.lowered.unpacking.empty(); }

/// Whether the layer's kernel reads packed matrices of other patterns than its own, too.
bool takes_any_pattern(const Layer& layer);

/// Bytes of the packed matrix.
std::uint64_t packed_bytes(const Layer& layer);

/// The lines of every generated file that grant its use, each beginning with `prefix`.
std::string grant(const std::string& prefix);

/// The head of every generated file: what made it from what, and the grant of its use, in lines that each begin with
/// `prefix`.
std::string provenance(const Layer& layer, const std::string& prefix);

/// Version of the generator; part of every bundle.
extern const char* const tool_version;

}  // namespace esc

#pragma once

#include <cstdint>
#include <vector>

#include "transformer/aligned_bytes.h"
#include "transformer/matrix_view.h"
#include "transformer/pattern_check.h"
#include "transformer/task_format.h"

namespace esc::transformer {

/// How rows are cut into tasks; the fields are those of TaskShape.
struct TaskOptions {
  std::uint32_t longest = 128;    ///< a power of two, 1 to 512
  std::uint32_t light = 16;       ///< a power of two, 1 to `longest`
  std::uint32_t block_heavy = 1;  ///< 1 to 1024
  std::uint32_t block_light = 1;  ///< 1 to 1024
};

/// A matrix packed into tasks: its description and the bytes, header included, that are the packed file and the device
/// buffer.
struct PackedTasks {
  TaskFormat format;
  AlignedBytes bytes;
};

/// The format that `pack_tasks` would give the matrix, without packing it.
TaskFormat plan_tasks(const CsrView& matrix, const TaskOptions& options);

/// Packs a matrix. Runs on all threads that oneTBB gives; the bytes are the same for any number of them and for either
/// form of the matrix. Throws std::invalid_argument for a view that breaks its rules and for options out of range.
PackedTasks pack_tasks(const DenseView& matrix, const TaskOptions& options);
PackedTasks pack_tasks(const CsrView& matrix, const TaskOptions& options);

/// The digests by which a generated transformer knows the pattern of this matrix again.
std::vector<PatternDigest> pattern_digests(const CsrView& matrix, const TaskShape& shape);

}  // namespace esc::transformer

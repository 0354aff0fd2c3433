// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "generator/matrix/byte_source.h"
#include "generator/matrix/read_options.h"
#include "generator/matrix/sparse_matrix.h"
#include "generator/support/stage_progress.h"

namespace esc {

/// Reads the matrix in a file; the format is chosen by the ending: .smtx, .mtx or .npy, in upper or lower case.
/// Throws UserError with the line or the byte when the file is not what its ending says. Each pass over the file is a
/// stage of `progress`, its steps bytes.
SparseMatrix read_matrix(const std::filesystem::path& path, const ReadOptions& options = {},
                         StageProgress& progress = StageProgress::silent());

/// The extents of the array in the file, where it is one of three to five dimensions, which `read_matrix` reads as a
/// matrix of two (npy_reader.h); else none. Throws as `read_matrix` does.
std::vector<std::int64_t> read_weight_shape(const std::filesystem::path& path);

/// Whether the path ends as those of matrices do.
bool has_matrix_ending(const std::filesystem::path& path);

/// The endings that `read_matrix` and `write_matrix` know, as a phrase for messages.
inline constexpr const char* supported_endings = ".smtx, .mtx or .npy";

/// The ending of `path` in lower case, such as ".mtx".
std::string lower_case_ending(const std::filesystem::path& path);

}  // namespace esc

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "generator/emit/bundle.h"
#include "generator/emit/layer.h"
#include "generator/emit/manifest.h"
#include "generator/emit/packing_cache.h"
#include "generator/matrix/sparse_matrix.h"

namespace esc {

/// What a bundle is made of, beside the matrix.
struct GenerateOptions {
  std::string name;         ///< a C identifier
  std::string source_file;  ///< base name of the matrix file
  std::int64_t bcol = 0;
  std::vector<int> architectures;
  ScheduleChoice choice;
  /// Longest list of family atomic: bounds how many products one float32 sum runs over, so that a row of 4,608
  /// non-zeros stays within a relative error of 1e-6, and how much work one block can get.
  std::uint32_t max_list_columns = 1024;
  /// Most columns of a row tile that one lane group of family panel adds up, for the same reason.
  std::uint32_t max_group_columns = PanelSchedule::max_group_columns;
  /// Most tasks of a row of family rows, which are added to C one after the other, for the same reason. Tasks of 8
  /// non-zeros and more need no bound: the tolerance grows with the length of the row faster than the error with their
  /// number.
  std::uint32_t max_row_tasks = 1024;
  /// Where fragments of the matrix are kept for further kernels of it; null: nowhere.
  std::shared_ptr<PackingCache> fragments = nullptr;
};

/// A layer that is ready to be written: its description and the bytes of the packed matrix, aligned to 256.
struct GeneratedLayer {
  Layer layer;
  std::shared_ptr<const std::byte[]> packed;

  std::span<const std::byte> bytes() const { return {packed.get(), static_cast<std::size_t>(packed_bytes(layer))}; }
};

/// A schedule that is legal for bCol but not for this matrix: its rows are too uneven or too long, or it is not 2:4.
class UnsuitableSchedule : public ScheduleError {
 public:
  using ScheduleError::ScheduleError;
};

/// Brings generated C++ or CUDA text into its final form; the argument is the file's name, the text.
using Formatter = std::function<std::string(const std::string& file, const std::string& text)>;

/// The bytes that the matrix would take as `generate_layer` packs it, without packing it. Throws
/// UserError when the schedule is illegal for bCol, UnsuitableSchedule as that does.
std::uint64_t planned_bytes(const SparseMatrix& matrix, const LoopNest& nest, const GenerateOptions& options);

/// Columns of C of a product with `bcol` items: the columns themselves, or those of so many images.
ProductColumns product_columns(const LoopNest& nest, std::int64_t bcol);

/// Lowers the nest for the matrix and packs it. A pure function of its arguments, safe to run in parallel.
/// Throws UserError when the schedule is illegal for bCol, when the nest's constant sizes are not the matrix's, or when
/// the matrix needs more blocks than a grid can have; UnsuitableSchedule when family panel is illegal for the matrix
/// (staged regions that do not fit into shared memory, sums over too many columns, rows too uneven for regions of one
/// size), or family rows (rows of too many tasks).
GeneratedLayer generate_layer(const SparseMatrix& matrix, const LoopNest& nest, const GenerateOptions& options);

/// The files of the bundle, its manifest without measurements. `format` is applied to every C, C++ and CUDA text.
KernelBundle make_bundle(const GeneratedLayer& generated, const Formatter& format);

/// The bundle with this text as its manifest.
KernelBundle with_manifest(KernelBundle bundle, std::string manifest);

}  // namespace esc

#include "transformer/task_pack.h"

#include <fmt/format.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <bit>
#include <stdexcept>

#include "transformer/digests.h"
#include "transformer/task_packing.h"
#include "transformer/view_sources.h"

namespace esc::transformer {
namespace {

constexpr std::int64_t chunk_rows = 1024;  ///< rows that one thread takes at a time

void require(bool holds, const char* rule) {
  if (!holds) {
    throw std::invalid_argument(fmt::format("tasks cannot be cut so: {}", rule));
  }
}

template <typename View>
TaskShape checked_shape(const View& matrix, const TaskOptions& options) {
  check(matrix);
  require(std::has_single_bit(options.longest) && options.longest <= max_task,
          "the longest task is a power of two, at most 512");
  require(std::has_single_bit(options.light) && options.light <= options.longest,
          "the longest light task is a power of two, at most the longest task");
  require(options.block_heavy >= 1 && options.block_heavy <= max_block_tasks && options.block_light >= 1 &&
              options.block_light <= max_block_tasks,
          "a block has 1 to 1024 tasks");
  return {matrix.rows,         matrix.columns,      options.longest, options.light,
          options.block_heavy, options.block_light, matrix.element};
}

std::int64_t chunks_of(const TaskShape& shape) { return (shape.rows + chunk_rows - 1) / chunk_rows; }

/// Calls visit(row) for the rows of a chunk.
template <typename Visit>
void for_rows(const TaskShape& shape, std::int64_t chunk, const Visit& visit) {
  const std::int64_t behind = std::min(shape.rows, (chunk + 1) * chunk_rows);
  for (std::int64_t row = chunk * chunk_rows; row < behind; ++row) {
    visit(row);
  }
}

/// The classes of each chunk of rows.
template <typename Source>
std::vector<TaskClasses> count(const Source& source, const TaskShape& shape) {
  std::vector<TaskClasses> chunks(static_cast<std::size_t>(chunks_of(shape)));
  tbb::parallel_for(std::int64_t{0}, chunks_of(shape), [&](std::int64_t chunk) {
    for_rows(shape, chunk,
             [&](std::int64_t row) { chunks[static_cast<std::size_t>(chunk)].add_row(count_row(source, row), shape); });
  });
  return chunks;
}

TaskClasses sum(const std::vector<TaskClasses>& chunks) {
  TaskClasses all;
  for (const TaskClasses& chunk : chunks) {
    all.add(chunk);
  }
  return all;
}

template <typename Source>
PackedTasks pack_source(const Source& source, const TaskShape& shape) {
  const std::vector<TaskClasses> chunks = count(source, shape);
  const TaskClasses all = sum(chunks);
  std::vector<TaskPlaces> places{TaskPlaces::first(all)};
  for (const TaskClasses& chunk : chunks) {
    places.push_back(places.back().behind(chunk));
  }
  const TaskFormat format = describe(shape, all.counts(shape));
  PackedTasks packed{format, AlignedBytes(static_cast<std::size_t>(format.bytes))};
  auto* const bytes = reinterpret_cast<unsigned char*>(packed.bytes.data());
  tbb::parallel_for(std::int64_t{0}, chunks_of(shape), [&](std::int64_t chunk) {
    TaskPlaces& next = places[static_cast<std::size_t>(chunk)];
    for_rows(shape, chunk,
             [&](std::int64_t row) { fill_row(source, format, row, count_row(source, row), next, bytes); });
  });
  seal(format, bytes);
  return packed;
}

template <typename View>
PackedTasks pack_view(const View& matrix, const TaskOptions& options) {
  const TaskShape shape = checked_shape(matrix, options);
  return with_source(matrix, [&](const auto& source) { return pack_source(source, shape); });
}

}  // namespace

TaskFormat plan_tasks(const CsrView& matrix, const TaskOptions& options) {
  const TaskShape shape = checked_shape(matrix, options);
  return describe(shape, sum(count(rows_of(matrix), shape)).counts(shape));
}

PackedTasks pack_tasks(const DenseView& matrix, const TaskOptions& options) { return pack_view(matrix, options); }
PackedTasks pack_tasks(const CsrView& matrix, const TaskOptions& options) { return pack_view(matrix, options); }

std::vector<PatternDigest> pattern_digests(const CsrView& matrix, const TaskShape& shape) {
  return digest_all(rows_of(matrix), shape);
}

}  // namespace esc::transformer

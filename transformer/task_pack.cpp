// SPDX-License-Identifier: Apache-2.0
#include <tbb/parallel_for.h>

#include <algorithm>

#include "transformer/checked_shape.h"
#include "transformer/pack.h"
#include "transformer/task_packing.h"
#include "transformer/view_sources.h"

namespace esc::transformer {
namespace {

constexpr std::int64_t chunk_rows = 1024;  ///< rows that one thread takes at a time

std::int64_t chunks_of(const TaskShape& shape) { return (shape.rows + chunk_rows - 1) / chunk_rows; }

/// Calls visit(row) for the rows of a chunk.
template <typename Visit>
void for_rows(const TaskShape& shape, std::int64_t chunk, const Visit& visit) {
  const std::int64_t end = std::min(shape.rows, (chunk + 1) * chunk_rows);
  for (std::int64_t row = chunk * chunk_rows; row < end; ++row) {
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
Packed<TaskFormat> pack_source(const Source& source, const TaskShape& shape) {
  const std::vector<TaskClasses> chunks = count(source, shape);
  const TaskClasses all = sum(chunks);
  std::vector<TaskPlaces> places{TaskPlaces::first(all)};
  for (const TaskClasses& chunk : chunks) {
    places.push_back(places.back().end(chunk));
  }
  Packed<TaskFormat> packed(describe(shape, all.counts(shape)));
  auto* const bytes = reinterpret_cast<unsigned char*>(packed.bytes.data());
  tbb::parallel_for(std::int64_t{0}, chunks_of(shape), [&](std::int64_t chunk) {
    TaskPlaces& next = places[static_cast<std::size_t>(chunk)];
    for_rows(shape, chunk,
             [&](std::int64_t row) { fill_row(source, packed.format, row, count_row(source, row), next, bytes); });
  });
  seal(packed.format, bytes);
  return packed;
}

}  // namespace

TaskFormat plan(const CsrView& matrix, const TaskCut& cut) {
  const TaskShape shape = checked_shape(matrix, cut);
  return describe(shape, sum(count(rows_of(matrix), shape)).counts(shape));
}

Packed<TaskFormat> pack(const CsrView& matrix, const TaskCut& cut) {
  const TaskShape shape = checked_shape(matrix, cut);
  return with_source(matrix, [&](const auto& source) { return pack_source(source, shape); });
}

}  // namespace esc::transformer

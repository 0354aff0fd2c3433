// SPDX-License-Identifier: Apache-2.0
#pragma once

// Packing into tasks, one row at a time. As in packed_bytes.h, the text between the markers is part of the generated
// transformers of kernels that read tasks.

#include "transformer/row_tile_sources.h"
#include "transformer/task_format.h"

namespace esc::transformer {
// [packing text begins]

// ---------------------------------------------------------------------------------------------------------------------
// Packing into tasks. A first pass over the rows counts the tasks and the non-zeros of each class, which says where the
// classes begin; a second one writes each row's tasks at the next places of their classes. That sorts them without
// room for a list of them.
// ---------------------------------------------------------------------------------------------------------------------

/// The class of a task with this many non-zeros.
constexpr uint32_t class_of(uint64_t length) {
  uint32_t number = 0;
  for (; (static_cast<uint64_t>(1) << number) < length; ++number) {
  }
  return number;
}

/// How much there is in each class of some rows.
struct TaskClasses {
  uint64_t tasks[task_classes] = {};
  uint64_t nonzeros[task_classes] = {};
  uint64_t split_rows = 0;

  constexpr void add(uint64_t count, uint64_t length) {
    tasks[class_of(length)] += count;
    nonzeros[class_of(length)] += count * length;
  }
  constexpr void add_row(uint64_t length, const TaskShape& shape) {
    if (length <= shape.longest) {
      add(1, length);
      return;
    }
    add(length / shape.longest, shape.longest);
    if (length % shape.longest != 0) {
      add(1, length % shape.longest);
    }
    ++split_rows;
  }
  constexpr void add(const TaskClasses& other) {
    for (uint32_t number = 0; number < task_classes; ++number) {
      tasks[number] += other.tasks[number];
      nonzeros[number] += other.nonzeros[number];
    }
    split_rows += other.split_rows;
  }
  constexpr TaskCounts counts(const TaskShape& shape) const {
    TaskCounts all;
    for (uint32_t number = 0; number < task_classes; ++number) {
      all.nonzeros += nonzeros[number];
      all.tasks += tasks[number];
      all.heavy += number > class_of(shape.light) ? tasks[number] : 0;
    }
    all.split_rows = split_rows;
    return all;
  }
};

/// The places of the next task, pair and split row.
struct TaskPlaces {
  uint64_t tasks[task_classes] = {};
  uint64_t pairs[task_classes] = {};
  uint64_t split_rows = 0;

  /// The places of the first ones, when there are so many in all.
  static constexpr TaskPlaces first(const TaskClasses& all) {
    TaskPlaces places;
    for (uint32_t number = task_classes - 1; number > 0; --number) {
      places.tasks[number - 1] = places.tasks[number] + all.tasks[number];
      places.pairs[number - 1] = places.pairs[number] + all.nonzeros[number];
    }
    return places;
  }
  /// The places after these rows.
  constexpr TaskPlaces end(const TaskClasses& rows) const {
    TaskPlaces places = *this;
    for (uint32_t number = 0; number < task_classes; ++number) {
      places.tasks[number] += rows.tasks[number];
      places.pairs[number] += rows.nonzeros[number];
    }
    places.split_rows += rows.split_rows;
    return places;
  }
};

/// Non-zeros of a row.
template <typename Source>
uint64_t count_row(const Source& source, int64_t row) {
  uint64_t length = 0;
  source.visit(row, 1, [&length](int64_t, uint64_t, const auto&) { ++length; });
  return length;
}

/// Takes the next place of a class for a task and writes it there; returns where its pairs begin.
inline uint64_t write_task(const TaskFormat& format, uint32_t row, uint32_t length, TaskPlaces& places,
                           unsigned char* packed) {
  const uint32_t number = class_of(length);
  const uint64_t first = places.pairs[number];
  unsigned char* const task = packed + format.task_at(places.tasks[number]);
  memcpy(task, &first, sizeof first);
  memcpy(task + 8, &row, sizeof row);
  memcpy(task + 12, &length, sizeof length);
  ++places.tasks[number];
  places.pairs[number] += length;
  return first;
}

/// Writes the tasks and pairs of one row, which has `length` non-zeros.
template <typename Source>
void fill_row(const Source& source, const TaskFormat& format, int64_t row, uint64_t length, TaskPlaces& places,
              unsigned char* packed) {
  const uint32_t longest = format.shape.longest;
  const bool split = length > longest;
  const uint32_t named = static_cast<uint32_t>(row) | (split ? split_bit : 0);
  if (length == 0) {
    write_task(format, named, 0, places, packed);
    return;
  }
  if (split) {
    const uint32_t narrow = static_cast<uint32_t>(row);
    memcpy(packed + format.split_row_at(places.split_rows++), &narrow, sizeof narrow);
  }
  uint64_t index = 0;
  uint64_t pair = 0;
  source.visit(row, 1, [&](int64_t column, uint64_t, const auto& value_of) {
    if (index % longest == 0) {
      const uint64_t left = length - index;
      pair = write_task(format, named, left < longest ? static_cast<uint32_t>(left) : longest, places, packed);
    }
    const uint32_t narrow = static_cast<uint32_t>(column);
    const auto value = value_of(0);
    memset(packed + format.pair_at(pair), 0, static_cast<size_t>(2 * format.half_pair()));
    memcpy(packed + format.pair_at(pair), &narrow, sizeof narrow);
    memcpy(packed + format.value_at(pair), &value, sizeof value);
    ++index;
    ++pair;
  });
}

/// Sets what lies between the sections to zero, and writes the header, after everything else.
inline void seal(const TaskFormat& format, void* packed) {
  unsigned char* const bytes = static_cast<unsigned char*>(packed);
  const uint64_t behind_tasks = format.task_at(format.counts.tasks);
  const uint64_t behind_split_rows = format.split_row_at(format.counts.split_rows);
  memset(bytes + behind_tasks, 0, static_cast<size_t>(format.split_rows_at - behind_tasks));
  memset(bytes + behind_split_rows, 0, static_cast<size_t>(format.pairs_at - behind_split_rows));
  write_header(format, bytes);
}

/// Packs A into `packed`, format.bytes bytes aligned to 8. False, and nothing promised of `packed`, when A does not
/// have the counts of the format; nothing is ever written outside it.
template <typename Source>
bool pack_serially(const Source& source, const TaskFormat& format, void* packed) {
  TaskClasses classes;
  for (int64_t row = 0; row < format.shape.rows; ++row) {
    classes.add_row(count_row(source, row), format.shape);
  }
  if (!(describe(format.shape, classes.counts(format.shape)) == format)) {
    return false;
  }
  TaskPlaces places = TaskPlaces::first(classes);
  for (int64_t row = 0; row < format.shape.rows; ++row) {
    fill_row(source, format, row, count_row(source, row), places, static_cast<unsigned char*>(packed));
  }
  seal(format, packed);
  return true;
}

// [packing text ends]
}  // namespace esc::transformer

// SPDX-License-Identifier: Apache-2.0
#pragma once

// The packed format of tasks: what is stored where. As in packed_bytes.h, the text between the markers is part of the
// generated transformers of kernels that read it.

#include "transformer/description.h"

namespace esc::transformer {
// [packing text begins]

// ---------------------------------------------------------------------------------------------------------------------
// The packed format of tasks.
//
// A row of at most `longest` non-zeros is one task, also when it has none. A longer one is split: each task has
// `longest` of them, in order of their columns, and the last what is left. A task of more than `light` non-zeros is
// heavy.
//
// Tasks are sorted into classes: class c has those of more than 2^(c - 1) and at most 2^c non-zeros, class 0 those of
// one and of none. The highest class comes first; within a class rows ascend, and within a row columns. As `light` is a
// power of two, heavy tasks are before light ones.
//
//   tasks        at header_bytes, 16 bytes each:
//                  uint64 first      its first pair, counted from 0
//                  uint32 row        and, in bit 31, whether the row is split
//                  uint32 length     how many pairs it has
//   split rows   uint32 each, ascending, at the next multiple of 256
//   pairs        uint32 column and value, the value at the first multiple of its size after the column, and as many
//                bytes before the value as from there on, in the order of the tasks, at the next multiple of 256
//
// What lies between is zero.
// ---------------------------------------------------------------------------------------------------------------------

inline constexpr uint32_t task_bytes = 16;
inline constexpr uint32_t max_task = 512;
inline constexpr uint32_t task_classes = 10;       ///< of tasks of up to 2^0 .. 2^9 non-zeros
inline constexpr uint32_t max_block_tasks = 1024;  ///< of a thread block
inline constexpr uint32_t split_bit = 0x80000000u;

/// How rows are cut into tasks.
struct TaskCut {
  uint32_t longest = 128;    ///< most non-zeros of a task
  uint32_t light = 16;       ///< most non-zeros of a light task
  uint32_t block_heavy = 1;  ///< heavy tasks of a thread block; no block has heavy and light ones
  uint32_t block_light = 1;  ///< light tasks of a thread block

  static constexpr uint32_t height = 1;  ///< each row is a row tile of its own
  static constexpr Rule elements = any_elements;

  template <typename Visit>
  constexpr void visit_cut(const Visit& visit) {
    visit("longest", longest, power_of_two(max_task));
    visit("light", light, power_of_two(longest));
    visit("block_heavy", block_heavy, between(1, max_block_tasks));
    visit("block_light", block_light, between(1, max_block_tasks));
  }
};

using TaskShape = Shape<TaskCut>;

/// How much there is in all rows.
struct TaskCounts {
  uint64_t nonzeros = 0;
  uint64_t tasks = 0;
  uint64_t heavy = 0;  ///< of the tasks
  uint64_t split_rows = 0;

  template <typename Visit>
  constexpr void visit(const TaskShape& shape, const Visit& visit) {
    const uint64_t rows = static_cast<uint64_t>(shape.rows);
    visit("nonzeros", nonzeros, between(0, max_count));
    visit("tasks", tasks, between(rows, max_count));
    visit("heavy", heavy, between(0, tasks));
    visit("split_rows", split_rows, between(0, rows));
  }
};

/// The whole description of a packed matrix; packer, unpacker and kernel read sizes and places from it alone.
struct TaskFormat : Description<TaskCut, TaskCounts> {
  static constexpr char magic[9] = "ESCTASK\x1a";
  static constexpr uint32_t version = 2;

  uint64_t split_rows_at = 0;
  uint64_t pairs_at = 0;
  uint64_t bytes = 0;  ///< of the whole, header included

  constexpr uint64_t task_at(uint64_t task) const { return header_bytes + task * task_bytes; }
  constexpr uint64_t split_row_at(uint64_t index) const { return split_rows_at + index * size_of(ScalarType::u32); }
  /// From the beginning of a pair to its value, and from there to the end.
  constexpr uint64_t half_pair() const { return round_up(size_of(ScalarType::u32), size_of(shape.element)); }
  constexpr uint64_t pair_at(uint64_t pair) const { return pairs_at + pair * 2 * half_pair(); }
  constexpr uint64_t value_at(uint64_t pair) const { return pair_at(pair) + half_pair(); }
  constexpr uint64_t heavy_blocks() const { return (counts.heavy + shape.block_heavy - 1) / shape.block_heavy; }
  constexpr uint64_t blocks() const {
    return heavy_blocks() + (counts.tasks - counts.heavy + shape.block_light - 1) / shape.block_light;
  }
  /// The block that has this task.
  constexpr uint64_t block_of(uint64_t task) const {
    return task < counts.heavy ? task / shape.block_heavy : heavy_blocks() + (task - counts.heavy) / shape.block_light;
  }
};

/// The format that a matrix of this shape and with these counts has.
constexpr TaskFormat describe(const TaskShape& shape, const TaskCounts& counts) {
  TaskFormat format;
  format.shape = shape;
  format.counts = counts;
  format.split_rows_at = round_up(format.task_at(counts.tasks), section_alignment);
  format.pairs_at = round_up(format.split_row_at(counts.split_rows), section_alignment);
  format.bytes = format.pair_at(counts.nonzeros);
  return format;
}

// [packing text ends]
}  // namespace esc::transformer

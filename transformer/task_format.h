#pragma once

// The packed format of tasks: what is stored where. As in packed_bytes.h, the text between the markers is part of the
// generated transformers of kernels that read it.

#include "transformer/packed_bytes.h"

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
// power of two, heavy tasks stand in front of light ones.
//
//   tasks        at header_bytes, 16 bytes each:
//                  uint64 first      its first pair, counted from 0
//                  uint32 row        and, in bit 31, whether the row is split
//                  uint32 length     how many pairs it has
//   split rows   uint32 each, ascending, at the next multiple of 256
//   pairs        uint32 column and value, the value at the first multiple of its size behind the column, in the order of
//                the tasks, at the next multiple of 256
//
// What lies between is zero.
// ---------------------------------------------------------------------------------------------------------------------

inline constexpr uint32_t task_format_version = 1;
inline constexpr uint32_t task_bytes = 16;
inline constexpr uint32_t max_task = 512;
inline constexpr uint32_t task_classes = 10;       ///< of tasks of up to 2^0 .. 2^9 non-zeros
inline constexpr uint32_t max_block_tasks = 1024;  ///< of a thread block
inline constexpr uint32_t split_bit = 0x80000000u;

/// What is decided before the non-zeros are looked at.
struct TaskShape {
  int64_t rows = 0;
  int64_t columns = 0;
  uint32_t longest = 0;      ///< most non-zeros of a task, a power of two up to max_task
  uint32_t light = 0;        ///< most non-zeros of a light task, a power of two up to `longest`
  uint32_t block_heavy = 0;  ///< heavy tasks of a thread block; no block has heavy and light ones
  uint32_t block_light = 0;  ///< light tasks of a thread block
  ScalarType element = ScalarType::f32;

  /// For the pattern digests: each row is a panel of its own.
  constexpr int64_t panels() const { return rows; }
  constexpr int64_t first_row(int64_t panel) const { return panel; }
  constexpr uint32_t rows_in(int64_t) const { return 1; }
};

constexpr bool operator==(const TaskShape& a, const TaskShape& b) {
  return a.rows == b.rows && a.columns == b.columns && a.longest == b.longest && a.light == b.light &&
         a.block_heavy == b.block_heavy && a.block_light == b.block_light && a.element == b.element;
}

/// How much there is in all rows.
struct TaskCounts {
  uint64_t nonzeros = 0;
  uint64_t tasks = 0;
  uint64_t heavy = 0;  ///< of the tasks
  uint64_t split_rows = 0;
};

constexpr bool operator==(const TaskCounts& a, const TaskCounts& b) {
  return a.nonzeros == b.nonzeros && a.tasks == b.tasks && a.heavy == b.heavy && a.split_rows == b.split_rows;
}

/// The whole description of a packed matrix; packer, unpacker and kernel read sizes and places from it alone.
struct TaskFormat {
  TaskShape shape;
  TaskCounts counts;
  uint64_t split_rows_at = 0;
  uint64_t pairs_at = 0;
  uint64_t bytes = 0;  ///< of the whole, header included

  constexpr uint64_t task_at(uint64_t task) const { return header_bytes + task * task_bytes; }
  constexpr uint64_t split_row_at(uint64_t index) const { return split_rows_at + index * size_of(ScalarType::u32); }
  constexpr uint64_t value_bytes() const { return size_of(shape.element); }
  constexpr uint64_t pair_at(uint64_t pair) const { return pairs_at + pair * 2 * value_bytes(); }
  constexpr uint64_t value_at(uint64_t pair) const { return pair_at(pair) + value_bytes(); }
  constexpr uint64_t heavy_blocks() const { return (counts.heavy + shape.block_heavy - 1) / shape.block_heavy; }
  constexpr uint64_t blocks() const {
    return heavy_blocks() + (counts.tasks - counts.heavy + shape.block_light - 1) / shape.block_light;
  }
  /// The block that has this task.
  constexpr uint64_t block_of(uint64_t task) const {
    return task < counts.heavy ? task / shape.block_heavy : heavy_blocks() + (task - counts.heavy) / shape.block_light;
  }
};

constexpr bool operator==(const TaskFormat& a, const TaskFormat& b) {
  return a.shape == b.shape && a.counts == b.counts && a.split_rows_at == b.split_rows_at && a.pairs_at == b.pairs_at &&
         a.bytes == b.bytes;
}

/// The format that a matrix of this shape and with these counts has.
constexpr TaskFormat describe(const TaskShape& shape, const TaskCounts& counts) {
  TaskFormat format;
  format.shape = shape;
  format.counts = counts;
  format.split_rows_at = aligned(format.task_at(counts.tasks));
  format.pairs_at = aligned(format.split_row_at(counts.split_rows));
  format.bytes = format.pair_at(counts.nonzeros);
  return format;
}

/// The first 256 bytes of a packed matrix.
struct TaskHeader {
  unsigned char magic[8];
  uint32_t version;
  uint32_t header_bytes;
  uint64_t total_bytes;
  uint64_t rows;
  uint64_t columns;
  uint64_t nonzeros;
  uint64_t tasks;
  uint64_t heavy;
  uint64_t split_rows;
  uint32_t longest;
  uint32_t light;
  uint32_t block_heavy;
  uint32_t block_light;
  uint32_t column_type;
  uint32_t element_type;
  uint64_t payload_checksum;  ///< of everything after the header
  unsigned char reserved[144];
  uint64_t header_checksum;  ///< of the bytes before it
};
static_assert(sizeof(TaskHeader) == header_bytes, "the header has 256 bytes and no padding of the compiler's");

inline constexpr char task_magic_text[9] = "ESCTASK\x1a";

/// Every field of the header in order, without a gap.
inline constexpr HeaderField task_header_fields[] = {
    {"magic", offsetof(TaskHeader, magic), 8},
    {"version", offsetof(TaskHeader, version), 4},
    {"header_bytes", offsetof(TaskHeader, header_bytes), 4},
    {"total_bytes", offsetof(TaskHeader, total_bytes), 8},
    {"rows", offsetof(TaskHeader, rows), 8},
    {"columns", offsetof(TaskHeader, columns), 8},
    {"nonzeros", offsetof(TaskHeader, nonzeros), 8},
    {"tasks", offsetof(TaskHeader, tasks), 8},
    {"heavy", offsetof(TaskHeader, heavy), 8},
    {"split_rows", offsetof(TaskHeader, split_rows), 8},
    {"longest", offsetof(TaskHeader, longest), 4},
    {"light", offsetof(TaskHeader, light), 4},
    {"block_heavy", offsetof(TaskHeader, block_heavy), 4},
    {"block_light", offsetof(TaskHeader, block_light), 4},
    {"column_type", offsetof(TaskHeader, column_type), 4},
    {"element_type", offsetof(TaskHeader, element_type), 4},
    {"payload_checksum", offsetof(TaskHeader, payload_checksum), 8},
    {"reserved", offsetof(TaskHeader, reserved), 144},
    {"header_checksum", offsetof(TaskHeader, header_checksum), 8},
};

/// The header of a matrix of this format whose payload has this checksum.
inline TaskHeader make_header(const TaskFormat& format, uint64_t payload_checksum) {
  auto header = begin_header<TaskHeader>(task_magic_text, task_format_version, format);
  header.tasks = format.counts.tasks;
  header.heavy = format.counts.heavy;
  header.split_rows = format.counts.split_rows;
  header.longest = format.shape.longest;
  header.light = format.shape.light;
  header.block_heavy = format.shape.block_heavy;
  header.block_light = format.shape.block_light;
  header.column_type = static_cast<uint32_t>(ScalarType::u32);
  header.element_type = static_cast<uint32_t>(format.shape.element);
  return end_header(header, payload_checksum);
}

/// The first field in which two headers differ, or null.
inline const HeaderField* first_difference(const TaskHeader& a, const TaskHeader& b) {
  return first_difference(task_header_fields, &a, &b);
}

// [packing text ends]
}  // namespace esc::transformer

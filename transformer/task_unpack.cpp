#include "transformer/task_unpack.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <vector>

#include "transformer/task_pack.h"
#include "transformer/unverified_bytes.h"

namespace esc::transformer {
namespace {

TaskHeader checked_header(std::span<const std::byte> packed) {
  const auto header = load_header<TaskHeader>(packed, task_magic_text, task_format_version);
  constexpr std::uint64_t largest_size = std::numeric_limits<std::int32_t>::max();
  check_range("rows", header.rows, 1, largest_size);
  check_range("columns", header.columns, 1, largest_size);
  check_range("nonzeros", header.nonzeros, 0, packed.size() / 8);
  check_range("tasks", header.tasks, header.rows, packed.size() / task_bytes);
  check_range("heavy", header.heavy, 0, header.tasks);
  check_range("split_rows", header.split_rows, 0, header.rows);
  check_range("element_type", header.element_type, static_cast<std::uint32_t>(ScalarType::f32),
              static_cast<std::uint32_t>(ScalarType::f64));
  check_range("longest", header.longest, 1, max_task);
  check_range("light", header.light, 1, header.longest);
  check_range("block_heavy", header.block_heavy, 1, max_block_tasks);
  check_range("block_light", header.block_light, 1, max_block_tasks);
  if (!std::has_single_bit(header.longest) || !std::has_single_bit(header.light)) {
    refuse("the header fields longest and light are not powers of two");
  }
  return header;
}

/// The pairs of each row, put together from its tasks: offsets of the rows, then the first pair of each of them.
struct RowsOfTasks {
  std::vector<std::int64_t> offsets;
  std::vector<std::uint64_t> pair_of;
};

/// Finds the pairs of each row. The tasks of a row are taken by their first column, wherever they stand.
RowsOfTasks find_rows(const TaskReader& tasks, const TaskFormat& format) {
  RowsOfTasks rows{std::vector<std::int64_t>(static_cast<std::size_t>(format.shape.rows) + 1), {}};
  std::vector<Task> found;
  std::uint64_t left = format.counts.nonzeros;
  for (std::uint64_t number = 0; number < format.counts.tasks; ++number) {
    const Task task = tasks.task(number);
    if (task.row >= format.shape.rows || task.length > left || task.first > format.counts.nonzeros - task.length) {
      refuse("task {} has row {} and {} pairs from {} on, which the matrix does not have", number, task.row,
             task.length, task.first);
    }
    left -= task.length;
    rows.offsets[task.row + 1] += task.length;
    if (task.length != 0) {
      found.push_back(task);
    }
  }
  std::ranges::sort(found, [&](const Task& a, const Task& b) {
    return a.row != b.row ? a.row < b.row : tasks.pair(a.first).column < tasks.pair(b.first).column;
  });
  for (std::size_t row = 1; row < rows.offsets.size(); ++row) {
    rows.offsets[row] += rows.offsets[row - 1];
  }
  for (const Task& task : found) {
    for (std::uint32_t index = 0; index < task.length; ++index) {
      rows.pair_of.push_back(task.first + index);
    }
  }
  return rows;
}

}  // namespace

bool holds_tasks(std::span<const std::byte> packed) { return begins_with(packed, task_magic_text); }

TaskFormat read_task_format(std::span<const std::byte> packed) {
  const TaskHeader header = checked_header(packed);
  const TaskShape shape{static_cast<std::int64_t>(header.rows),
                        static_cast<std::int64_t>(header.columns),
                        header.longest,
                        header.light,
                        header.block_heavy,
                        header.block_light,
                        static_cast<ScalarType>(header.element_type)};
  const TaskFormat format = describe(shape, {header.nonzeros, header.tasks, header.heavy, header.split_rows});
  const TaskHeader expected = make_header(format, header.payload_checksum);
  if (const HeaderField* field = first_difference(header, expected)) {
    refuse("the header field {} at byte {} does not agree with the other fields", field->name, field->offset);
  }
  return format;
}

Task TaskReader::task(std::uint64_t number) const {
  const std::uint64_t at = format_.task_at(number);
  const auto row = load<std::uint32_t>(packed_, at + 8);
  return {load<std::uint64_t>(packed_, at), row & ~split_bit, (row & split_bit) != 0,
          load<std::uint32_t>(packed_, at + 12)};
}

TaskPair TaskReader::pair(std::uint64_t number) const {
  const std::uint64_t at = format_.pair_at(number);
  return {load<std::uint32_t>(packed_, at), load_element(format_.shape.element, packed_, format_.value_at(number))};
}

std::uint32_t TaskReader::split_row(std::uint64_t number) const {
  return load<std::uint32_t>(packed_, format_.split_row_at(number));
}

CsrMatrix unpack_tasks(std::span<const std::byte> packed) {
  const TaskFormat format = read_task_format(packed);
  check_payload<TaskHeader>(packed);
  const TaskReader tasks(packed, format);
  const TaskShape& shape = format.shape;
  RowsOfTasks rows = find_rows(tasks, format);
  CsrMatrix matrix{format.shape.rows, format.shape.columns, std::move(rows.offsets), {}, {}, shape.element};
  for (std::int64_t row = 0; row < matrix.rows; ++row) {
    std::int64_t previous = -1;
    for (auto entry = static_cast<std::size_t>(matrix.offsets[static_cast<std::size_t>(row)]);
         entry < static_cast<std::size_t>(matrix.offsets[static_cast<std::size_t>(row) + 1]); ++entry) {
      const TaskPair pair = tasks.pair(rows.pair_of[entry]);
      if (pair.column <= previous || pair.column >= matrix.columns) {
        refuse("row {} has column {} after {} in a matrix of {} columns", row, pair.column, previous, matrix.columns);
      }
      previous = pair.column;
      matrix.column_of.push_back(static_cast<std::int32_t>(pair.column));
      matrix.values.push_back(pair.value);
    }
  }
  const PackedTasks again =
      pack_tasks(matrix.view(), {shape.longest, shape.light, shape.block_heavy, shape.block_light});
  if (!std::ranges::equal(again.bytes.span(), packed)) {
    const auto at = std::ranges::mismatch(again.bytes.span(), packed).in2 - packed.begin();
    refuse("byte {} is not what packing the matrix again gives", at);
  }
  return matrix;
}

}  // namespace esc::transformer

#pragma once

#include <cstddef>
#include <span>

#include "transformer/task_format.h"
#include "transformer/unpack.h"

namespace esc::transformer {

/// Whether these bytes begin as a matrix packed into tasks does.
bool holds_tasks(std::span<const std::byte> packed);

/// The format of a matrix packed into tasks, from bytes that nobody vouches for. Everything that the header says is
/// checked, the tasks are not read. Throws FormatError.
TaskFormat read_task_format(std::span<const std::byte> packed);

/// One task as it stands in the packed bytes.
struct Task {
  std::uint64_t first = 0;  ///< of its pairs
  std::uint32_t row = 0;
  bool split = false;  ///< whether the row has further tasks
  std::uint32_t length = 0;
};

/// One non-zero.
struct TaskPair {
  std::uint32_t column = 0;
  double value = 0;
};

/// What stands in the sections, read from bytes of any alignment. Nothing is checked but that places lie inside.
class TaskReader {
 public:
  /// `packed` must outlive the reader and have the size that the format says.
  TaskReader(std::span<const std::byte> packed, const TaskFormat& format) : packed_(packed), format_(format) {}

  Task task(std::uint64_t number) const;
  TaskPair pair(std::uint64_t number) const;
  std::uint32_t split_row(std::uint64_t number) const;

 private:
  std::span<const std::byte> packed_;
  TaskFormat format_;
};

/// The matrix that was packed, exactly. Every byte is checked: what comes back packs to the same bytes again. Throws
/// FormatError. Time and room as for packing.
CsrMatrix unpack_tasks(std::span<const std::byte> packed);

}  // namespace esc::transformer

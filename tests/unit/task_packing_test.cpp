// Packing into tasks against the definition of the format, for both forms of the matrix, any number of threads and the
// serial text that generated transformers embed; and the unpacker's refusals.

#include "transformer/view_sources.h"
#include "transformer/task_packing.h"

#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>
#include <tbb/global_control.h>

#include <algorithm>
#include <cstring>

#include "tests/unit/transformer_matrices.h"
#include "transformer/format_error.h"
#include "transformer/task_pack.h"
#include "transformer/task_unpack.h"

namespace esc::transformer {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

/// A task as the definition says it: a run of the non-zeros of a row.
struct PlainTask {
  std::int64_t row = 0;
  bool split = false;
  std::vector<std::pair<std::int64_t, double>> pairs;
};

/// The power of two that bounds the class of a task.
std::size_t bound_of_class(std::size_t length) {
  std::size_t bound = 1;
  while (bound < length) {
    bound *= 2;
  }
  return bound;
}

/// The tasks in order, computed from the definition of the format alone: all are collected, then sorted.
std::vector<PlainTask> plain_tasks(const DenseMatrix& matrix, const TaskOptions& options) {
  std::vector<PlainTask> tasks;
  for (std::int64_t i = 0; i < matrix.rows; ++i) {
    std::vector<std::pair<std::int64_t, double>> row;
    for (std::int64_t k = 0; k < matrix.columns; ++k) {
      if (matrix.at(i, k) != 0.0F) {
        row.emplace_back(k, matrix.at(i, k));
      }
    }
    const bool split = row.size() > options.longest;
    do {
      const auto behind = row.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(options.longest, row.size()));
      tasks.push_back({i, split, {row.begin(), behind}});
      row.erase(row.begin(), behind);
    } while (!row.empty());
  }
  std::ranges::stable_sort(tasks, std::ranges::greater(),
                           [](const PlainTask& task) { return bound_of_class(task.pairs.size()); });
  return tasks;
}

/// The first place in which the packed tasks are not those of the definition; empty when there is none.
std::string difference(const PackedTasks& packed, const std::vector<PlainTask>& expected, const TaskOptions& options) {
  const TaskFormat& format = packed.format;
  const TaskReader reader(packed.bytes.span(), format);
  const auto heavy =
      std::ranges::count_if(expected, [&](const PlainTask& task) { return task.pairs.size() > options.light; });
  if (format.counts.tasks != expected.size() || format.counts.heavy != static_cast<std::uint64_t>(heavy)) {
    return "number of tasks";
  }
  std::vector<std::uint32_t> split_rows;
  std::uint64_t next = 0;
  for (std::size_t number = 0; number < expected.size(); ++number) {
    const PlainTask& plain = expected[number];
    const Task task = reader.task(number);
    if (task.first != next || task.row != plain.row || task.split != plain.split || task.length != plain.pairs.size()) {
      return "a task";
    }
    for (const auto& [column, value] : plain.pairs) {
      const TaskPair pair = reader.pair(next++);
      if (pair.column != column || pair.value != value) {
        return "a pair";
      }
    }
    if (plain.split) {
      split_rows.push_back(task.row);
    }
  }
  std::ranges::sort(split_rows);
  const auto repeated = std::ranges::unique(split_rows);
  split_rows.erase(repeated.begin(), repeated.end());
  if (format.counts.split_rows != split_rows.size()) {
    return "number of split rows";
  }
  for (std::size_t number = 0; number < split_rows.size(); ++number) {
    if (reader.split_row(number) != split_rows[number]) {
      return "a split row";
    }
  }
  return {};
}

rc::Gen<TaskOptions> task_options() {
  return rc::gen::map(
      rc::gen::tuple(rc::gen::inRange(0, 8), rc::gen::inRange(0, 8), rc::gen::inRange(1, 5), rc::gen::inRange(1, 33)),
      [](const std::tuple<int, int, int, int>& drawn) {
        const auto& [longest, light, block_heavy, block_light] = drawn;
        return TaskOptions{1U << longest, 1U << std::min(light, longest), static_cast<std::uint32_t>(block_heavy),
                           static_cast<std::uint32_t>(block_light)};
      });
}

DenseMatrix drawn_matrix() {
  const auto rows = *rc::gen::inRange<std::int64_t>(1, 40).as("rows");
  const auto columns = *rc::gen::inRange<std::int64_t>(1, 140).as("columns");
  const auto density = *rc::gen::element(0.0, 0.1, 0.5, 1.0).as("density");
  const auto seed = *rc::gen::arbitrary<std::uint64_t>().as("seed");
  return random_matrix(rows, columns, density, seed);
}

bool same_bytes(std::span<const std::byte> a, std::span<const std::byte> b) { return std::ranges::equal(a, b); }

RC_GTEST_PROP(TaskPacking, FollowsTheDefinitionAndGivesTheMatrixBack, ()) {
  const DenseMatrix matrix = drawn_matrix();
  const TaskOptions options = *task_options();
  const CsrMatrix csr = to_csr(matrix, true);
  const PackedTasks packed = pack_tasks(csr.view(), options);
  RC_ASSERT(difference(packed, plain_tasks(matrix, options), options) == "");
  RC_ASSERT(packed.format == plan_tasks(csr.view(), options));
  RC_ASSERT(packed.format == read_task_format(packed.bytes.span()));
  RC_ASSERT(unpack_tasks(packed.bytes.span()) == to_csr(matrix));
  RC_ASSERT(same_bytes(pack_tasks(matrix.view(), options).bytes.span(), packed.bytes.span()));

  std::vector<std::uint64_t> serial(packed.format.bytes / 8, ~std::uint64_t{0});
  const StoredRows<float, DenseRows<double>> source{{matrix.values.data(), matrix.lda, matrix.columns}};
  RC_ASSERT(pack_serially(source, packed.format, serial.data()));
  RC_ASSERT(same_bytes(std::as_bytes(std::span(serial)), packed.bytes.span()));
}

TEST(TaskPacking, GivesTheSameBytesForAnyNumberOfThreads) {
  // More rows than one thread takes at a time, so that several of them write to each class.
  const CsrMatrix csr = to_csr(random_matrix(5000, 90, 0.2, 3));
  const TaskOptions options{16, 4, 2, 8};
  const PackedTasks packed = pack_tasks(csr.view(), options);
  EXPECT_EQ(unpack_tasks(packed.bytes.span()), csr);
  const tbb::global_control one_thread(tbb::global_control::max_allowed_parallelism, 1);
  EXPECT_TRUE(same_bytes(pack_tasks(csr.view(), options).bytes.span(), packed.bytes.span()));
}

/// A format that another matrix has is refused, and nothing behind its bytes is written.
RC_GTEST_PROP(TaskPacking, OfAnotherMatrixStaysInsideItsBytes, ()) {
  const DenseMatrix matrix = drawn_matrix();
  const TaskOptions options = *task_options();
  const auto seed = *rc::gen::arbitrary<std::uint64_t>().as("seed of the other");
  const DenseMatrix other = random_matrix(matrix.rows, matrix.columns, 0.4, seed);
  const TaskFormat format = plan_tasks(to_csr(matrix).view(), options);
  const bool same_counts = plan_tasks(to_csr(other).view(), options) == format;
  constexpr std::uint64_t canary = 0x5ca1ab1e5ca1ab1e;
  std::vector<std::uint64_t> room(format.bytes / 8 + 64, canary);
  const StoredRows<float, DenseRows<double>> source{{other.values.data(), other.lda, other.columns}};
  RC_ASSERT(pack_serially(source, format, room.data()) == same_counts);
  RC_ASSERT(std::all_of(room.end() - 64, room.end(), [](std::uint64_t word) { return word == canary; }));
}

TEST(TaskFormat, HasTheBytesThatTheDescriptionSays) {
  const DenseMatrix matrix{4, 6, {1, 0, 2, 8, 3, 9,  // 5 non-zeros: a task of 4, a task of 1
                                  0, 0, 0, 0, 0, 0,  // none
                                  0, 4, 0, 5, 6, 0,  // 3
                                  0, 7, 0, 0, 0, 0}};
  const PackedTasks packed = pack_tasks(matrix.view(), {.longest = 4, .light = 2, .block_heavy = 1, .block_light = 2});
  EXPECT_EQ(packed.format.counts, (TaskCounts{9, 5, 2, 1}));
  EXPECT_EQ(packed.format.split_rows_at, 512U);
  EXPECT_EQ(packed.format.pairs_at, 768U);
  EXPECT_EQ(packed.format.bytes, 768U + 9 * 8);
  EXPECT_EQ(packed.format.blocks(), 2U + 2);
  EXPECT_EQ(packed.format.block_of(1), 1U);
  EXPECT_EQ(packed.format.block_of(4), 3U);
  // {first, 0, row, length}: classes of 4 and of 1, rows ascending.
  std::vector<std::uint32_t> words(20);
  std::memcpy(words.data(), packed.bytes.span().data() + 256, 80);
  constexpr std::uint32_t split = 0x80000000U;
  EXPECT_THAT(words, testing::ElementsAre(0, 0, split, 4,  //
                                          4, 0, 2, 3,      //
                                          7, 0, split, 1,  //
                                          8, 0, 1, 0,      //
                                          8, 0, 3, 1));
  std::vector<std::uint32_t> split_rows(64);
  std::memcpy(split_rows.data(), packed.bytes.span().data() + 512, 256);
  EXPECT_EQ(split_rows, std::vector<std::uint32_t>(64));
  std::vector<std::uint32_t> pairs(18);
  std::memcpy(pairs.data(), packed.bytes.span().data() + 768, 72);
  std::vector<std::uint32_t> columns;
  std::vector<double> values;
  for (std::size_t pair = 0; pair < 9; ++pair) {
    columns.push_back(pairs[2 * pair]);
    values.push_back(std::bit_cast<float>(pairs[2 * pair + 1]));
  }
  EXPECT_THAT(columns, testing::ElementsAre(0, 2, 3, 4, 1, 3, 4, 5, 1));
  EXPECT_THAT(values, testing::ElementsAre(1, 2, 8, 3, 4, 5, 6, 9, 7));
}

TEST(TaskOptions, ThatCannotBeAreRefused) {
  const DenseMatrix matrix{2, 2, {1, 0, 0, 1}};
  for (const TaskOptions& options :
       {TaskOptions{.longest = 0, .light = 0}, TaskOptions{.longest = 48}, TaskOptions{.longest = 1024},
        TaskOptions{.light = 0}, TaskOptions{.light = 3}, TaskOptions{.longest = 8, .light = 16},
        TaskOptions{.block_heavy = 0}, TaskOptions{.block_light = 0}, TaskOptions{.block_light = 1025}}) {
    EXPECT_THROW(pack_tasks(matrix.view(), options), std::invalid_argument);
  }
}

/// Packed bytes that can be changed, with checksums that match again.
class Packed {
 public:
  Packed() {
    const PackedTasks packed =
        pack_tasks(random_matrix(9, 40, 0.4, 7).view(), {.longest = 8, .light = 2, .block_heavy = 2, .block_light = 4});
    bytes_.assign(packed.bytes.span().begin(), packed.bytes.span().end());
    format_ = packed.format;
  }
  std::vector<std::byte>& bytes() { return bytes_; }
  const TaskFormat& format() const { return format_; }
  void seal() {
    put(offsetof(TaskHeader, payload_checksum), checksum(bytes_.data() + header_bytes, bytes_.size() - header_bytes));
    seal_header();
  }
  void seal_header() {
    put(offsetof(TaskHeader, header_checksum), checksum(bytes_.data(), offsetof(TaskHeader, header_checksum)));
  }
  template <typename Value>
  void put(std::size_t at, Value value) {
    std::memcpy(bytes_.data() + at, &value, sizeof value);
  }

 private:
  std::vector<std::byte> bytes_;
  TaskFormat format_;
};

TEST(UnpackTasks, RefusesEveryChangedByte) {
  const Packed intact;
  const TaskFormat& format = intact.format();
  ASSERT_GT(format.counts.split_rows, 0U);
  ASSERT_LT(format.counts.heavy, format.counts.tasks);
  for (std::size_t at = 0; at < Packed(intact).bytes().size(); ++at) {
    Packed damaged(intact);
    damaged.bytes()[at] ^= std::byte{1};
    EXPECT_THROW(unpack_tasks(damaged.bytes()), FormatError) << "byte " << at;
    if (at < header_bytes) {
      damaged.seal_header();
    } else {
      damaged.seal();
    }
    // With checksums that match again some changes make another matrix: in a pair, in the number of columns, and in the
    // tasks of a block, which say nothing about the matrix.
    const bool other_matrix = at >= format.pairs_at ||
                              (at >= offsetof(TaskHeader, columns) && at < offsetof(TaskHeader, nonzeros)) ||
                              (at >= offsetof(TaskHeader, block_heavy) && at < offsetof(TaskHeader, column_type));
    const bool in_checksum = at >= offsetof(TaskHeader, header_checksum) && at < header_bytes;
    if (!other_matrix && !in_checksum) {
      EXPECT_THROW(unpack_tasks(damaged.bytes()), FormatError) << "byte " << at << ", sealed again";
    }
  }
}

TEST(UnpackTasks, SaysWhatIsWrong) {
  const auto refused = [](Packed damaged, const char* words) {
    EXPECT_THAT([&] { unpack_tasks(damaged.bytes()); }, ThrowsMessage<FormatError>(HasSubstr(words)));
  };
  Packed shorter;
  shorter.bytes().resize(100);
  refused(shorter, "100 bytes are too few");
  Packed magic;
  magic.put(0, std::uint32_t{0});
  refused(magic, "do not begin with ESCTASK");
  Packed version;
  version.put(offsetof(TaskHeader, version), std::uint32_t{9});
  refused(version, "format version 9; this program reads version 1");
  Packed header;
  header.put(offsetof(TaskHeader, rows), std::uint64_t{8});
  refused(header, "the header is damaged");
  Packed longer;
  longer.bytes().resize(longer.bytes().size() + 128);
  refused(longer, "its header says");
  Packed nonzeros;
  nonzeros.put(offsetof(TaskHeader, nonzeros), nonzeros.format().counts.nonzeros - 1);
  nonzeros.seal_header();
  refused(nonzeros, "the header field total_bytes at byte");
  Packed longest;
  longest.put(offsetof(TaskHeader, longest), std::uint32_t{2048});
  longest.seal_header();
  refused(longest, "the header field longest is 2048; it can be 1 to 512");
  Packed light;
  light.put(offsetof(TaskHeader, light), std::uint32_t{3});
  light.seal_header();
  refused(light, "longest and light are not powers of two");
  Packed rows;
  rows.put(offsetof(TaskHeader, rows), std::uint64_t{0x7fffffff});
  rows.seal_header();
  refused(rows, "the header field tasks is");
  Packed payload;
  payload.put(header_bytes + 20, std::uint32_t{5});
  refused(payload, "the packed matrix is damaged: bytes 256 to");
  Packed task;
  task.put(header_bytes + 8, std::uint32_t{9});
  task.seal();
  refused(task, "task 0 has row 9 and 8 pairs from 0 on, which the matrix does not have");
  Packed first;
  first.put(header_bytes, ~std::uint64_t{0});
  first.seal();
  refused(first, "which the matrix does not have");
  Packed column;
  column.put(column.format().pair_at(1), std::uint32_t{0});
  column.seal();
  refused(column, "in a matrix of 40 columns");
  Packed value;
  value.put(value.format().pair_at(1) + 4, 0.0F);
  value.seal();
  refused(value, "is not what packing the matrix again gives");
}

}  // namespace
}  // namespace esc::transformer

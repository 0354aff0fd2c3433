// SPDX-License-Identifier: Apache-2.0
// Packing into tasks against the definition of the format, for both forms of the matrix, any number of threads and the
// serial text that generated transformers embed; and the unpacker's refusals.

#include "transformer/task_packing.h"

#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>
#include <tbb/global_control.h>

#include <algorithm>
#include <cstring>

#include "tests/unit/transformer_matrices.h"
#include "transformer/pack.h"
#include "transformer/packed_reader.h"
#include "transformer/unpack.h"

namespace esc::transformer {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

/// A task as the definition says it: a run of the non-zeros of a row.
struct PlainTask {
  std::int64_t row = 0;
  bool split = false;
  std::vector<std::pair<std::int64_t, float>> pairs;
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
std::vector<PlainTask> plain_tasks(const DenseMatrix& matrix, const TaskCut& cut) {
  std::vector<PlainTask> tasks;
  for (std::int64_t i = 0; i < matrix.rows; ++i) {
    std::vector<std::pair<std::int64_t, float>> row;
    for (std::int64_t k = 0; k < matrix.columns; ++k) {
      if (matrix.at(i, k) != 0.0F) {
        row.emplace_back(k, matrix.at(i, k));
      }
    }
    const bool split = row.size() > cut.longest;
    do {
      const auto behind = row.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(cut.longest, row.size()));
      tasks.push_back({i, split, {row.begin(), behind}});
      row.erase(row.begin(), behind);
    } while (!row.empty());
  }
  std::ranges::stable_sort(tasks, std::ranges::greater(),
                           [](const PlainTask& task) { return bound_of_class(task.pairs.size()); });
  return tasks;
}

/// The first place in which the packed tasks are not those of the definition; empty when there is none.
std::string difference(const Packed<TaskFormat>& packed, const std::vector<PlainTask>& expected, const TaskCut& cut) {
  const TaskFormat& format = packed.format;
  const TaskReader reader(packed.bytes.span(), format);
  const auto heavy =
      std::ranges::count_if(expected, [&](const PlainTask& task) { return task.pairs.size() > cut.light; });
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

rc::Gen<TaskCut> task_cuts() {
  return rc::gen::map(
      rc::gen::tuple(rc::gen::inRange(0, 8), rc::gen::inRange(0, 8), rc::gen::inRange(1, 5), rc::gen::inRange(1, 33)),
      [](const std::tuple<int, int, int, int>& drawn) {
        const auto& [longest, light, block_heavy, block_light] = drawn;
        return TaskCut{1U << longest, 1U << std::min(light, longest), static_cast<std::uint32_t>(block_heavy),
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
  const TaskCut cut = *task_cuts();
  const CsrMatrix csr = to_csr(matrix, true);
  const Packed<TaskFormat> packed = pack(csr.view(), cut);
  RC_ASSERT(difference(packed, plain_tasks(matrix, cut), cut) == "");
  RC_ASSERT(packed.format == plan(csr.view(), cut));
  RC_ASSERT(packed.format == std::get<TaskFormat>(read_format(packed.bytes.span())));
  RC_ASSERT(unpack(packed.bytes.span()) == to_csr(matrix));

  std::vector<std::uint64_t> serial(packed.format.bytes / 8, ~std::uint64_t{0});
  RC_ASSERT(pack_serially(matrix.source(), packed.format, serial.data()));
  RC_ASSERT(same_bytes(std::as_bytes(std::span(serial)), packed.bytes.span()));
}

TEST(TaskPacking, GivesTheSameBytesForAnyNumberOfThreads) {
  // More rows than one thread takes at a time, so that several of them write to each class.
  const CsrMatrix csr = to_csr(random_matrix(5000, 90, 0.2, 3));
  const TaskCut cut{16, 4, 2, 8};
  const Packed<TaskFormat> packed = pack(csr.view(), cut);
  EXPECT_EQ(unpack(packed.bytes.span()), csr);
  const tbb::global_control one_thread(tbb::global_control::max_allowed_parallelism, 1);
  EXPECT_TRUE(same_bytes(pack(csr.view(), cut).bytes.span(), packed.bytes.span()));
}

/// A format that another matrix has is refused, and nothing after its bytes is written.
RC_GTEST_PROP(TaskPacking, OfAnotherMatrixStaysInsideItsBytes, ()) {
  const DenseMatrix matrix = drawn_matrix();
  const TaskCut cut = *task_cuts();
  const auto seed = *rc::gen::arbitrary<std::uint64_t>().as("seed of the other");
  const DenseMatrix other = random_matrix(matrix.rows, matrix.columns, 0.4, seed);
  const TaskFormat format = plan(to_csr(matrix).view(), cut);
  const bool same_counts = plan(to_csr(other).view(), cut) == format;
  constexpr std::uint64_t canary = 0x5ca1ab1e5ca1ab1e;
  std::vector<std::uint64_t> room(format.bytes / 8 + 64, canary);
  RC_ASSERT(pack_serially(other.source(), format, room.data()) == same_counts);
  RC_ASSERT(std::all_of(room.end() - 64, room.end(), [](std::uint64_t word) { return word == canary; }));
}

TEST(TaskFormat, HasTheBytesThatTheDescriptionSays) {
  const DenseMatrix matrix{4, 6, {1, 0, 2, 8, 3, 9,  // 5 non-zeros: a task of 4, a task of 1
                                  0, 0, 0, 0, 0, 0,  // none
                                  0, 4, 0, 5, 6, 0,  // 3
                                  0, 7, 0, 0, 0, 0}};
  const Packed<TaskFormat> packed =
      pack(to_csr(matrix).view(), TaskCut{.longest = 4, .light = 2, .block_heavy = 1, .block_light = 2});
  EXPECT_EQ(packed.format, describe(packed.format.shape, {9, 5, 2, 1}));
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
  std::vector<float> values;
  for (std::size_t pair = 0; pair < 9; ++pair) {
    columns.push_back(pairs[2 * pair]);
    values.push_back(std::bit_cast<float>(pairs[2 * pair + 1]));
  }
  EXPECT_THAT(columns, testing::ElementsAre(0, 2, 3, 4, 1, 3, 4, 5, 1));
  EXPECT_THAT(values, testing::ElementsAre(1, 2, 8, 3, 4, 5, 6, 9, 7));
}

TEST(TaskCut, ThatCannotBeAreRefused) {
  const DenseMatrix matrix{2, 2, {1, 0, 0, 1}};
  for (const TaskCut& cut : {TaskCut{.longest = 0, .light = 0}, TaskCut{.longest = 48}, TaskCut{.longest = 1024},
                             TaskCut{.light = 0}, TaskCut{.light = 3}, TaskCut{.longest = 8, .light = 16},
                             TaskCut{.block_heavy = 0}, TaskCut{.block_light = 0}, TaskCut{.block_light = 1025}}) {
    EXPECT_THROW(pack(to_csr(matrix).view(), cut), std::invalid_argument);
  }
}

/// Heavy and light tasks, some of them of split rows.
struct Tasks {
  Packed<TaskFormat> packed = pack(to_csr(random_matrix(9, 40, 0.4, 7)).view(),
                                   TaskCut{.longest = 8, .light = 2, .block_heavy = 2, .block_light = 4});
  ChangeableBytes intact{packed.bytes.span()};

  std::size_t position(std::string_view name) const { return position_of(packed.format, name); }
};

TEST(UnpackTasks, RefusesEveryChangedByte) {
  const Tasks tasks;
  const TaskFormat& format = tasks.packed.format;
  ASSERT_GT(format.counts.split_rows, 0U);
  ASSERT_LT(format.counts.heavy, format.counts.tasks);
  const auto in_number = [&](std::size_t at, const char* name) {
    const std::size_t begin = offsetof(Header, numbers) + 8 * tasks.position(name);
    return at >= begin && at < begin + 8;
  };
  for (std::size_t at = 0; at < tasks.intact.bytes().size(); ++at) {
    ChangeableBytes damaged = tasks.intact;
    damaged.bytes()[at] ^= std::byte{1};
    EXPECT_THROW(unpack(damaged.bytes()), FormatError) << "byte " << at;
    if (at < header_bytes) {
      damaged.seal_header();
    } else {
      damaged.seal();
    }
    // With checksums that match again some changes make another matrix: in a pair, in the number of columns, and in the
    // tasks of a block, which say nothing about the matrix.
    const bool other_matrix = at >= format.pairs_at || in_number(at, "columns") || in_number(at, "block_heavy") ||
                              in_number(at, "block_light");
    const bool in_checksum = at >= offsetof(Header, header_checksum) && at < header_bytes;
    if (!other_matrix && !in_checksum) {
      EXPECT_THROW(unpack(damaged.bytes()), FormatError) << "byte " << at << ", sealed again";
    }
  }
}

TEST(UnpackTasks, SaysWhatIsWrong) {
  const Tasks tasks;
  const auto refused = [&](auto damage, const char* words) {
    ChangeableBytes damaged = tasks.intact;
    damage(damaged);
    EXPECT_THAT([&] { unpack(damaged.bytes()); }, ThrowsMessage<FormatError>(HasSubstr(words)));
  };
  const auto number_refused = [&](const char* name, std::uint64_t value, const char* words) {
    refused([&](ChangeableBytes& p) { p.put_number(tasks.position(name), value).seal_header(); }, words);
  };
  const TaskFormat& format = tasks.packed.format;
  refused([](ChangeableBytes& p) { p.put(offsetof(Header, version), std::uint32_t{9}).seal_header(); },
          "format version 9; this program reads version 2");
  number_refused("nonzeros", format.counts.nonzeros - 1, "the header field total_bytes does not agree");
  number_refused("longest", 2048, "the header field longest is 2048; it can be a power of two from 1 to 512");
  number_refused("light", 3, "the header field light is 3; it can be a power of two from 1 to 8");
  number_refused("rows", 0x7fffffff, "the header field tasks is");
  number_refused("tasks", ~std::uint64_t{0}, "the header field tasks is");
  refused([](ChangeableBytes& p) { p.put(header_bytes + 8, std::uint32_t{9}).seal(); },
          "a non-zero is in row 9 and column");
  refused([](ChangeableBytes& p) { p.put(header_bytes + 12, ~std::uint32_t{0}).seal(); },
          "after the end of the packed matrix");
  refused([](ChangeableBytes& p) { p.put(header_bytes, ~std::uint64_t{0}).seal(); },
          "byte 256 is not what packing the matrix again gives");
  refused([&](ChangeableBytes& p) { p.put(format.pair_at(1), std::uint32_t{40}).seal(); }, "of a matrix of 9 x 40");
  refused([&](ChangeableBytes& p) { p.put(format.pair_at(1) + 4, 0.0F).seal(); },
          "is not what packing the matrix again gives");
}

}  // namespace
}  // namespace esc::transformer

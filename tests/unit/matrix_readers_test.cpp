// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "generator/matrix/drawn_value.h"
#include "generator/matrix/matrix_reader.h"
#include "generator/support/error.h"
#include "tests/unit/matrix_fixtures.h"

namespace esc {
namespace {

using testing::ElementsAre;

constexpr float infinity = std::numeric_limits<float>::infinity();

TEST(SmtxReader, TakesThePatternAndDrawsTheValues) {
  const SparseMatrix matrix = smtx_of("3, 5, 4\n0 2 2 4 \n1 4 0 3 \n", {.seed = 7});
  validate(matrix);
  EXPECT_EQ(matrix.rows, 3);
  EXPECT_EQ(matrix.columns, 5);
  EXPECT_THAT(matrix.offsets, ElementsAre(0, 2, 2, 4));
  EXPECT_THAT(matrix.column_of, ElementsAre(1, 4, 0, 3));
  EXPECT_THAT(matrix.values,
              ElementsAre(drawn_value(7, 0, 1), drawn_value(7, 0, 4), drawn_value(7, 2, 0), drawn_value(7, 2, 3)));
}

TEST(SmtxReader, DoesNotMindBlanksAndLineEnds) {
  const SparseMatrix expected = smtx_of("2, 2, 2\n0 1 2\n0 1\n");
  EXPECT_EQ(smtx_of("2,2,2\r\n0 1 2\r\n0 1"), expected);
  EXPECT_EQ(smtx_of("  2 2\t2 \n 0\t1  2 \n0 1 \n\n \n"), expected);
}

TEST(SmtxReader, TakesAMatrixOfZeros) {
  for (const char* text : {"2, 3, 0\n0 0 0\n\n", "2, 3, 0\n0 0 0\n", "2, 3, 0\n0 0 0"}) {
    const SparseMatrix matrix = smtx_of(text);
    validate(matrix);
    EXPECT_EQ(matrix.nonzeros(), 0);
    EXPECT_EQ(matrix.sparsity(), 1.0);
  }
}

TEST(SmtxReader, ReadsNumbersAcrossTheEndsOfItsBuffer) {
  constexpr std::int64_t columns = 60000;  // some 350 kB of text, numbers of one to five digits
  std::string text = "1, 60000, 60000\n0 60000\n";
  for (std::int64_t column = 0; column < columns; ++column) {
    text += std::to_string(column) + " ";
  }
  const SparseMatrix matrix = smtx_of(text + "\n");
  validate(matrix);
  EXPECT_EQ(matrix.nonzeros(), columns);
}

TEST(DrawnValue, StaysAwayFromZeroAndIsFair) {
  double sum = 0;
  double sum_of_magnitudes = 0;
  constexpr int count = 100000;
  for (int i = 0; i < count; ++i) {
    const double value = drawn_value(3, i / 100, i % 100);
    ASSERT_GE(std::fabs(value), 0.1F);
    ASSERT_LE(std::fabs(value), 1.0F);
    sum += value;
    sum_of_magnitudes += std::fabs(value);
  }
  EXPECT_NEAR(sum / count, 0.0, 0.01);
  EXPECT_NEAR(sum_of_magnitudes / count, 0.55, 0.005);
}

TEST(DrawnValue, IsTheSameEverywhere) {
  // Recorded once: a change of these numbers changes every generated bundle of a pattern-only matrix.
  EXPECT_EQ(drawn_value(0, 0, 0), 5933972 * 0x1p-24F);
  EXPECT_EQ(drawn_value(0, 0, 1), 4889918 * 0x1p-24F);
  EXPECT_EQ(drawn_value(1, 0, 0), -5081237 * 0x1p-24F);
  EXPECT_EQ(drawn_value(0, 1, 0), -8957356 * 0x1p-24F);
}

TEST(MtxReader, TakesCoordinatesInAnyOrderAndDropsZeros) {
  const SparseMatrix matrix = mtx_of(
      "%%MatrixMarket matrix coordinate real general\n% a comment\n%\n\n2 3 5\n2 3 -1.5e0\n1 3 +2\n\n2 1 0.0\n1 1 .5\n"
      "2 2 -0\n");
  validate(matrix);
  EXPECT_EQ(matrix, matrix_of(2, 3, {0.5, 0, 2, 0, 0, -1.5}));
}

TEST(MtxReader, KnowsFieldsAndSymmetries) {
  EXPECT_EQ(mtx_of("%%MatrixMarket MATRIX Coordinate Integer General\n2 2 2\n1 2 -7\n2 2 16777216\n"),
            matrix_of(2, 2, {0, -7, 0, 16777216}));
  EXPECT_EQ(mtx_of("%%MatrixMarket matrix coordinate real symmetric\n3 3 3\n3 1 2\n2 2 4\n2 3 8\n"),
            matrix_of(3, 3, {0, 0, 2, 0, 4, 8, 2, 8, 0}));
  EXPECT_EQ(mtx_of("%%MatrixMarket matrix array real general\n2 3\n1\n2\n0\n-0\n5\n6\n"),
            matrix_of(2, 3, {1, 0, 5, 2, 0, 6}));
  EXPECT_EQ(mtx_of("%%MatrixMarket matrix array integer symmetric\n2 2\n1\n2\n3\n"), matrix_of(2, 2, {1, 2, 2, 3}));
  EXPECT_EQ(mtx_of("%%MatrixMarket matrix coordinate real general\n2 2 0\n"), matrix_of(2, 2, {0, 0, 0, 0}));
}

TEST(MtxReader, DrawsTheValuesOfAPattern) {
  EXPECT_EQ(mtx_of("%%MatrixMarket matrix coordinate pattern general\n3 5 4\n3 4\n1 2\n3 1\n1 5\n", {.seed = 7}),
            smtx_of("3, 5, 4\n0 2 2 4 \n1 4 0 3 \n", {.seed = 7}));
  const SparseMatrix symmetric =
      mtx_of("%%MatrixMarket matrix coordinate pattern symmetric\n2 2 2\n2 1\n1 1\n", {.seed = 7});
  EXPECT_EQ(symmetric, matrix_of(2, 2, {drawn_value(7, 0, 0), drawn_value(7, 1, 0), drawn_value(7, 1, 0), 0}));
  EXPECT_EQ(mtx_of("%%MatrixMarket matrix coordinate pattern symmetric\n2 2 2\n1 2\n1 1\n", {.seed = 7}), symmetric)
      << "either triangle may be given";
}

TEST(MtxReader, RoundsOnceAndKeepsDenormals) {
  const SparseMatrix matrix = mtx_of(
      "%%MatrixMarket matrix array real general\n1 4\n1.00000017881393432617187499\n1.4e-45\n3.4028235e38\n0e99\n");
  EXPECT_THAT(matrix.values,
              ElementsAre(1.00000012F, std::numeric_limits<float>::denorm_min(), std::numeric_limits<float>::max()));
}

TEST(NpyReader, TakesEveryVersionTypeAndOrder) {
  const SparseMatrix expected = matrix_of(2, 3, {0, 1.5, -2, 4, 0, 0});
  const std::string f4 = raw_bytes<float>({0, 1.5, -2, 4, -0.0F, 0});
  for (const int version : {1, 2, 3}) {
    EXPECT_EQ(npy_of(npy_bytes(npy_dictionary("<f4", false, "(2, 3)"), f4, version)), expected);
  }
  EXPECT_EQ(npy_of(npy_bytes(npy_dictionary("<f8", false, "(2L, 3L,)"), raw_bytes<double>({0, 1.5, -2, 4, -0.0, 0}))),
            expected);
  EXPECT_EQ(npy_of(npy_bytes(npy_dictionary("<f2", false, "(2,3)"),
                             raw_bytes<std::uint16_t>({0, 0x3e00, 0xc000, 0x4400, 0x8000, 0}))),
            expected);
  EXPECT_EQ(npy_of(npy_bytes(npy_dictionary("<f4", true, "(2, 3)"), raw_bytes<float>({0, 4, 1.5, -0.0F, -2, 0}))),
            expected);
  EXPECT_EQ(npy_of(npy_bytes("{\"shape\":(2,3),\"fortran_order\":False,\"descr\":\"<f4\"}   ", f4)), expected);
}

TEST(NpyReader, TakesWeightsOfAConvolutionAsRowsOfFilters) {
  std::vector<float> weights(2 * 3 * 2 * 2);
  for (std::size_t at = 0; at < weights.size(); ++at) {
    weights[at] = at % 3 == 1 ? 0.0F : static_cast<float>(at + 1);
  }
  EXPECT_EQ(npy_of(npy_bytes(npy_dictionary("<f4", false, "(2, 3, 2, 2)"), raw_bytes<float>(weights))),
            matrix_of(2, 12, weights));
}

TEST(NpyReader, WidensFloat16) {
  const SparseMatrix matrix = npy_of(npy_bytes(npy_dictionary("<f2", false, "(1, 5)"),
                                               raw_bytes<std::uint16_t>({0x0001, 0x83ff, 0x0400, 0x7bff, 0x3555})));
  EXPECT_THAT(matrix.values, ElementsAre(0x1p-24F, -0x3ffp-24F, 0x1p-14F, 65504.0F, 0x1.554p-2F));
}

TEST(NpyReader, ReadsRowsAcrossTheEndsOfItsChunks) {
  constexpr std::int64_t rows = 37;
  constexpr std::int64_t columns = 5003;  // 185,111 elements: rows lie across chunks
  std::vector<float> dense(rows * columns);
  for (std::size_t i = 0; i < dense.size(); ++i) {
    dense[i] = i % 3 == 0 || i % 7 == 0 ? static_cast<float>(i + 1) : 0.0F;
  }
  const SparseMatrix expected = matrix_of(rows, columns, dense);
  EXPECT_EQ(npy_of(npy_bytes(npy_dictionary("<f4", false, "(37, 5003)"), raw_bytes<float>(dense))), expected);
  std::vector<float> by_column;
  for (std::int64_t column = 0; column < columns; ++column) {
    for (std::int64_t row = 0; row < rows; ++row) {
      by_column.push_back(dense[static_cast<std::size_t>(row * columns + column)]);
    }
  }
  EXPECT_EQ(npy_of(npy_bytes(npy_dictionary("<f4", true, "(37, 5003)"), raw_bytes<float>(by_column))), expected);
}

TEST(Readers, TakeValuesThatAreNotFiniteWhenAllowed) {
  const ReadOptions options{.seed = 0, .allow_nonfinite = true};
  const SparseMatrix npy =
      npy_of(npy_bytes(npy_dictionary("<f4", false, "(1, 2)"), raw_bytes<float>({-infinity, std::nanf("")})), options);
  validate(npy);
  EXPECT_EQ(npy.values[0], -infinity);
  EXPECT_TRUE(std::isnan(npy.values[1]));
  const SparseMatrix mtx = mtx_of("%%MatrixMarket matrix array real general\n1 2\n-inf\nnan\n", options);
  EXPECT_EQ(mtx.values[0], -infinity);
  EXPECT_TRUE(std::isnan(mtx.values[1]));
  const SparseMatrix doubles = npy_of(
      npy_bytes(npy_dictionary("<f8", false, "(1, 1)"), raw_bytes<double>({std::numeric_limits<double>::infinity()})),
      options);
  EXPECT_EQ(doubles.values[0], infinity);
}

TEST(ReadMatrix, ChoosesByTheEndingInAnyCase) {
  const TestFolder folder;
  const SparseMatrix expected = smtx_of("1, 2, 1\n0 1\n1\n");
  EXPECT_EQ(read_matrix(folder.file("a.smtx", "1, 2, 1\n0 1\n1\n")), expected);
  EXPECT_EQ(read_matrix(folder.file("b.MTX", "%%MatrixMarket matrix coordinate pattern general\n1 2 1\n1 2\n")),
            expected);
  EXPECT_EQ(
      read_matrix(folder.file("c.Npy", npy_bytes(npy_dictionary("<f4", false, "(1, 2)"),
                                                 raw_bytes<float>({0, static_cast<float>(drawn_value(0, 0, 1))})))),
      expected);
}

TEST(ReadWeightShape, HasTheExtentsOfFourDimensions) {
  const TestFolder folder;
  const std::string data = raw_bytes<float>({1, 2, 3, 4, 5, 6});
  EXPECT_EQ(read_weight_shape(folder.file("a.npy", npy_bytes(npy_dictionary("<f4", false, "(1, 3, 2, 1)"), data))),
            (std::vector<std::int64_t>{1, 3, 2, 1}));
  EXPECT_TRUE(read_weight_shape(folder.file("b.NPY", npy_bytes(npy_dictionary("<f4", false, "(3, 2)"), data))).empty());
  EXPECT_TRUE(read_weight_shape(folder.file("a.smtx", "1, 2, 1\n0 1\n1\n")).empty());
  EXPECT_THROW(read_weight_shape(folder.file("c.npy", npy_bytes(npy_dictionary("<f4", false, "(6)"), data))),
               UserError);
  EXPECT_THROW(read_weight_shape("no_such_file.npy"), UserError);
}

TEST(FileSource, ReadsTwice) {
  const TestFolder folder;
  FileSource source(folder.file("a", "abcdef"));
  EXPECT_EQ(source.size(), 6U);
  std::string text(4, ' ');
  const auto buffer = std::as_writable_bytes(std::span(text));
  EXPECT_EQ(source.read(buffer), 4U);
  EXPECT_EQ(source.read(buffer), 2U);
  EXPECT_EQ(text, "efcd");
  source.rewind();
  EXPECT_EQ(source.read(buffer), 4U);
  EXPECT_EQ(text, "abcd");
}

/// A file that another program rewrites between the first and the later readings.
class ChangingSource final : public ByteSource {
 public:
  ChangingSource(std::string before, std::string after)
      : ByteSource("a file", before.size()), before_(std::move(before)), after_(std::move(after)) {}

  /// `readings` is how often `before` is read.
  ChangingSource& after_readings(int readings) {
    readings_left_ = readings;
    return *this;
  }
  std::size_t read(std::span<std::byte> buffer) override {
    const std::string& text = readings_left_ >= 0 ? before_ : after_;
    const std::size_t count = std::min(buffer.size(), text.size() - position_);
    std::memcpy(buffer.data(), text.data() + position_, count);
    position_ += count;
    return count;
  }
  void rewind() override {
    position_ = 0;
    --readings_left_;
  }

 private:
  std::string before_;
  std::string after_;
  int readings_left_ = 1;
  std::size_t position_ = 0;
};

TEST(Readers, NoticeAFileThatChangesMeanwhile) {
  const auto expect_refusal = [](ByteSource& source, SparseMatrix (*read)(ByteSource&, const ReadOptions&)) {
    try {
      read(source, {});
      FAIL() << "nothing was noticed";
    } catch (const UserError& error) {
      EXPECT_THAT(error.rule(), testing::HasSubstr("changed while it was being read"));
    }
  };
  for (const bool is_fortran_order : {false, true}) {
    const std::string header = npy_dictionary("<f4", is_fortran_order, "(2, 2)");
    const std::string few = npy_bytes(header, raw_bytes<float>({1, 0, 0, 0}));
    const std::string many = npy_bytes(header, raw_bytes<float>({1, 1, 0, 1}));
    expect_refusal(ChangingSource(few, many).after_readings(2), read_npy);
    expect_refusal(ChangingSource(many, few).after_readings(2), read_npy);
  }
  const std::string banner = "%%MatrixMarket matrix coordinate real general\n";
  expect_refusal(ChangingSource(banner + "2 2 1\n1 1 1\n", banner + "2 2 1\n2 1 1\n").after_readings(2), read_mtx);
  expect_refusal(ChangingSource(banner + "2 2 1\n1 1 1\n", banner + "3 2 1\n3 1 1\n").after_readings(1), read_mtx);
}

RC_GTEST_PROP(Readers, MtxDoesNotDependOnTheOrderOfEntries, (std::uint64_t seed)) {
  const int rows = *rc::gen::inRange(1, 12);
  const int columns = *rc::gen::inRange(1, 12);
  const auto dense = *rc::gen::container<std::vector<float>>(static_cast<std::size_t>(rows * columns),
                                                             rc::gen::element(0.0F, 0.0F, 1.0F, -2.5F));
  std::vector<std::string> lines;
  for (int i = 0; i < rows * columns; ++i) {
    if (dense[static_cast<std::size_t>(i)] != 0.0F) {
      lines.push_back(std::to_string(i / columns + 1) + " " + std::to_string(i % columns + 1) + " " +
                      std::to_string(dense[static_cast<std::size_t>(i)]) + "\n");
    }
  }
  for (std::size_t last = lines.size(); last > 1; --last) {
    std::swap(lines[last - 1], lines[mix_bits(seed + last) % last]);
  }
  std::string text = "%%MatrixMarket matrix coordinate real general\n" + std::to_string(rows) + " " +
                     std::to_string(columns) + " " + std::to_string(lines.size()) + "\n";
  for (const std::string& line : lines) {
    text += line;
  }
  RC_ASSERT(mtx_of(text) == matrix_of(rows, columns, dense));
}

}  // namespace
}  // namespace esc

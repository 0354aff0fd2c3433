// SPDX-License-Identifier: Apache-2.0
// The generated transformer: filled in for small matrices, compiled by the host's compiler with its warnings as errors,
// and run. It must write the library's bytes, and refuse with a reason.

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "generator/emit/pattern_text.h"
#include "generator/emit/templates.h"
#include "generator/emit/text_template.h"
#include "generator/support/file.h"
#include "tests/unit/transformer_matrices.h"
#include "transformer/pack.h"
#include "transformer/packing_text.h"
#include "transformer/tensor_float.h"

namespace esc::transformer {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

/// Calls one function of the transformer: `driver FUNCTION INPUT OUTPUT ROWS COLUMNS`. Prints its status and reason.
/// What packs into any buffer is told BYTES of it, and bytes_for prints what it returns.
constexpr const char* driver_text = R"driver(
#define ESC_HOST_ONLY
#include "tiny.h"
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

template <typename Element>
static std::vector<Element> take(FILE* file, size_t count) {
  std::vector<Element> elements(count);
  elements.resize(fread(elements.data(), sizeof(Element), count, file));
  return elements;
}

int main(int, char** arguments) {
  const std::string function = arguments[1];
  const size_t rows = std::strtoul(arguments[4], nullptr, 10);
  const size_t columns = std::strtoul(arguments[5], nullptr, 10);
  const size_t bytes = arguments[6] != nullptr ? std::strtoul(arguments[6], nullptr, 10) : tiny_packed_bytes();
  std::vector<unsigned char> packed(bytes + 16, 0xa5);
  FILE* const input = fopen(arguments[2], "rb");
  int status = -1;
  if (function == "dense") {
    const std::vector<ARGUMENT> a = take<ARGUMENT>(input, rows * columns);
    const int64_t lda = static_cast<int64_t>(columns);
#ifdef TAKES_ANY_PATTERN
    if (arguments[6] != nullptr) {
      std::printf("%zu ", tiny_bytes_for(a.data(), lda));
      status = tiny_transform_into(a.data(), lda, packed.data(), bytes);
    }
#endif
    status = arguments[6] != nullptr ? status : tiny_transform(a.data(), lda, packed.data());
  } else if (function == "csr") {
    const std::vector<int32_t> offsets = take<int32_t>(input, rows + 1);
    const size_t nonzeros = static_cast<size_t>(offsets.back());
    const std::vector<int32_t> column_of = take<int32_t>(input, nonzeros);
    const std::vector<ARGUMENT> values = take<ARGUMENT>(input, nonzeros);
#ifdef TAKES_ANY_PATTERN
    if (arguments[6] != nullptr) {
      std::printf("%zu ", tiny_bytes_for_csr(offsets.data(), column_of.data(), values.data()));
      status = tiny_transform_csr_into(offsets.data(), column_of.data(), values.data(), packed.data(), bytes);
    }
#endif
    status = arguments[6] != nullptr
                 ? status
                 : tiny_transform_csr(offsets.data(), column_of.data(), values.data(), packed.data());
  } else if (function == "load") {
    status = tiny_load(arguments[2], packed.data());
  } else if (function == "bad_arguments") {
    const ARGUMENT a = 0;
    std::printf("%d %s\n", tiny_transform(nullptr, 1, packed.data()), tiny_transform_error());
    std::printf("%d %s\n", tiny_transform(&a, 1, packed.data()), tiny_transform_error());
    std::printf("%d %s\n", tiny_transform(&a, 1000, nullptr), tiny_transform_error());
    std::printf("%d %s\n", tiny_transform(&a, 1000, packed.data() + 4), tiny_transform_error());
    std::printf("%d %s\n", tiny_transform_csr(nullptr, nullptr, &a, packed.data()), tiny_transform_error());
    std::printf("%d %s\n", tiny_load(nullptr, packed.data()), tiny_transform_error());
#ifdef TAKES_ANY_PATTERN
    std::printf("%zu %s\n", tiny_bytes_for(nullptr, 1), tiny_transform_error());
    std::printf("%zu %s\n", tiny_bytes_for(&a, 1), tiny_transform_error());
    std::printf("%zu %s\n", tiny_bytes_for_csr(nullptr, nullptr, &a), tiny_transform_error());
    std::printf("%d %s\n", tiny_transform_into(&a, 1000, nullptr, 0), tiny_transform_error());
    std::printf("%d %s\n", tiny_transform_into(nullptr, 1000, packed.data(), 0), tiny_transform_error());
    std::printf("%d %s\n", tiny_transform_csr_into(nullptr, nullptr, &a, packed.data(), 0), tiny_transform_error());
#endif
    return 0;
  }
  std::printf("%d %s", status, tiny_transform_error());
  for (size_t i = bytes; i < packed.size(); ++i) {
    if (packed[i] != 0xa5) {
      std::printf(" WROTE After THE BUFFER");
    }
  }
  if (status == 0) {
    FILE* const output = fopen(arguments[3], "wb");
    fwrite(packed.data(), 1, bytes, output);
    fclose(output);
  }
  return 0;
}
)driver";

/// What the transformer of a matrix takes: bitmaps of any pattern with as full packed tiles, or with fuller ones.
template <typename Format>
TakenPatterns patterns_of(const CsrMatrix& matrix, const Format& format, std::uint32_t further_words) {
  TakenPatterns patterns{pattern_digests(matrix.view(), format.shape.height), ""};
  if constexpr (Format::takes_any_pattern) {
    patterns.kernel_shape = fmt::format("with_room(layer_format.shape, {})", format.shape.most_words + further_words);
  }
  return patterns;
}

template <typename Element>
std::string text_of(const std::vector<double>& values) {
  std::string text;
  for (const double value : values) {
    const Element element(static_cast<Element>(value));
    text.append(reinterpret_cast<const char*>(&element), sizeof element);
  }
  return text;
}

/// The stored values as the caller of a transformer has them.
std::string elements_text(const CsrMatrix& matrix) {
  return matrix.element == ScalarType::f16    ? text_of<Float16>(matrix.values)
         : matrix.element == ScalarType::bf16 ? text_of<BFloat16>(matrix.values)
                                              : text_of<float>(matrix.values);
}

/// The same of the dense matrix.
std::string dense_text(const CsrMatrix& matrix) {
  CsrMatrix dense = matrix;
  dense.values.assign(static_cast<std::size_t>(matrix.rows * matrix.columns), -0.0);
  for (std::size_t row = 0; row + 1 < matrix.offsets.size(); ++row) {
    for (auto at = static_cast<std::size_t>(matrix.offsets[row]);
         at < static_cast<std::size_t>(matrix.offsets[row + 1]); ++at) {
      dense.values[row * static_cast<std::size_t>(matrix.columns) + static_cast<std::size_t>(matrix.column_of[at])] =
          matrix.values[at];
    }
  }
  return elements_text(dense);
}

/// Runs a command of the shell; what it prints.
std::string output_of(const std::string& command) {
  std::string text;
  FILE* const pipe = popen((command + " 2>&1").c_str(), "r");
  for (int character; (character = fgetc(pipe)) != EOF;) {
    text += static_cast<char>(character);
  }
  const int status = pclose(pipe);
  return status == 0 ? text : text + fmt::format(" [status {}]", status);
}

/// The bundle `tiny` of one matrix in a folder of its own, compiled.
class Transformer {
 public:
  Transformer(const DenseMatrix& matrix, const ListCut& cut) : Transformer(to_csr(matrix), cut) {}
  template <typename Cut>
  Transformer(const CsrMatrix& matrix, const Cut& cut, Reading reading = Reading::as_they_are,
              std::uint32_t further_words = 0)
      : rows_(matrix.rows), columns_(matrix.columns), packed_(text(pack(matrix.view(), cut).bytes.span())) {
    const auto format = plan(matrix.view(), cut);
    std::map<std::string, std::string> holes = element_holes(matrix.element, reading);
    const std::string argument = holes.at("ARGUMENT");
    std::string name = (std::filesystem::temp_directory_path() / "esc_transformer_XXXXXX").string();
    folder_ = mkdtemp(name.data());
    const std::string provenance = "// Made by a test.";
    const std::string check = format.takes_any_pattern ? "" : pattern_check_text();
    holes.merge(std::map<std::string, std::string>{{"PROVENANCE", provenance},
                                                   {"NAME", "tiny"},
                                                   {"PACKING_TEXT", packing_text(format, reading) + check},
                                                   {"ROWS", std::to_string(rows_)},
                                                   {"COLUMNS", std::to_string(columns_)},
                                                   {"LAYER_FORMAT", layer_format_text(format)},
                                                   {"PACKED_BYTES", std::to_string(format.bytes)}});
    holes.merge(pattern_holes(patterns_of(matrix, format, further_words), holes));
    holes.erase("PACKED_SOURCE");
    write_file_whole(folder_ / "tiny_transformer.cpp", fill(transformer_template, holes));
    std::map<std::string, std::string> header_holes = header_pattern_holes(format.takes_any_pattern, "tiny", argument);
    header_holes.merge(std::map<std::string, std::string>{{"PROVENANCE", provenance},
                                                          {"NOTES", ""},
                                                          {"UNPACK", ""},
                                                          {"DEVICE_FUNCTIONS", "two"},
                                                          {"EPILOGUE", ""},
                                                          {"OPERANDS", ""},
                                                          {"OPERAND_NAMES", ""},
                                                          {"NAME", "tiny"},
                                                          {"ROWS", std::to_string(rows_)},
                                                          {"COLUMNS", std::to_string(columns_)},
                                                          {"ELEMENT", argument},
                                                          {"HOST_ELEMENT", argument},
                                                          {"DECLARATION", ""},
                                                          {"BITS", ""},
                                                          {"TYPE", "float32"},
                                                          {"BCOL", "32"},
                                                          {"FORMS", ""},
                                                          {"NOT_PREPARED", ""},
                                                          {"PLACES", ""}});
    write_file_whole(folder_ / "tiny.h", fill(header_template, header_holes));
    write_file_whole(folder_ / "driver.cpp", std::string_view(driver_text));
    write_file_whole(folder_ / "tiny.packed", std::string_view(packed_));
    constexpr const char* strict = "-Wall -Wextra -Wpedantic -Wshadow -Werror";
    // The header is included before the transformer here, so that the compiler compares the two.
    compiler_output_ = output_of(fmt::format(
        "cd {0} && {1} -x c -std=c99 {2} -DESC_HOST_ONLY -fsyntax-only tiny.h && "
        "{1} -std=c++17 {2} -DESC_HOST_ONLY -include tiny.h -c tiny_transformer.cpp && "
        "{1} -std=c++17 {2} -DARGUMENT={3}{4} driver.cpp tiny_transformer.o -o driver",
        folder_.string(), ESC_HOST_COMPILER, strict, argument, format.takes_any_pattern ? " -DTAKES_ANY_PATTERN" : ""));
  }
  Transformer(const Transformer&) = delete;
  Transformer& operator=(const Transformer&) = delete;
  ~Transformer() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }

  const std::string& compiler_output() const { return compiler_output_; }
  const std::string& packed_by_library() const { return packed_; }
  std::filesystem::path packed_file() const { return folder_ / "tiny.packed"; }

  /// Status and reason of a call; what it wrote is then in `packed`.
  std::string dense(const DenseMatrix& matrix) {
    std::string input;
    for (std::int64_t i = 0; i < rows_; ++i) {
      input += text(std::as_bytes(
          std::span(&matrix.values[static_cast<std::size_t>(i * matrix.lda)], static_cast<std::size_t>(columns_))));
    }
    return dense(input);
  }
  std::string dense(const std::string& elements) {
    write_file_whole(folder_ / "input", std::string_view(elements));
    return call("dense", folder_ / "input");
  }
  std::string csr(const CsrMatrix& matrix) {
    const std::vector<std::int32_t> offsets(matrix.offsets.begin(), matrix.offsets.end());
    write_file_whole(folder_ / "input",
                     std::string_view(text(std::as_bytes(std::span(offsets))) +
                                      text(std::as_bytes(std::span(matrix.column_of))) + elements_text(matrix)));
    return call("csr", folder_ / "input");
  }
  std::string load(const std::filesystem::path& file) { return call("load", file); }
  std::string call(const char* function, const std::filesystem::path& input) {
    std::filesystem::remove(folder_ / "output");
    return output_of(fmt::format("{}/driver {} {} {}/output {} {}{}", folder_.string(), function, input.string(),
                                 folder_.string(), rows_, columns_, bytes_.empty() ? "" : " " + bytes_));
  }
  /// From now on dense and csr are the functions that are told how many bytes there are.
  void pack_into(std::uint64_t bytes) { bytes_ = std::to_string(bytes); }
  std::string packed() const { return read_file(folder_ / "output"); }

  static std::string text(std::span<const std::byte> bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }

 private:
  std::int64_t rows_;
  std::int64_t columns_;
  std::string packed_;  ///< by the library
  std::string bytes_;   ///< that there are, where functions are told
  std::filesystem::path folder_;
  std::string compiler_output_;
};

class GeneratedTransformer : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    matrix_ = new DenseMatrix(random_matrix(4100, 9, 0.4, 1));
    matrix_->at(7, 3) = 0.0f;
    matrix_->at(7, 4) = 8.0f;
    transformer_ = new Transformer(*matrix_, {.height = 3, .max_list_columns = 2});
  }
  static void TearDownTestSuite() {
    delete transformer_;
    delete matrix_;
  }
  void SetUp() override { ASSERT_EQ(transformer_->compiler_output(), ""); }

  static inline DenseMatrix* matrix_ = nullptr;
  static inline Transformer* transformer_ = nullptr;
};

TEST_F(GeneratedTransformer, WritesTheBytesOfTheLibrary) {
  EXPECT_EQ(transformer_->dense(*matrix_), "0 ");
  EXPECT_EQ(transformer_->packed(), transformer_->packed_by_library());
  EXPECT_EQ(transformer_->csr(to_csr(*matrix_, true)), "0 ");
  EXPECT_EQ(transformer_->packed(), transformer_->packed_by_library());
}

TEST_F(GeneratedTransformer, AcceptsNewValues) {
  DenseMatrix doubled = *matrix_;
  for (float& value : doubled.values) {
    value *= 2.0f;
  }
  EXPECT_EQ(transformer_->dense(doubled), "0 ");
  const auto expected = pack(to_csr(doubled).view(), ListCut{.height = 3, .max_list_columns = 2});
  EXPECT_EQ(transformer_->packed(),
            std::string(reinterpret_cast<const char*>(expected.bytes.span().data()), expected.bytes.span().size()));
}

TEST_F(GeneratedTransformer, RefusesAnotherPatternAndSaysWhere) {
  DenseMatrix moved = *matrix_;
  std::swap(moved.at(7, 3), moved.at(7, 4));
  // 1,367 row tiles of 3 rows make groups of 2 row tiles: row 7 is in the second, rows 6 to 11.
  std::size_t nonzeros = 0;
  for (std::int64_t i = 6; i < 12; ++i) {
    for (std::int64_t k = 0; k < 9; ++k) {
      nonzeros += moved.at(i, k) != 0.0f;
    }
  }
  EXPECT_EQ(transformer_->dense(moved),
            fmt::format("2 tiny: rows 6 to 11 differ from the pattern that the kernel was made for: {0} non-zeros in "
                        "other places, {0} expected; a value that is zero where the pattern has a non-zero is a "
                        "difference too",
                        nonzeros));
  EXPECT_THAT(transformer_->csr(to_csr(moved)), StartsWith("2 tiny: rows 6 to 11 differ"));

  DenseMatrix zeroed = *matrix_;
  zeroed.at(7, 4) = 0.0f;
  EXPECT_THAT(transformer_->dense(zeroed),
              HasSubstr(fmt::format("rows 6 to 11 differ from the pattern that the kernel was made for: {} non-zeros, "
                                    "{} expected",
                                    nonzeros - 1, nonzeros)));
  CsrMatrix stored_zero = to_csr(*matrix_);
  stored_zero.values.back() = 0.0f;
  EXPECT_THAT(transformer_->csr(stored_zero), StartsWith("2 tiny: rows "));
}

TEST_F(GeneratedTransformer, RefusesMalformedRows) {
  const CsrMatrix good = to_csr(*matrix_);
  std::size_t row = 0;
  while (good.offsets[row + 1] - good.offsets[row] < 2) {
    ++row;
  }
  const auto first = static_cast<std::size_t>(good.offsets[row]);
  CsrMatrix bad = good;
  std::swap(bad.column_of[first], bad.column_of[first + 1]);
  EXPECT_EQ(transformer_->csr(bad), fmt::format("1 tiny: row {}: the column indices do not increase", row));
  bad = good;
  bad.column_of[first] = 9;
  EXPECT_EQ(transformer_->csr(bad), fmt::format("1 tiny: row {}: a column index lies outside the matrix", row));
  bad = good;
  bad.offsets[row + 1] = bad.offsets.back() + 1;
  EXPECT_EQ(transformer_->csr(bad), fmt::format("1 tiny: row {}: it ends before it starts", row + 1));
  bad = good;
  bad.offsets[0] = 1;
  EXPECT_EQ(transformer_->csr(bad), "1 tiny: the offsets do not start at 0");
}

TEST_F(GeneratedTransformer, RefusesBadArguments) {
  EXPECT_EQ(transformer_->call("bad_arguments", "none"),
            "1 tiny: a is null\n"
            "1 tiny: lda is less than 9, the columns of a\n"
            "1 tiny: packed is null\n"
            "1 tiny: packed is not aligned to 8 bytes\n"
            "1 tiny: offsets is null\n"
            "1 tiny: path is null\n");
}

TEST_F(GeneratedTransformer, LoadsThePackedFileAndRefusesAnother) {
  EXPECT_EQ(transformer_->load(transformer_->packed_file()), "0 ");
  EXPECT_EQ(transformer_->packed(), transformer_->packed_by_library());

  const std::string good = transformer_->packed_by_library();
  const std::filesystem::path file = transformer_->packed_file().string() + ".changed";
  const auto load_changed = [&](const std::string& bytes) {
    write_file_whole(file, std::string_view(bytes));
    return transformer_->load(file);
  };
  EXPECT_EQ(load_changed(good.substr(0, good.size() - 1)), "4 tiny: the packed file is too short");
  EXPECT_EQ(load_changed(good + "x"), "4 tiny: the packed file is too long");
  std::string changed = good;
  changed[good.size() - 300] ^= 1;
  EXPECT_EQ(load_changed(changed), "4 tiny: the packed file is damaged: its checksum does not match");
  changed = good;
  changed[0] = 'X';
  EXPECT_EQ(load_changed(changed),
            "4 tiny: the packed file is not the one of this kernel, or is damaged: its header differs in magic");
  changed = good;
  changed[offsetof(Header, numbers) + 8 * position_of(ListFormat{}, "lists")] ^= 1;
  EXPECT_THAT(load_changed(changed), HasSubstr("its header differs in lists"));
  EXPECT_EQ(transformer_->load(file.string() + ".none"), "3 tiny: the packed file cannot be opened");
}

TEST(GeneratedTransformerOfZeros, PacksAMatrixWithoutNonZeros) {
  const DenseMatrix matrix{5, 70000, std::vector<float>(350000)};
  Transformer transformer(matrix, {.height = 4});
  ASSERT_EQ(transformer.compiler_output(), "");
  EXPECT_EQ(transformer.dense(matrix), "0 ");
  EXPECT_EQ(transformer.packed(), transformer.packed_by_library());
  EXPECT_EQ(transformer.csr(to_csr(matrix)), "0 ");
  EXPECT_EQ(transformer.packed(), transformer.packed_by_library());
}

template <typename Cut>
void expect_packed(const CsrMatrix& matrix, const Cut& cut) {
  Transformer transformer(matrix, cut);
  ASSERT_EQ(transformer.compiler_output(), "");
  EXPECT_EQ(transformer.csr(matrix), "0 ");
  EXPECT_EQ(transformer.packed(), transformer.packed_by_library());
  EXPECT_EQ(transformer.dense(dense_text(matrix)), "0 ");
  EXPECT_EQ(transformer.packed(), transformer.packed_by_library());
  CsrMatrix zeroed = matrix;
  *std::ranges::find_if(zeroed.values, [](double value) { return value != 0; }) = -0.0;
  if constexpr (!decltype(plan(matrix.view(), cut))::takes_any_pattern) {
    EXPECT_THAT(transformer.csr(zeroed), StartsWith("2 tiny: rows "));
  }
}

template <typename Cut>
void expect_halves_packed(ScalarType element, const Cut& cut) {
  expect_packed(in_halves(to_csr(random_matrix(45, 77, 0.4, 6), true), element), cut);
}

TEST(GeneratedTransformerOfFragments, PacksFloats) {
  const CsrMatrix matrix = to_csr(random_matrix(45, 177, 0.4, 6), true);
  expect_packed(matrix, FragmentCut{.block_row_tiles = 2, .steps = 4, .residuals = 5});
  expect_packed(matrix, FragmentCut{.block_row_tiles = 2, .dense = 1, .listed = 300});
  expect_packed(
      matrix,
      FragmentCut{.block_row_tiles = 2, .dense = 1, .listed = 300, .placed = placed_halves, .joined = 2, .shares = 4});
}

/// What a caller has before it is rounded is packed as the matrix of what it is rounded to.
template <typename Cut>
void expect_rounded(const Cut& cut) {
  CsrMatrix given = to_csr(random_matrix(45, 177, 0.4, 6));
  for (double& value : given.values) {
    value = static_cast<float>(value * 1.2345);
  }
  CsrMatrix matrix = given;
  for (double& value : matrix.values) {
    value = TensorFloat{static_cast<float>(value)}.rounded();
  }
  ASSERT_NE(matrix.values, given.values);
  Transformer transformer(matrix, cut, Reading::rounded_to_tf32);
  ASSERT_EQ(transformer.compiler_output(), "");
  EXPECT_EQ(transformer.csr(given), "0 ");
  EXPECT_EQ(transformer.packed(), transformer.packed_by_library());
  EXPECT_EQ(transformer.dense(dense_text(given)), "0 ");
  EXPECT_EQ(transformer.packed(), transformer.packed_by_library());
  CsrMatrix vanishing = given;
  vanishing.values.back() = 0x1p-140;
  EXPECT_THAT(transformer.csr(vanishing), StartsWith("2 tiny: rows ")) << "which is zero in tf32";
}

TEST(GeneratedTransformerOfTf32, RoundsWhatItReads) {
  expect_rounded(ListCut{.height = 3});
  expect_rounded(RegionCut{.height = 2, .warp_row_tiles = 2, .block_row_tiles = 4});
  expect_rounded(TaskCut{.longest = 16, .light = 4});
  expect_rounded(FragmentCut{.block_row_tiles = 2, .steps = 4, .residuals = 5});
}

TEST(GeneratedTransformerOfHalves, TakesTheBitsOfTheElements) {
  expect_halves_packed(ScalarType::f16, ListCut{.height = 3});
  expect_halves_packed(ScalarType::bf16, RegionCut{.height = 2, .warp_row_tiles = 2, .block_row_tiles = 4});
  expect_halves_packed(ScalarType::f16, TaskCut{.longest = 16, .light = 4});
  expect_halves_packed(ScalarType::f16, BitmapCut{});
  expect_halves_packed(ScalarType::bf16, BitmapCut{});
}

/// A matrix of 45 x 300, of which a kernel is made that takes others of this shape.
class GeneratedTransformerOfAnyPattern : public testing::Test {
 protected:
  static CsrMatrix drawn(double density, std::uint64_t seed) {
    return in_halves(to_csr(random_matrix(45, 300, density, seed), true), ScalarType::f16);
  }
  static Packed<BitmapFormat> packed(const CsrMatrix& matrix) { return pack(matrix.view(), BitmapCut{}); }
  /// The packed matrix with zeros after it.
  static std::string padded(const Packed<BitmapFormat>& matrix, std::uint64_t bytes) {
    std::string text = Transformer::text(matrix.bytes.span());
    text.resize(bytes, '\0');
    return text;
  }
};

TEST_F(GeneratedTransformerOfAnyPattern, PacksWhatNeedsNoMoreBytes) {
  const CsrMatrix own = drawn(0.5, 1), thinner = drawn(0.3, 2);
  Transformer transformer(own, BitmapCut{});
  ASSERT_EQ(transformer.compiler_output(), "");
  const std::uint64_t bytes = packed(own).format.bytes;
  ASSERT_LT(packed(thinner).format.bytes, bytes);
  EXPECT_EQ(transformer.csr(thinner), "0 ");
  EXPECT_EQ(transformer.packed(), padded(packed(thinner), bytes));
  EXPECT_EQ(transformer.dense(dense_text(thinner)), "0 ");
  EXPECT_EQ(transformer.packed(), padded(packed(thinner), bytes));
  EXPECT_EQ(unpack(packed(thinner).bytes.span()).column_of.size(),
            static_cast<std::size_t>(std::ranges::count_if(thinner.values, [](double v) { return v != 0; })));
}

TEST_F(GeneratedTransformerOfAnyPattern, SaysHowManyBytesAreNeeded) {
  const CsrMatrix own = drawn(0.3, 1), fuller = drawn(0.6, 2);
  Transformer transformer(own, BitmapCut{}, Reading::as_they_are, 40);
  ASSERT_EQ(transformer.compiler_output(), "");
  const std::uint64_t bytes = packed(own).format.bytes, needed = packed(fuller).format.bytes;
  const std::string refusal = fmt::format(
      "2 tiny: this pattern needs {} bytes, the kernel's packed matrix has {}: call tiny_bytes_for and "
      "tiny_transform_into",
      needed, bytes);
  EXPECT_EQ(transformer.csr(fuller), refusal);
  EXPECT_EQ(transformer.dense(dense_text(fuller)), refusal);
  for (const std::uint64_t more : {0, 8, 1000}) {
    transformer.pack_into(needed + more);
    EXPECT_EQ(transformer.csr(fuller), fmt::format("{} 0 ", needed));
    EXPECT_EQ(transformer.packed(), padded(packed(fuller), needed + more));
    EXPECT_EQ(transformer.dense(dense_text(fuller)), fmt::format("{} 0 ", needed));
    EXPECT_EQ(transformer.packed(), padded(packed(fuller), needed + more));
  }
  for (const std::uint64_t room : {needed - 1, needed - 32, std::uint64_t{512}, std::uint64_t{8}, std::uint64_t{0}}) {
    transformer.pack_into(room);
    EXPECT_EQ(transformer.csr(fuller),
              fmt::format("{0} 2 tiny: this pattern needs {0} bytes, more than there are of packed", needed));
  }
}

TEST_F(GeneratedTransformerOfAnyPattern, RefusesUnitsThatTheKernelHasNoRoomFor) {
  const CsrMatrix own = drawn(0.3, 1), full = drawn(1, 2);
  Transformer transformer(own, BitmapCut{}, Reading::as_they_are, 3);
  ASSERT_EQ(transformer.compiler_output(), "");
  const std::string refusal = fmt::format(
      "tiny: the packed tile of rows 0 to 15 and columns 0 to 255 needs 64 rows of words, the kernel has room for {}",
      packed(own).format.shape.most_words + 3);
  EXPECT_EQ(transformer.csr(full), "2 " + refusal);
  transformer.pack_into(packed(full).format.bytes);
  EXPECT_EQ(transformer.dense(dense_text(full)), "0 2 " + refusal);
}

TEST_F(GeneratedTransformerOfAnyPattern, LoadsTheFileOfItsOwnPatternAlone) {
  CsrMatrix own = in_halves(to_csr(random_matrix(45, 300, 0.3, 1)), ScalarType::f16);
  Transformer transformer(own, BitmapCut{});
  ASSERT_EQ(transformer.compiler_output(), "");
  const auto written = [&](const CsrMatrix& matrix) {
    write_file_whole(transformer.packed_file(), std::string_view(padded(packed(matrix), packed(matrix).format.bytes)));
    return transformer.packed_file();
  };
  EXPECT_EQ(transformer.load(written(own)), "0 ");
  const auto movable = std::ranges::adjacent_find(own.column_of, [](int a, int b) { return a % 2 == 0 && a + 2 < b; });
  ++*movable;  // to the other half of its register, so that all sizes stay as they are
  EXPECT_EQ(transformer.load(written(own)),
            "4 tiny: the packed file is not the one of this kernel, or is damaged: its header differs in pattern");
}

TEST_F(GeneratedTransformerOfAnyPattern, RefusesBadArguments) {
  Transformer transformer(drawn(0.3, 1), BitmapCut{});
  ASSERT_EQ(transformer.compiler_output(), "");
  EXPECT_THAT(transformer.call("bad_arguments", "none"), HasSubstr("0 tiny: a is null\n"
                                                                   "0 tiny: lda is less than 300, the columns of a\n"
                                                                   "0 tiny: offsets is null\n"
                                                                   "1 tiny: packed is null\n"
                                                                   "1 tiny: a is null\n"
                                                                   "1 tiny: offsets is null\n"));
}

}  // namespace
}  // namespace esc::transformer

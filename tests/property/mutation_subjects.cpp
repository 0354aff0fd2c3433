// SPDX-License-Identifier: Apache-2.0
#include "tests/property/mutation_subjects.h"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>

#include "generator/emit/bundle.h"
#include "generator/emit/generate.h"
#include "generator/emit/templates.h"
#include "generator/frontend/format_source.h"
#include "generator/frontend/parse_loop_nest.h"
#include "generator/ir/linear_nk_nest.h"
#include "generator/matrix/round_values.h"
#include "generator/matrix/sample.h"
#include "generator/schedule/schedule_choice.h"
#include "tests/support/full_row_tile.h"
#include "tests/support/nest_memory.h"

namespace esc::tests {
namespace {

/// The matrix with the first few non-zeros of a row alone.
SparseMatrix with_cut_row(SparseMatrix matrix, std::int64_t row, std::int64_t kept) {
  const auto begin = static_cast<std::ptrdiff_t>(matrix.offsets[static_cast<std::size_t>(row)] + kept);
  const std::int64_t length = matrix.row_length(row) - kept;
  matrix.column_of.erase(matrix.column_of.begin() + begin, matrix.column_of.begin() + begin + length);
  matrix.values.erase(matrix.values.begin() + begin, matrix.values.begin() + begin + length);
  std::for_each(matrix.offsets.begin() + row + 1, matrix.offsets.end(),
                [length](std::int64_t& offset) { offset -= length; });
  return matrix;
}

/// Rows of all lengths, so that row tiles, lists and tasks are long enough for every loop of a kernel to go round, and
/// an empty one; sizes that nothing divides.
SparseMatrix matrix_of(std::int64_t rows, std::int64_t columns, ScalarType element = ScalarType::f32) {
  constexpr std::int64_t empty = 11;
  SparseMatrix matrix = with_cut_row(
      sample_matrix(
          {.rows = rows, .columns = columns, .sparsity = 0.75, .structure = SampleStructure::powerlaw, .seed = 3}),
      empty, 0);
  matrix.element = element;  // a value of float32 is one of float64
  if (is_rounded(element)) {
    round_values(matrix, element);
  }
  return matrix;
}

/// The plain product of a matrix.
MutationSubject plain(const std::string& name, std::int64_t bcol, ScalarType element, const std::string& schedule) {
  return {name, spmm_nest(element), matrix_of(45, 83, element), bcol, schedule};
}

LoopNest nest_of(std::string_view text, const GivenSizes& sizes = {}) {
  return parse_loop_nest(text, "subject.c", NestHeaders::of_system, sizes);
}

LoopNest in_doubles(LoopNest nest) {
  for (ArrayDeclaration& array : nest.arrays) {
    array.type = ScalarType::f64;
  }
  return nest;
}

/// Everything that an epilogue may read: a number, a vector of rows and one of columns, a matrix like C.
constexpr std::string_view layer_text =
    "#include <math.h>\n"
    "void layer(int M, int K, int N, const float A[M][K], const float B[K][N], float C[M][N], float gate, const float "
    "bias[M],\n"
    "           const float shift[N], const float input[M][N]) {\n"
    "  for (int i = 0; i < M; i++) for (int j = 0; j < N; j++) for (int k = 0; k < K; k++) C[i][j] += A[i][k] * "
    "B[k][j];\n"
    "  for (int i = 0; i < M; i++) for (int j = 0; j < N; j++)\n"
    "    C[i][j] = gate * tanhf(C[i][j] + bias[i]) + (C[i][j] < shift[j] ? input[i][j] : shift[j]);\n"
    "}\n";

/// A product of family stream, of a matrix whose K tiles go round all stages more than once. The numbers of the
/// schedule differ, so that none can stand for another.
SparseMatrix of_many_k_tiles(SampleStructure structure, double sparsity, ScalarType element) {
  SparseMatrix matrix = sample_matrix(
      {.rows = 77, .columns = 5400 / bytes_of(element), .sparsity = sparsity, .structure = structure, .seed = 3});
  matrix.element = element;
  if (is_rounded(element)) {
    round_values(matrix, element);
  }
  return matrix;
}

/// Of five K tiles of a bitmap, in two blocks of rows.
SparseMatrix of_five_tiles(ScalarType element) {
  SparseMatrix matrix = sample_matrix({.rows = 77, .columns = 1100, .sparsity = 0.6, .seed = 3});
  round_values(matrix, element);
  return matrix;
}

MutationSubject streamed(const std::string& name, SparseMatrix matrix, const std::string& copies = "copy=cp_async") {
  return {name, spmm_nest(matrix.element), std::move(matrix), 36,
          "stream: tile=48x256x16, warps=6, stages=4, " + copies + ", pdl=on"};
}

/// A linear layer whose rows of X and Y are tokens.
constexpr std::string_view tokens_text =
    "void tokens(int M, int K, int N, const float W[M][K], const float X[N][K], float Y[N][M], const float bias[M],\n"
    "            const float residual[N][M]) {\n"
    "  for (int t = 0; t < N; t++) for (int i = 0; i < M; i++) for (int k = 0; k < K; k++) Y[t][i] += W[i][k] * "
    "X[t][k];\n"
    "  for (int t = 0; t < N; t++) for (int i = 0; i < M; i++)\n"
    "    Y[t][i] = (Y[t][i] + bias[i] < 0 ? 0 : Y[t][i] + bias[i]) + residual[t][i];\n"
    "}\n";

/// A batch whose lanes may move vectors.
constexpr std::string_view batch_text =
    "void batch(int batches, int M, int K, const float W[M][K], const float X[batches][K][12], float "
    "Y[batches][M][12],\n"
    "           const float residual[batches][M][12]) {\n"
    "  for (int b = 0; b < batches; b++) for (int i = 0; i < M; i++) for (int t = 0; t < 12; t++) for (int k = 0; k < "
    "K; k++)\n"
    "    Y[b][i][t] += W[i][k] * X[b][k][t];\n"
    "  for (int b = 0; b < batches; b++) for (int i = 0; i < M; i++) for (int t = 0; t < 12; t++) Y[b][i][t] += "
    "residual[b][i][t];\n"
    "}\n";

/// Sizes of a convolution of 3 x 3 pixels over `channels` channels.
GivenSizes convolution(std::int64_t filters, std::int64_t channels, std::int64_t height, std::int64_t width,
                       std::int64_t stride, std::int64_t dilation) {
  return {{{"C", channels},
           {"F", filters},
           {"R", 3},
           {"S", 3},
           {"H", height},
           {"W", width},
           {"stride", stride},
           {"pad", dilation},
           {"dilation", dilation}},
          {}};
}

}  // namespace

std::vector<MutationSubject> mutation_subjects() {
  return {
      plain("panel", 36, ScalarType::f32,
            "panel: tile=32x32, thread=4x4, split_k=2, lane_groups=2, unroll_k=4, stage_a=off, pdl=on"),
      plain("staged", 36, ScalarType::f32,
            "panel: tile=16x16, thread=4x4, split_k=2, lane_groups=4, unroll_k=8, stage_a=on, pdl=off"),
      plain("doubles", 8, ScalarType::f64,
            "panel: tile=8x8, thread=4x2, split_k=1, lane_groups=4, unroll_k=4, stage_a=on, pdl=on"),
      plain("half", 36, ScalarType::bf16,
            "panel: tile=16x16, thread=4x4, split_k=2, lane_groups=4, unroll_k=4, stage_a=on, pdl=on"),
      plain("large", 20, ScalarType::f32,
            "panel: tile=256x8, thread=8x4, split_k=1, lane_groups=1, unroll_k=4, stage_a=on, pdl=off"),
      plain("rows", 12, ScalarType::f32, "rows: tile=1x8, thread=1x2, unroll_k=2, task=32, light=8, warps=2, pdl=on"),
      plain("compacted", 64, ScalarType::f32, "atomic: thread=3x2, unroll_k=2, threads=64"),
      plain("patterns", 33, ScalarType::f64, "atomic: thread=2x1, unroll_k=3, threads=32, compaction=off"),
      plain("script", 36, ScalarType::f32,
            "unroll(i, 6); enumerate(); merge(); row_tiles(i, block=4, warp=1); tile(j, columns=32, vector=2); "
            "split_k(k, "
            "warps=1, lane_groups=2); "
            "accumulate(); shuffle(); transform(A, regions); vectorize(j); unroll_k(k, 8)"),
      {"layer", nest_of(layer_text), matrix_of(45, 83), 36,
       "panel: tile=16x32, thread=4x4, split_k=2, lane_groups=2, unroll_k=4, stage_a=off, pdl=on"},
      {"tokens", nest_of(tokens_text), matrix_of(45, 83), 20,
       "panel: tile=16x16, thread=4x2, split_k=2, lane_groups=4, unroll_k=4, stage_a=on, pdl=on"},
      {"token_rows", in_doubles(nest_of(tokens_text)), matrix_of(45, 83, ScalarType::f64), 12,
       "rows: tile=1x8, thread=1x2, unroll_k=2, task=128, light=8, warps=2, pdl=on"},
      {"token_lists", nest_of(linear_nk_template), matrix_of(45, 83), 33, "atomic: thread=3x1, unroll_k=2, threads=32"},
      {"batch", nest_of(batch_text), matrix_of(45, 83), 3,
       "panel: tile=8x16, thread=2x4, split_k=2, lane_groups=4, unroll_k=4, stage_a=off, pdl=on"},
      {"images", nest_of(conv2d_template, convolution(21, 4, 7, 6, 2, 1)), matrix_of(21, 36), 3,
       "panel: tile=8x16, thread=4x2, split_k=2, lane_groups=4, unroll_k=4, stage_a=off, pdl=on"},
      {"channels", in_doubles(nest_of(conv2d_nhwc_template, convolution(21, 5, 5, 4, 1, 2))),
       matrix_of(21, 45, ScalarType::f64), 2,
       "rows: tile=1x8, thread=1x1, unroll_k=2, task=16, light=4, warps=2, pdl=on"},
      // Some packed tiles have residuals; the second matrix has rounds beside those of its K tiles.
      streamed("streamed", of_many_k_tiles(SampleStructure::uniform, 0.92, ScalarType::tf32)),
      streamed("bulk", of_many_k_tiles(SampleStructure::blocks, 0.95, ScalarType::f32), "copy=tma"),
      // Two warps have a part each of a K tile.
      {"shared", spmm_nest(ScalarType::f32), of_many_k_tiles(SampleStructure::uniform, 0.92, ScalarType::f32), 36,
       "stream: tile=64x256x16, warp_m=32, warps=8, stages=3, copy=cp_async, split_k=2, pdl=on"},
      // As few stages as there can be, so that half of the K tiles are iterations beyond the first ones.
      {"clustered", spmm_nest(ScalarType::tf32), of_many_k_tiles(SampleStructure::uniform, 0.92, ScalarType::tf32), 36,
       "stream: tile=48x256x16, warps=6, stages=2, copy=cp_async, cluster=2, pdl=on"},
      streamed("split", of_many_k_tiles(SampleStructure::blocks, 0.95, ScalarType::f32)),
      {"dense", spmm_nest(ScalarType::f32), of_many_k_tiles(SampleStructure::uniform, 0.92, ScalarType::f32), 36,
       "stream: tile=48x256x16, warps=6, stages=3, copy=cp_async, format=dense, pdl=on"},
      // One row tile has all of a K tile, which takes it further rounds.
      {"listed", spmm_nest(ScalarType::f32),
       with_full_row_tile(of_many_k_tiles(SampleStructure::uniform, 0.98, ScalarType::f32),
                          [](std::int64_t) { return true; }),
       36, "stream: tile=16x256x8, warps=2, stages=3, copy=cp_async, format=bitmap, pdl=on"},
      // One row tile has so much of a K tile that it takes further rounds.
      {"placed", spmm_nest(ScalarType::f32),
       with_full_row_tile(sample_matrix({.rows = 77, .columns = 140, .sparsity = 0.9, .seed = 3}),
                          [](std::int64_t column) { return column < 8; }),
       36, "stream: tile=64x32x64, warps=8, stages=2, copy=cp_async, format=decompress, pdl=on"},
      // Rows of one non-zero show what rounding makes of a product.
      streamed(
          "rounded",
          with_cut_row(with_cut_row(of_many_k_tiles(SampleStructure::uniform, 0.92, ScalarType::tf32), 5, 1), 40, 1)),
      // Lists of four K tiles, of which two are in shared memory.
      {"gathered", spmm_nest(ScalarType::f32), of_many_k_tiles(SampleStructure::uniform, 0.96, ScalarType::f32), 36,
       "gather: tile=24x256x32, warps=3, pdl=on"},
      // Three K tiles, two iterations of a consumer group; lists of words whose columns differ.
      {"bitmap", spmm_nest(ScalarType::f16), of_many_k_tiles(SampleStructure::uniform, 0.5, ScalarType::f16), 36,
       "bitmap: tile=48x256x16, warps=6, stages=3, stages_a=2, pdl=on"},
      {"bitmap_tokens", linear_nk_nest(ScalarType::bf16),
       of_many_k_tiles(SampleStructure::powerlaw, 0.6, ScalarType::bf16), 20,
       "bitmap: tile=32x256x8, warps=2, stages=2, stages_a=3, pdl=off"},
      // Two of each four elements.
      {"sparse24", linear_nk_nest(ScalarType::f16), tests::with_two_of_four(of_five_tiles(ScalarType::f16)), 20,
       "bitmap: tile=32x256x16, warps=4, stages=2, stages_a=2, format=sparse24, pdl=on"},
      // Products of warpgroups: tiles that tensor copies move, where lines of B begin at multiples of 16 bytes, and
      // threads elsewhere; the second ones of two blocks.
      {"bitmap_groups", spmm_nest(ScalarType::bf16), of_five_tiles(ScalarType::bf16), 72,
       "bitmap: tile=64x256x64, warps=4, stages=3, stages_a=2, mma=wgmma, pdl=on"},
      {"bitmap_clusters", linear_nk_nest(ScalarType::f16), of_five_tiles(ScalarType::f16), 72,
       "bitmap: tile=64x256x64, warps=4, stages=4, stages_a=2, mma=wgmma, cluster=2, pdl=on"},
      {"split_tokens", nest_of(linear_nk_template), of_many_k_tiles(SampleStructure::uniform, 0.92, ScalarType::f32),
       36, "stream: tile=48x256x16, warps=6, stages=4, copy=cp_async, pdl=off"},
      // K tiles of patches, and of elements by themselves.
      {"split_images", nest_of(conv2d_template, convolution(77, 150, 7, 6, 1, 1)),
       of_many_k_tiles(SampleStructure::uniform, 0.92, ScalarType::f32), 3,
       "stream: tile=48x256x32, warps=6, stages=3, copy=cp_async, pdl=on"},
      {"split_channels", nest_of(conv2d_nhwc_template, convolution(77, 150, 5, 4, 1, 2)),
       of_many_k_tiles(SampleStructure::uniform, 0.92, ScalarType::f32), 2,
       "stream: tile=48x256x16, warps=6, stages=4, copy=cp_async, pdl=off"},
  };
}

void write_bundle_of(const MutationSubject& subject, const std::filesystem::path& folder) {
  const GeneratedLayer layer = generate_layer(subject.matrix, subject.nest,
                                              {.name = subject.name,
                                               .source_file = "subject.mtx",
                                               .bcol = subject.bcol,
                                               .architectures = {90},
                                               .choice = parse_choice(subject.schedule, "user")});
  write_bundle(
      make_bundle(layer, [](const std::string& file, const std::string& text) { return format_source(text, file); }),
      folder, false);
}

}  // namespace esc::tests

// SPDX-License-Identifier: Apache-2.0
// Epilogues of all spellings under schedules of every family that can have them: each stage of the lowering computes
// what the nest says, and the kernel agrees with it in every call, in whatever order its blocks and threads run.

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "generator/frontend/parse_loop_nest.h"
#include "generator/ir/interpret.h"
#include "generator/lower/canonicalize.h"
#include "generator/pipeline.h"
#include "tests/support/awkward_shapes.h"
#include "tests/support/emulated_layer.h"
#include "tests/support/nest_memory.h"
#include "tests/support/run_size.h"
#include "tests/support/schedule_part.h"
#include "tests/unit/accepted_epilogues.h"

namespace esc {
namespace {

using tests::EmulatedKernel;
using tests::JudgedProduct;

/// Draws schedules, matrices and calls, the same ones from a seed wherever it runs.
class Draw {
 public:
  explicit Draw(std::uint64_t seed) : random_(seed) {}

  std::size_t below(std::size_t most) { return static_cast<std::size_t>(random_() % most); }
  template <typename Value>
  const Value& one_of(const std::vector<Value>& values) {
    return values[below(values.size())];
  }
  std::uint64_t number() { return random_(); }

  /// Rows of up to 23 columns, some of them empty or full.
  SparseMatrix matrix(ScalarType element) {
    const auto rows = static_cast<std::int64_t>(1 + below(19));
    const auto columns = static_cast<std::int64_t>(1 + below(23));
    SparseMatrix matrix{
        .rows = rows, .columns = columns, .offsets = {0}, .column_of = {}, .values = {}, .element = element};
    for (std::int64_t row = 0; row < rows; ++row) {
      const std::size_t density = one_of(std::vector<std::size_t>{0, 30, 50, 100});
      for (std::int64_t column = 0; column < columns; ++column) {
        if (below(100) < density) {
          matrix.column_of.push_back(static_cast<std::int32_t>(column));
          matrix.values.push_back(static_cast<double>(1 + below(7)) / 4 - 1.125);
        }
      }
      matrix.offsets.push_back(static_cast<std::int64_t>(matrix.column_of.size()));
    }
    return matrix;
  }

  /// One of those that such elements may have.
  Schedule schedule(std::int64_t bcol, ScalarType element) {
    const int columns = bcol <= 8 || below(2) == 0 ? 8 : 16;
    const int row_tiles = 1 + static_cast<int>(below(3));
    const int warps = 1 + static_cast<int>(below(2));
    if (is_half(element) && below(2) == 0) {
      return BitmapSchedule{
          .columns = columns, .row_tiles = row_tiles, .warps = warps, .stages = 2, .pdl = below(2) == 0};
    }
    if (element == ScalarType::f32 && below(3) == 0) {
      return StreamSchedule{.columns = columns,
                            .row_tiles = row_tiles,
                            .warps = warps,
                            .stages = 2,
                            .pdl = below(2) == 0,
                            .share = below(2) == 0 ? warps : 1,
                            .rows = below(2) == 0 ? 16 : 32};
    }
    if (below(2) == 0) {
      PanelSchedule row_tile = one_of(tests::legal_panel_for(bcol));
      row_tile.pdl = below(2) == 0;
      return row_tile;
    }
    std::vector<RowsSchedule> rows = tests::legal_rows_for(bcol);
    // No row of these matrices is cut.
    std::erase_if(rows, [](const RowsSchedule& one) { return one.task < 32; });
    return one_of(rows);
  }

 private:
  std::mt19937_64 random_;
};

/// The memory of a lowering with values for the operands of the nest's epilogue.
Memory with_operands(Memory memory, const LoopNest& nest) {
  double next = 0.375;
  for (const ArrayDeclaration& array : nest.arrays) {
    if (array.role != ArrayRole::operand) {
      continue;
    }
    Tensor values;
    std::int64_t count = 1;
    for (const Affine& extent : array.extents) {
      values.extents.push_back(extent.evaluate(memory.sizes));
      count *= values.extents.back();
    }
    for (std::int64_t index = 0; index < count; ++index) {
      values.elements.push_back(next = next > 1 ? next - 2.125 : next + 0.625);
    }
    memory.arrays[array.name] = std::move(values);
  }
  return memory;
}

std::vector<Directive> directives_for(const Schedule& schedule, const LoopNest& nest) {
  return directives_of({schedule, "user"}, nest.epilogue.has_value());
}

class Epilogues : public testing::TestWithParam<EpilogueVariant> {};

TEST_P(Epilogues, AreTheSameAtEveryStageOfTheLowering) {
  const LoopNest nest = canonicalize(parse_loop_nest(GetParam().source, GetParam().file));
  Draw draw(std::hash<std::string>()(GetParam().name));
  for (int iteration = 0; iteration < 3; ++iteration) {
    const auto columns = static_cast<std::int64_t>(1 + draw.below(9));
    const Schedule schedule = draw.schedule(columns, nest.element());
    const SparseMatrix matrix = draw.matrix(nest.element());
    const std::vector<LoweredStep> stages = lower_by_steps(nest, directives_for(schedule, nest));
    // The first step gives the user's names canonical ones once more.
    const Memory memory =
        with_operands(with_operands(tests::memory_for(stages.back().nest, matrix, columns, 3), nest), stages[1].nest);
    const Memory oracle = interpret(nest, memory);
    for (const LoweredStep& stage : stages) {
      EXPECT_LT(tests::largest_difference(oracle, interpret(stage.nest, memory)), 1e-11)
          << "after " << stage.name << " of " << print(schedule);
    }
  }
}

TEST_P(Epilogues, ReachTheKernel) {
  const LoopNest nest = parse_loop_nest(GetParam().source, GetParam().file);
  Draw draw(std::hash<std::string>()(GetParam().name) + 1);
  const std::int64_t bcol = draw.one_of(std::vector<std::int64_t>{1, 5, 8, 36});
  const Schedule schedule = draw.schedule(bcol, nest.element());
  const SparseMatrix matrix = draw.matrix(nest.element());
  const EmulatedKernel kernel(tests::layer_of(matrix, bcol, schedule, nest));
  const std::vector<KernelCall> calls = kernel.calls(matrix);
  for (const std::size_t call : {std::size_t{0}, std::size_t{1}, draw.below(calls.size()), draw.below(calls.size())}) {
    const JudgedProduct judged = kernel.multiply(matrix, calls[call], draw.number());
    EXPECT_TRUE(judged.passed()) << print(schedule) << ", " << print(calls[call]) << ": " << tests::print(judged);
  }
}

[[maybe_unused]] const bool epilogues_is_sampled = tests::sample_suite("OfAllSpellings/Epilogues", 24);

INSTANTIATE_TEST_SUITE_P(OfAllSpellings, Epilogues, testing::ValuesIn(accepted_epilogues()),
                         [](const auto& variant) { return std::string(variant.param.name); });

LoopNest linear_layer() {
  return parse_loop_nest(R"(
void layer(int M, int N, int K, const float A[M][K], const float B[K][N], float C[M][N], const float bias[M]) {
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) {
      float sum = 0;
      for (int k = 0; k < K; k++)
        if (A[i][k] != 0) sum += A[i][k] * B[k][j];
      C[i][j] = sum + bias[i];
    }
}
)",
                         "layer.c");
}

/// The rule by which the schedule is refused for a linear layer.
std::string refusal_of(const SparseMatrix& matrix, const ScheduleChoice& choice) {
  GenerateOptions options;
  options.name = "layer";
  options.bcol = 8;
  options.architectures = {90};
  options.choice = choice;
  try {
    generate_layer(matrix, linear_layer(), options);
  } catch (const ScheduleError& refusal) {
    EXPECT_NE(refusal.remedy(), "");
    return refusal.rule();
  }
  return "none";
}

TEST(EpilogueRefusals, SayWhoHasTheWholeSum) {
  Draw draw(5);
  SparseMatrix matrix = draw.matrix(ScalarType::f32);
  while (matrix.longest_row() < 9) {
    matrix = draw.matrix(ScalarType::f32);
  }
  EXPECT_EQ(refusal_of(matrix, {AtomicSchedule{}, "user"}),
            "parts of a sum are added up in C: nobody has the whole of it");
  EXPECT_NE(refusal_of(matrix, {RowsSchedule{.columns = 8, .vector = 1, .task = 8, .light = 8}, "user"})
                .find("is cut into tasks of 8"),
            std::string::npos);
  ScheduleChoice script;
  script.script = expand(Schedule(RowsSchedule{.columns = 8, .vector = 1, .task = 512}));
  EXPECT_EQ(refusal_of(matrix, script), "stores the sums as they are, and the nest has more to do with them");
}

TEST(EpilogueRefusals, NeedAnEpilogue) {
  std::vector<Directive> directives = expand(Schedule(PanelSchedule{}));
  directives.insert(directives.end() - 1, PlaceEpilogue{});
  EXPECT_THROW(lower(spmm_nest(), directives), ScheduleError);
  EXPECT_NO_THROW(lower(linear_layer(), directives));
  directives.insert(directives.end() - 1, PlaceEpilogue{});
  EXPECT_THROW(lower(linear_layer(), directives), ScheduleError) << "it is placed once";
}

}  // namespace
}  // namespace esc

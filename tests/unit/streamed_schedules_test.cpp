// SPDX-License-Identifier: Apache-2.0
#include "generator/schedule/streamed_schedules.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <map>

#include "generator/schedule/element_types.h"
#include "generator/schedule/listed_streams.h"
#include "generator/schedule/scheduler.h"

namespace esc {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

KernelTarget target_of(const std::string& gpu) {
  const TargetDevice device = device_of_gpu(gpu);
  return kernel_target(device.key, {device.key.capability});
}

LayerShape layer(std::int64_t rows, std::int64_t columns, double zeros, long long bcol, const std::string& dtype = "f16") {
  return {.bcol = bcol,
          .rows = rows,
          .columns = columns,
          .nonzeros = static_cast<std::int64_t>(static_cast<double>(rows) * static_cast<double>(columns) * (1 - zeros)),
          .dtype = dtype};
}

LayerShape in_layout(const std::string& layout, LayerShape shape) {
  shape.layout = layout;
  shape.contiguous = layout != "nk";
  return shape;
}

/// Float32, images whose channels lie apart, filters with taps.
LayerShape of_taps(std::int64_t rows, std::int64_t columns, double zeros, long long bcol) {
  return in_layout("n_k_nk_nk.n_m_n_n", layer(rows, columns, zeros, bcol, "f32"));
}

LayerShape with_row_variation(double variation, LayerShape shape) {
  shape.row_variation = variation;
  return shape;
}

/// A schedule with what the rule adds to it in this type for all devices of a target where it does not say who copies: bulk copies were measured for float32.
std::string with_measured_copies(const std::string& text, const LayerShape& shape, const KernelTarget& target) {
  auto schedule = std::get<StreamSchedule>(parse_schedule(text));
  if (text.find("copies=") != text.npos) {
    return print(schedule);
  }
  const bool bulk = !is_half_type(shape.dtype) && target.oldest_architecture >= StreamSchedule::bulk_architecture;
  schedule.copies = bulk ? StreamSchedule::Copies::bulk : StreamSchedule::Copies::lanes;
  return print(schedule);
}

struct RuleCase {
  std::string gpu;
  LayerShape shape;
  std::string schedule;  ///< "": none
};

/// So that a failure says which.
void PrintTo(const RuleCase& one, std::ostream* stream) {
  *stream << one.gpu << ", " << one.shape.rows << " x " << one.shape.columns << ", " << one.shape.nonzeros << " non-zeros, bCol " << one.shape.bcol;
}

class Rule : public testing::TestWithParam<RuleCase> {};

TEST_P(Rule, GivesThisLayerItsSchedule) {
  const KernelTarget target = target_of(GetParam().gpu);
  const std::vector<ScheduleChoice> choices = streamed_schedules(GetParam().shape, target);
  if (GetParam().schedule.empty()) {
    EXPECT_THAT(choices, IsEmpty());
    return;
  }
  ASSERT_FALSE(choices.empty());
  EXPECT_EQ(print(choices.front().schedule), with_measured_copies(GetParam().schedule, GetParam().shape, target));
  const LayerShape& shape = GetParam().shape;
  const auto& chosen = std::get<StreamSchedule>(choices.front().schedule);
  const bool is_dense = chosen.dense != StreamSchedule::Dense::off;
  const bool is_of_h200 = chosen.ahead || (chosen.cluster > 1 && !is_dense);
  const char* const measured = shape.dtype == "f16"                                                             ? "not measured for f16"
                               : !is_of_h200 && ((shape.dtype == "f32" && shape.layout == "kn") || is_dense) ? "measured on one NVIDIA H100"
                                                                                                                : "measured on one NVIDIA H200";
  EXPECT_EQ(choices.front().source, fmt::format("by rule: layers of this size and share of zeros are streamed; {}", measured));
  EXPECT_FALSE(choices.front().database);
}

INSTANTIATE_TEST_SUITE_P(
    Streamed, Rule,
    testing::Values(
        // The GPU is filled once: 8192 rows are 512 panels, four for each of 128 blocks.
        RuleCase{"h200", layer(8192, 8192, 0.7, 8), "stream:columns=8,panels=4,warps=2,stages=4"},
        RuleCase{"h200", layer(8192, 8192, 0.7, 16), "stream:columns=16,panels=4,warps=2,stages=3"},
        RuleCase{"h200", layer(8192, 8192, 0.7, 32), "stream:columns=32,panels=4,warps=2,stages=3"},
        RuleCase{"h200", layer(11008, 4096, 0.6, 8), "stream:columns=8,panels=6,warps=1,stages=4"},
        RuleCase{"h200", layer(4096, 4096, 0.7, 8), "stream:columns=8,panels=2,warps=4,stages=3"},
        // Few panels: one for each block, whose warps share the windows there are.
        RuleCase{"h200", layer(2048, 2048, 0.7, 8), "stream:columns=8,panels=1,warps=8,stages=2"},
        RuleCase{"h200", layer(2048, 2048, 0.7, 32), "stream:columns=32,panels=1,warps=4,stages=2"},
        RuleCase{"h200", layer(512, 512, 0.7, 8), "stream:columns=8,panels=1,warps=2,stages=2"},
        // Multiprocessors without a block take columns.
        RuleCase{"h200", layer(1024, 1024, 0.7, 32), "stream:columns=16,panels=1,warps=4,stages=2"},
        RuleCase{"h200", layer(512, 512, 0.7, 32), "stream:columns=8,panels=1,warps=2,stages=2"},
        RuleCase{"h200", layer(8192, 256, 0.7, 8), "stream:columns=8,panels=4,warps=1,stages=2"},
        // What fills up the last panel and the last window counts as zeros.
        RuleCase{"h200", layer(500, 500, 0.7, 3), "stream:columns=8,panels=1,warps=2,stages=2"},
        RuleCase{"h200", layer(1000, 300, 0.8, 8), ""},
        // Sparse, small and uneven layers are for kernels that skip zeros.
        RuleCase{"h200", layer(2048, 2048, 0.9, 8), ""}, RuleCase{"h200", layer(2048, 2048, 0.9, 32), ""},
        RuleCase{"h200", layer(4096, 4096, 0.9, 8), "stream:columns=8,panels=2,warps=4,stages=3"},
        RuleCase{"h200", layer(8192, 8192, 0.95, 8), ""}, RuleCase{"h200", layer(256, 512, 0.5, 8), ""},
        RuleCase{"h200", layer(1, 1, 0, 1), ""},
        RuleCase{"h200", with_row_variation(1.5, layer(8192, 8192, 0.7, 8)), ""},
        // Three products of float32 want warps; the schedules are those that were the fastest when measured, or within 2 % of them. From 80 % zeros on the columns of
        // panels of 32 rows fit.
        RuleCase{"h200", layer(4096, 4096, 0.8, 32, "f32"), "stream:columns=32,panels=2,warps=4,stages=2,share=2,rows=32,cluster=2"},
        RuleCase{"h200", layer(4096, 4096, 0.8, 64, "f32"), "stream:columns=64,panels=1,warps=8,stages=4,share=4,rows=144,copies=bulk,cluster=4,ahead=on,dense=placed"},
        RuleCase{"h200", layer(4096, 4096, 0.8, 128, "f32"), "stream:columns=64,panels=1,warps=8,stages=4,share=4,rows=128,copies=bulk,cluster=2,ahead=on,dense=placed"},
        RuleCase{"h200", layer(4096, 4096, 0.7, 32, "f32"), "stream:columns=32,panels=2,warps=4,stages=2,share=2,rows=32,cluster=2"},
        RuleCase{"h200", layer(4096, 4096, 0.7, 64, "f32"), "stream:columns=64,panels=1,warps=8,stages=4,share=4,rows=144,copies=bulk,cluster=4,ahead=on,dense=placed"},
        RuleCase{"h200", layer(4096, 4096, 0.7, 128, "f32"), "stream:columns=64,panels=1,warps=8,stages=4,share=4,rows=128,copies=bulk,cluster=2,ahead=on,dense=placed"},
        RuleCase{"h200", layer(4096, 4096, 0.6, 32, "f32"), "stream:columns=32,panels=1,warps=8,stages=2,share=4,rows=32,dense=listed"},
        RuleCase{"h200", layer(2048, 4096, 0.6, 64, "f32"), "stream:columns=32,panels=2,warps=4,stages=3,share=4,rows=32,cluster=2,dense=on"},
        RuleCase{"h200", layer(1024, 4096, 0.6, 128, "f32"), "stream:columns=32,panels=2,warps=4,stages=3,share=4,rows=32,cluster=2,dense=on"},
        RuleCase{"h200", layer(1024, 4096, 0.6, 64, "f32"), "stream:columns=32,panels=1,warps=8,stages=2,share=4,rows=32,cluster=2,dense=on"},
        RuleCase{"h200", layer(1024, 4096, 0.6, 32, "f32"), "stream:columns=16,panels=1,warps=4,stages=4,share=4,rows=32,cluster=2,dense=on"},
        RuleCase{"h200", layer(2048, 2048, 0.6, 128, "f32"), "stream:columns=64,panels=2,warps=4,stages=2,share=4,rows=32,cluster=2,dense=on"},
        // In TF32 values are listed, of layers that are multiplied at once with few of them too.
        RuleCase{"h200", layer(11008, 4096, 0.6, 128, "tf32"), "stream:columns=128,panels=1,warps=8,stages=4,share=8,rows=176,copies=bulk,cluster=2,ahead=on,dense=placed"},
        RuleCase{"h200", layer(11008, 4096, 0.6, 32, "tf32"), "stream:columns=64,panels=1,warps=8,stages=3,share=4,rows=176,copies=bulk,cluster=2,ahead=on,dense=placed"},
        RuleCase{"h200", layer(4096, 4096, 0.6, 64, "tf32"), "stream:columns=64,panels=2,warps=8,stages=3,share=2,rows=32,cluster=2,dense=placed"},
        RuleCase{"h200", layer(4096, 4096, 0.9, 32, "tf32"), "stream:columns=32,panels=2,warps=8,stages=2,share=4,rows=32,cluster=2,dense=listed"},
        RuleCase{"h200", layer(2048, 4096, 0.7, 128, "tf32"), "stream:columns=64,panels=2,warps=4,stages=2,share=4,rows=32,cluster=2,dense=listed"},
        RuleCase{"h200", layer(2048, 4096, 0.6, 64, "tf32"), "stream:columns=64,panels=1,warps=4,stages=3,share=4,rows=32,cluster=2,dense=listed"},
        RuleCase{"h200", layer(1024, 2048, 0.6, 128, "f32"), "stream:columns=32,panels=2,warps=4,stages=2,share=4,rows=32,copies=bulk,cluster=2,dense=on"},
        RuleCase{"h200", layer(11008, 4096, 0.5, 32, "f32"), "stream:columns=32,panels=3,warps=4,stages=2,share=4,rows=32,dense=listed"},
        RuleCase{"h200", layer(11008, 4096, 0.6, 64, "f32"), "stream:columns=64,panels=1,warps=8,stages=3,share=4,rows=176,copies=bulk,cluster=2,ahead=on,dense=placed"},
        RuleCase{"h200", layer(11008, 4096, 0.8, 32, "f32"), "stream:columns=64,panels=1,warps=8,stages=4,share=4,rows=176,copies=bulk,cluster=2,ahead=on,dense=placed"},
        RuleCase{"h200", layer(11008, 4096, 0.6, 128, "f32"), "stream:columns=128,panels=1,warps=8,stages=4,share=8,rows=176,copies=bulk,cluster=2,ahead=on,dense=placed"},
        RuleCase{"h200", layer(11008, 4096, 0.93, 64, "f32"), "stream:columns=64,panels=1,warps=8,stages=4,share=4,rows=176,copies=bulk,cluster=2,ahead=on,dense=placed"},
        RuleCase{"h200", layer(11008, 4096, 0.95, 64, "tf32"), "stream:columns=64,panels=1,warps=8,stages=4,share=4,rows=176,copies=bulk,cluster=2,ahead=on,dense=placed"},
        RuleCase{"h200", layer(11008, 4096, 0.95, 128, "tf32"), "stream:columns=128,panels=1,warps=8,stages=4,share=8,rows=176,copies=bulk,cluster=2,ahead=on,dense=placed"},
        RuleCase{"h200", layer(4096, 4096, 0.75, 128, "f32"), "stream:columns=64,panels=1,warps=8,stages=4,share=4,rows=128,copies=bulk,cluster=2,ahead=on,dense=placed"},
        RuleCase{"h200", layer(11008, 4096, 0.8, 128, "f32"), "stream:columns=128,panels=1,warps=8,stages=4,share=8,rows=176,copies=bulk,cluster=2,ahead=on,dense=placed"},
        RuleCase{"h200", layer(2048, 2048, 0.7, 128, "f32"), "stream:columns=64,panels=1,warps=16,stages=3,share=4,rows=64,copies=bulk,cluster=2,dense=placed"},
        RuleCase{"h200", layer(2048, 2048, 0.8, 128, "f32"), "stream:columns=64,panels=1,warps=16,stages=3,share=4,rows=64,copies=bulk,cluster=2,dense=placed"},
        RuleCase{"h200", layer(2048, 2048, 0.8, 64, "f32"), "stream:columns=64,panels=1,warps=16,stages=2,share=4,rows=80,copies=bulk,cluster=4,dense=placed"},
        // In small layers there are blocks of 64 rows, of 32, or of 16 columns for about all multiprocessors, with many non-zeros of dense steps.
        RuleCase{"h200", layer(2048, 512, 0.6, 128, "f32"), "stream:columns=32,panels=2,warps=4,stages=2,share=4,rows=32,copies=bulk,dense=on"},
        RuleCase{"h200", layer(2048, 512, 0.7, 64, "f32"), "stream:columns=32,panels=2,warps=4,stages=2,share=4,copies=bulk,dense=on"},
        RuleCase{"h200", layer(512, 2048, 0.7, 256, "f32"), "stream:columns=64,panels=1,warps=16,stages=2,share=4,rows=80,copies=bulk,cluster=4,dense=placed"},
        RuleCase{"h200", layer(512, 2048, 0.5, 256, "f32"), "stream:columns=32,panels=2,warps=4,stages=2,share=4,rows=32,copies=bulk,cluster=2,dense=on"},
        RuleCase{"h200", layer(512, 512, 0.6, 256, "f32"), "stream:columns=32,panels=2,warps=4,stages=2,share=4,copies=bulk,dense=on"},
        RuleCase{"h200", layer(1024, 512, 0.8, 256, "f32"), "stream:columns=32,panels=2,warps=2,stages=2,share=2,rows=32"},
        RuleCase{"a100", layer(4096, 4096, 0.7, 32, "f32"), "stream:columns=32,panels=2,warps=4,stages=2,share=2,rows=32"},
        // They do not pay where a layer is small, or sparse, or has few columns of C or few windows.
        RuleCase{"h200", layer(2048, 2048, 0.7, 32, "f32"), "stream:columns=32,panels=1,warps=4,stages=2,share=2,rows=32,cluster=2"},
        RuleCase{"h200", layer(1024, 4096, 0.7, 64, "f32"), "stream:columns=32,panels=1,warps=8,stages=2,share=4,rows=32,copies=bulk,cluster=2,dense=on"},
        RuleCase{"h200", layer(2048, 2048, 0.9, 128, "f32"), ""},
        RuleCase{"h200", layer(1024, 1024, 0.7, 64, "f32"), ""}, RuleCase{"h200", layer(512, 2048, 0.7, 128, "f32"), "stream:columns=32,panels=1,warps=8,stages=2,share=4,rows=32,copies=bulk,cluster=2,dense=on"},
        RuleCase{"h200", layer(512, 512, 0.8, 256, "f32"), ""}, RuleCase{"h200", layer(2048, 512, 0.9, 256, "f32"), ""},
        RuleCase{"h200", layer(4096, 4096, 0.9, 128, "f32"), "stream:columns=64,panels=1,warps=8,stages=4,share=4,rows=128,copies=bulk,cluster=2,ahead=on,dense=placed"},
        RuleCase{"h200", layer(33288, 512, 0.6, 128, "f32"), ""},
        RuleCase{"h200", in_layout("nk", layer(8192, 8192, 0.7, 32, "f32")), ""},
        // One product in place of three pays in small layers too: values are listed, where blocks would be few a cluster shares its windows.
        RuleCase{"h200", layer(2048, 512, 0.7, 64, "tf32"), "stream:columns=32,panels=2,warps=4,stages=2,share=4,dense=on,copies=lanes"},
        RuleCase{"h200", layer(2048, 512, 0.7, 128, "tf32"), "stream:columns=32,panels=2,warps=4,stages=2,share=4,rows=32,copies=bulk,dense=listed"},
        RuleCase{"h200", layer(2048, 512, 0.8, 256, "tf32"), "stream:columns=64,panels=1,warps=16,stages=3,share=4,rows=64,copies=bulk,dense=placed"},
        RuleCase{"h200", layer(512, 2048, 0.7, 64, "tf32"), "stream:columns=32,panels=2,warps=4,stages=2,share=4,rows=32,copies=bulk,cluster=4,dense=on"},
        RuleCase{"h200", layer(512, 2048, 0.7, 256, "tf32"), "stream:columns=32,panels=2,warps=2,stages=3,share=2,rows=32,copies=bulk,cluster=2,dense=on"},
        RuleCase{"h200", layer(512, 2048, 0.5, 256, "tf32"), "stream:columns=32,panels=2,warps=2,stages=3,share=2,rows=32,copies=bulk,cluster=2,dense=on"},
        RuleCase{"h200", layer(2048, 512, 0.5, 256, "tf32"), "stream:columns=64,panels=1,warps=16,stages=2,share=4,rows=64,copies=bulk,dense=placed"},
        RuleCase{"h200", layer(512, 512, 0.5, 256, "tf32"), "stream:columns=32,panels=2,warps=4,stages=2,share=4,dense=on,copies=lanes"},
        RuleCase{"h200", layer(512, 512, 0.5, 128, "tf32"), "stream:columns=16,panels=1,warps=4,stages=3,share=4,rows=32,copies=bulk,dense=on"},
        RuleCase{"h200", layer(512, 512, 0.5, 64, "tf32"), ""}, RuleCase{"h200", layer(2048, 512, 0.7, 32, "tf32"), ""},
        RuleCase{"h200", layer(2048, 512, 0.5, 64, "tf32"), "stream:columns=32,panels=2,warps=4,stages=2,share=4,copies=lanes,dense=on"},
        RuleCase{"h200", layer(2048, 512, 0.8, 128, "tf32"), "stream:columns=32,panels=2,warps=4,stages=2,share=4,rows=32,copies=bulk,dense=listed"},
        RuleCase{"h200", layer(2048, 512, 0.9, 128, "tf32"), ""},
        RuleCase{"h200", layer(4096, 1024, 0.5, 256, "tf32"), "stream:columns=64,panels=1,warps=16,stages=2,share=4,rows=96,copies=bulk,dense=placed"},
        RuleCase{"h200", layer(4096, 1024, 0.7, 128, "f32"), "stream:columns=64,panels=1,warps=16,stages=3,share=4,rows=64,copies=bulk,dense=placed"},
        RuleCase{"h200", layer(2048, 2048, 0.5, 256, "f32"), "stream:columns=128,panels=1,warps=16,stages=3,share=8,rows=64,copies=bulk,cluster=2,dense=placed"},
        // Many windows of A for many columns, and three products of few elements, are placed in blocks as high as leaves few multiprocessors without one.
        RuleCase{"h200", layer(256, 4096, 0.5, 256, "tf32"), "stream:columns=64,panels=1,warps=16,stages=2,share=4,rows=80,copies=bulk,cluster=4,dense=placed"},
        RuleCase{"h200", layer(512, 4608, 0.7, 256, "tf32"), "stream:columns=64,panels=1,warps=16,stages=2,share=4,rows=80,copies=bulk,cluster=4,dense=placed"},
        RuleCase{"h200", layer(2048, 512, 0.8, 128, "f32"), "stream:columns=32,panels=2,warps=2,stages=2,share=2,rows=32"},
        // Without clusters they are streamed in one wave.
        RuleCase{"a100", layer(2048, 512, 0.7, 64, "tf32"), "stream:columns=32,panels=2,warps=2,stages=2,rows=32"},
        RuleCase{"a100", layer(512, 2048, 0.7, 256, "tf32"), "stream:columns=32,panels=2,warps=3,stages=2,rows=32"},
        RuleCase{"a100", layer(2048, 512, 0.5, 256, "tf32"), "stream:columns=32,panels=4,warps=1,stages=2,rows=32"},
        RuleCase{"a100", layer(512, 512, 0.5, 256, "tf32"), "stream:columns=32,panels=3,warps=1,stages=2"},
        RuleCase{"a100", layer(2048, 512, 0.6, 128, "f32"), "stream:columns=32,panels=2,warps=2,stages=2,share=2,rows=32"},
        RuleCase{"a100", layer(512, 512, 0.6, 256, "f32"), "stream:columns=32,panels=2,warps=4,stages=2,share=4"},
        RuleCase{"h200", in_layout("nk", layer(2048, 512, 0.7, 128, "tf32")), ""},
        // Images: filters of three by three, with 64 channels of 56 x 56 pixels, 256 of 14 x 14, and 512 of 7 x 7.
        RuleCase{"h200", of_taps(64, 576, 0.8, 3136), "stream:columns=32,panels=4,warps=2,stages=2"},
        RuleCase{"h200", of_taps(64, 576, 0.8, 25088), "stream:columns=64,panels=2,warps=4,stages=3,share=4,rows=32"},
        RuleCase{"h200", of_taps(64, 576, 0.5, 100352), "stream:columns=64,panels=4,warps=2,stages=2"},
        RuleCase{"h200", of_taps(256, 2304, 0.7, 196), "stream:columns=16,panels=2,warps=4,stages=2"},
        RuleCase{"h200", of_taps(128, 1152, 0.7, 25088), "stream:columns=64,panels=4,warps=2,stages=3,share=2,rows=32"},
        RuleCase{"h200", of_taps(256, 2304, 0.7, 6272), "stream:columns=64,panels=2,warps=4,stages=2,share=2,rows=32"},
        RuleCase{"h200", of_taps(256, 2304, 0.8, 6272), "stream:columns=32,panels=4,warps=4,stages=3,share=4,rows=32"},
        RuleCase{"h200", of_taps(512, 4608, 0.8, 392), "stream:columns=32,panels=4,warps=2,stages=2"},
        // Steps of two pixels.
        RuleCase{"h200", in_layout("n_k_2n_2n.n_m_n_n", layer(512, 256, 0.7, 6272, "f32")), "stream:columns=64,panels=8,warps=1,stages=2"},
        // Other numbers of multiprocessors.
        RuleCase{"a100", of_taps(256, 2304, 0.8, 6272), "stream:columns=64,panels=4,warps=2,stages=3,share=2,rows=32"},
        // Panels are faster for sparse ones, for few columns of C, or channels that stand beside each other; of points the databases know more.
        RuleCase{"h200", of_taps(64, 576, 0.98, 100352), ""}, RuleCase{"h200", of_taps(128, 1152, 0.9, 784), ""},
        RuleCase{"h200", of_taps(512, 4608, 0.8, 49), ""},
        RuleCase{"h200", in_layout("n_k_n_n.n_m_n_n", layer(256, 64, 0.7, 100352, "f32")), ""},
        RuleCase{"h200", in_layout("n_k_n_n.n_m_n_n", layer(256, 1024, 0.7, 6272, "f32")), ""},
        RuleCase{"h200", in_layout("n_nk_nk_k.n_n_n_m", layer(256, 2304, 0.7, 6272, "f32")), ""},
        // Other elements, other layouts, and GPUs without sparse tensor cores.
        RuleCase{"h200", layer(8192, 8192, 0.7, 8, "f32"), ""}, RuleCase{"h200", layer(8192, 8192, 0.7, 8, "f64"), ""},
        RuleCase{"h200", in_layout("n_k_n_n.n_m_n_n", layer(8192, 8192, 0.7, 8)), ""},
        RuleCase{"t4", layer(8192, 8192, 0.7, 8), ""},
        // Float32 whose blocks of 64 rows, of 32, or of 16 columns would fill half of the multiprocessors: two blocks share windows, where panels are slower.
        RuleCase{"h200", layer(1024, 4096, 0.7, 128, "f32"), "stream:columns=64,panels=1,warps=16,stages=2,share=4,rows=80,copies=bulk,cluster=4,dense=placed"},
        RuleCase{"h200", layer(1024, 4096, 0.8, 32, "f32"), "stream:columns=16,panels=1,warps=8,stages=2,share=2,rows=32,cluster=2"},
        RuleCase{"h200", layer(1024, 2048, 0.7, 32, "f32"), "stream:columns=16,panels=1,warps=8,stages=2,share=2,rows=32,cluster=2"}, RuleCase{"h200", layer(1024, 2048, 0.8, 32, "f32"), ""},
        RuleCase{"h200", layer(768, 3072, 0.5, 64, "tf32"), "stream:columns=32,panels=2,warps=4,stages=2,share=4,rows=32,copies=bulk,cluster=4,dense=on"},
        RuleCase{"h200", layer(1024, 4096, 0.9, 64, "f32"), ""}, RuleCase{"h200", layer(1024, 1024, 0.5, 32, "f32"), ""},
        RuleCase{"a100", layer(1024, 4096, 0.7, 64, "f32"), ""},
        // Less shared memory: fewer warps and stages; other numbers of multiprocessors.
        RuleCase{"a100", layer(8192, 8192, 0.7, 8), "stream:columns=8,panels=5,warps=2,stages=3"},
        RuleCase{"l4", layer(8192, 8192, 0.7, 32), "stream:columns=32,panels=3,warps=1,stages=3"}));

TEST(StreamedSchedules, AreLegalAndFitOnEveryTarget) {
  std::map<std::string, int> found;
  for (const std::string gpu : {"h200", "h100", "a100", "a30", "a10", "rtx3090", "l4", "l40s", "gh200", "b200", "gb200", "rtx5090"}) {
    const KernelTarget target = target_of(gpu);
    for (const std::int64_t rows : {1, 16, 500, 512, 1000, 2112, 2113, 4096, 11008, 28672, 100000, 2000000}) {
      for (const std::int64_t columns : {1, 200, 256, 257, 512, 2048, 4096, 28672, 100000}) {
        for (const double zeros : {0.0, 0.5, 0.85, 0.9}) {
          for (const long long bcol : {1, 7, 8, 9, 32, 33, 64, 100, 1000, 100000}) {
            for (const std::string dtype : {"f16", "f32", "tf32"}) {
              const LayerShape shape = layer(rows, columns, zeros, bcol, dtype);
              const std::vector<ScheduleChoice> choices = streamed_schedules(shape, target);
              found[dtype] += choices.empty() ? 0 : 1;
              for (const ScheduleChoice& choice : choices) {
                EXPECT_NO_THROW(check_legal(choice.schedule, bcol)) << print(choice.schedule) << ", bCol " << bcol;
              }
              if (!choices.empty()) {
                EXPECT_EQ(print(choices.back().schedule),
                          with_measured_copies("stream:columns=8,panels=1,warps=1,stages=2", shape, target));
              }
            }
          }
        }
      }
    }
  }
  EXPECT_GT(found["f16"], 5000);
  EXPECT_GT(found["f32"], 1000);
  EXPECT_GT(found["tf32"], found["f32"]);
}

/// Large ones are taken where float32's are, which is said not to have been measured, but for those of many non-zeros.
TEST(StreamedSchedules, OfTf32FollowFloat32) {
  const KernelTarget h200 = target_of("h200");
  const std::vector<ScheduleChoice> choices = streamed_schedules(layer(2048, 4096, 0.8, 128, "tf32"), h200);
  ASSERT_FALSE(choices.empty());
  EXPECT_EQ(choices.front().source,
            "by rule: layers of this size and share of zeros are streamed; not measured for tf32");
  EXPECT_THAT(print(choices.front().schedule), testing::EndsWith(",copies=bulk"));
  EXPECT_THAT(streamed_schedules(layer(512, 512, 0.7, 64, "tf32"), h200), IsEmpty());
  EXPECT_THAT(streamed_schedules(in_layout("nk", layer(4096, 4096, 0.7, 128, "tf32")), h200), IsEmpty());
  EXPECT_THAT(types_like("tf32"), testing::ElementsAre("tf32", "f32"));
  EXPECT_THAT(types_like("f32"), testing::ElementsAre("f32"));
}

TEST(StreamedSchedules, FitEachOfTheArchitecturesThatAKernelIsBuiltFor) {
  const KernelTarget both = kernel_target(device_of_gpu("h200").key, {80, 90});
  EXPECT_EQ(both.oldest_architecture, 80);
  EXPECT_EQ(both.multiprocessors, 132);
  EXPECT_EQ(both.shared_bytes, shared_bytes_per_block(80));
  EXPECT_EQ(kernel_target({}, {}).multiprocessors, 132);
  EXPECT_EQ(kernel_target({}, {}).memory_gigabytes, both.memory_gigabytes);
  EXPECT_LT(kernel_target(device_of_gpu("h100").key, {}).memory_gigabytes, both.memory_gigabytes);
  EXPECT_EQ(print(streamed_schedules(layer(8192, 8192, 0.7, 8), both).front().schedule), "stream:columns=8,panels=4,warps=2,stages=3,pdl=on");
  EXPECT_THAT(streamed_schedules(layer(8192, 8192, 0.7, 8), kernel_target(device_of_gpu("h200").key, {75, 90})), IsEmpty());
}

/// What somebody has measured of the very layer counts more than what holds for layers like it; what this program has of it was measured with other families alone.
TEST(StreamedSchedules, StandBehindALayerOfYourDatabase) {
  LayerShape shape = layer(4096, 4096, 0.7, 128, "f32");
  shape.pattern = std::string(64, 'a');
  const Schedule measured = parse_schedule("panel:columns=32,warps=4");
  const ScheduleDatabase yours(shipped_database().head(), {.layers = {{.bcol = 128, .pattern = shape.pattern, .schedule = measured}}});
  const std::array<const ScheduleDatabase*, 2> both{&yours, &shipped_database()};
  EXPECT_EQ(ranked_schedules(shape, both).front().schedule, measured);
  shape.pattern = std::string(64, 'b');
  EXPECT_THAT(ranked_schedules(shape, both).front().source, StartsWith("by rule"));
}

TEST(StreamedSchedules, StandInFrontOfThoseMeasuredInFloat32) {
  const DeviceKey h200 = device_of_gpu("h200").key;
  for (const std::string dtype : {"f16", "bf16"}) {
    LayerShape large = layer(4096, 4096, 0.7, 4, dtype);
    EXPECT_THAT(choose_schedule(large, h200).source, StartsWith("database: one NVIDIA H200"));
    EXPECT_EQ(choose_schedule(large, h200).database->dtype, "f16");
    large = in_layout("nk", large);  // in which no layer of 16 bits has been measured
    EXPECT_EQ(choose_schedule(large, h200).source, "by rule: layers of this size and share of zeros are streamed; not measured for " + dtype);
    const std::vector<ScheduleChoice> ranking = ranked_schedules(large, databases_for(large, h200, {&shipped_databases()}));
    EXPECT_EQ(family(ranking[3].schedule), "stream");
    EXPECT_THAT(ranking[4].source, StartsWith("database: one NVIDIA H200"));
    const LayerShape sparse = in_layout("nk", layer(512, 512, 0.95, 8, dtype));
    const LayerShape single = in_layout("nk", layer(512, 512, 0.95, 8, "f32"));
    EXPECT_EQ(choose_schedule(sparse, h200).schedule, choose_schedule(single, h200).schedule);
    EXPECT_EQ(choose_schedule(sparse, h200).database->dtype, "f32");
  }
}

TEST(StreamedSchedules, OfLargeLayersAndManyColumnsCopyInBulkAsMeasured) {
  const DeviceKey h200 = device_of_gpu("h200").key;
  for (const std::int64_t size : {4096, 8192}) {
    EXPECT_THAT(print(choose_schedule(layer(size, size, 0.6, 32), h200).schedule), testing::EndsWith(",copies=bulk"))
        << size;
    EXPECT_EQ(family(choose_schedule(layer(size, size, 0.6, 40), h200).schedule), "bitmap") << size;
  }
  for (const long long bcol : {32, 40, 64}) {
    EXPECT_THAT(print(choose_schedule(layer(512, 512, 0.7, bcol), h200).schedule),
                testing::Not(testing::EndsWith(",copies=bulk")))
        << bcol;
  }
}

/// What a layer in layout kn gets on an H200: the schedule, or a part of it.
struct QuarteredCase {
  LayerShape shape;
  std::string schedule;
};

class Quartered : public testing::TestWithParam<QuarteredCase> {};

TEST_P(Quartered, LayersLargerThanACacheHaveQuarterSteps) {
  const ScheduleChoice choice = choose_schedule(GetParam().shape, device_of_gpu("h200").key);
  EXPECT_EQ(print(choice.schedule), GetParam().schedule);
  EXPECT_THAT(choice.source, testing::HasSubstr("measured on one NVIDIA H200"));
}

INSTANTIATE_TEST_SUITE_P(
    Streamed, Quartered,
    testing::Values(QuarteredCase{layer(8192, 8192, 0.8, 8), "stream:columns=8,panels=4,warps=4,stages=2,pdl=on,copies=bulk,quarters=on"},
                    QuarteredCase{layer(8192, 8192, 0.7, 16, "bf16"), "stream:columns=16,panels=4,warps=4,stages=2,pdl=on,copies=bulk,quarters=on"},
                    QuarteredCase{layer(8192, 8192, 0.9, 32), "stream:columns=32,panels=4,warps=2,stages=2,pdl=on,copies=bulk,quarters=on"},
                    // Six panels for each of 115 blocks are six for the busiest multiprocessor, four for each of 172 are eight.
                    QuarteredCase{layer(11008, 4096, 0.9, 8), "stream:columns=8,panels=6,warps=2,stages=2,pdl=on,copies=bulk,quarters=on"},
                    QuarteredCase{layer(11008, 4096, 0.8, 32), "stream:columns=32,panels=6,warps=2,stages=2,pdl=on,copies=bulk,quarters=on"},
                    QuarteredCase{layer(28672, 8192, 0.9, 32), "stream:columns=32,panels=7,warps=2,stages=2,pdl=on,copies=bulk,quarters=on"},
                    QuarteredCase{layer(8192, 8192, 0.9, 16), "stream:columns=16,panels=4,warps=4,stages=2,pdl=on,copies=bulk,quarters=on"},
                    // Boxes of a B with other columns have rows, which lanes copy faster.
                    QuarteredCase{layer(8192, 8192, 0.8, 12), "stream:columns=16,panels=4,warps=4,stages=2,pdl=on,copies=units,quarters=on"},
                    QuarteredCase{layer(4096, 14336, 0.8, 12), "stream:columns=16,panels=2,warps=8,stages=2,pdl=on,copies=units,quarters=on"},
                    QuarteredCase{layer(11008, 4096, 0.9, 16), "stream:columns=16,panels=6,warps=2,stages=2,pdl=on,copies=bulk,quarters=on"},
                    QuarteredCase{layer(8192, 28672, 0.9, 16), "stream:columns=16,panels=4,warps=4,stages=2,pdl=on,copies=bulk,quarters=on"},
                    QuarteredCase{layer(8192, 28672, 0.8, 32), "stream:columns=32,panels=4,warps=2,stages=2,pdl=on,copies=bulk,quarters=on"},
                    QuarteredCase{layer(28672, 8192, 0.8, 16), "stream:columns=16,panels=7,warps=2,stages=2,pdl=on,copies=bulk,quarters=on"},
                    QuarteredCase{layer(4096, 14336, 0.8, 16), "stream:columns=16,panels=2,warps=4,stages=2,pdl=on,copies=bulk,quarters=on"},
                    QuarteredCase{layer(4096, 14336, 0.8, 32), "stream:columns=32,panels=2,warps=4,stages=2,pdl=on,copies=bulk,quarters=on"},
                    QuarteredCase{layer(4096, 11008, 0.8, 8), "stream:columns=8,panels=2,warps=8,stages=2,pdl=on,copies=bulk,quarters=on"},
                    QuarteredCase{layer(4096, 11008, 0.8, 32), "stream:columns=32,panels=2,warps=4,stages=2,pdl=on,copies=bulk,quarters=on"},
                    QuarteredCase{layer(5120, 13824, 0.8, 8), "stream:columns=8,panels=3,warps=4,stages=2,pdl=on,copies=bulk,quarters=on"},
                    QuarteredCase{layer(8192, 8192, 0.8, 1), "stream:columns=1,panels=4,warps=4,stages=2,pdl=on,copies=bulk,quarters=on"},
                    QuarteredCase{layer(8192, 8192, 0.9, 4), "stream:columns=8,panels=4,warps=4,stages=2,pdl=on,copies=bulk,quarters=on"}));

bool has_quarters(const ScheduleChoice& choice) {
  const auto* const stream = std::get_if<StreamSchedule>(&choice.schedule);
  return stream != nullptr && stream->quarters;
}

TEST(StreamedSchedules, HaveNoQuarterStepsWhereTheyDoNotPay) {
  const DeviceKey h200 = device_of_gpu("h200").key;
  for (const LayerShape& shape : {layer(8192, 8192, 0.6, 8), layer(4096, 4096, 0.8, 8), layer(2048, 2048, 0.9, 8), layer(8192, 8192, 0.8, 32, "f32")}) {
    EXPECT_TRUE(std::ranges::none_of(ranked_schedules(shape, databases_for(shape, h200, {&shipped_databases()})), has_quarters)) << shape.rows << " x " << shape.columns;
  }
}

/// Rows of 8, 16 and 32 columns share lines of 128 bytes where B has no other columns and whole lines.
TEST(StreamedSchedules, HaveLinesInBoxesWhereBHasTheColumnsOfABlock) {
  EXPECT_EQ(line_rows_of_boxes(8, 4096, 8), 8);
  EXPECT_EQ(line_rows_of_boxes(16, 4096, 16), 4);
  EXPECT_EQ(line_rows_of_boxes(32, 4096, 32), 2);
  EXPECT_EQ(line_rows_of_boxes(64, 4096, 64), 1);
  EXPECT_EQ(line_rows_of_boxes(16, 4096, 32), 1);
  EXPECT_EQ(line_rows_of_boxes(16, 4096, 12), 1);
  EXPECT_EQ(line_rows_of_boxes(8, 4096, 4), 1);
  EXPECT_EQ(line_rows_of_boxes(8, 4100, 8), 1);
  EXPECT_EQ(line_rows_of_boxes(16, 4098, 16), 1);
  EXPECT_EQ(line_rows_of_boxes(32, 4098, 32), 2);
}

/// In 16 bits values are listed where half of them are not zero and columns are few, by one block for each multiprocessor of a device whose memory is slow.
TEST(StreamedSchedules, ListTheValuesOfHalfFullLayersThatFillTheDeviceOnce) {
  const KernelTarget h100 = target_of("h100");
  const auto best = [&](const LayerShape& shape) { return print(listed_streams(shape, h100).front().schedule); };
  EXPECT_EQ(best(layer(8192, 8192, 0.5, 1)), "stream:columns=8,panels=2,warps=4,stages=2,pdl=on,rows=32,copies=units,dense=listed");
  EXPECT_EQ(best(layer(8192, 8192, 0.5, 16, "bf16")), "stream:columns=16,panels=4,warps=3,stages=2,pdl=on,copies=units,dense=listed");
  EXPECT_EQ(best(layer(11008, 4096, 0.5, 8)), "stream:columns=8,panels=6,warps=2,stages=2,pdl=on,copies=units,dense=listed");
  EXPECT_EQ(best(layer(4096, 14336, 0.5, 8)), "stream:columns=8,panels=2,warps=6,stages=2,pdl=on,copies=units,dense=listed");
  EXPECT_EQ(best(layer(28672, 8192, 0.5, 8)), "stream:columns=8,panels=7,warps=1,stages=3,pdl=on,rows=32,copies=units,dense=listed");
  EXPECT_EQ(print(choose_schedule(layer(8192, 8192, 0.5, 8), device_of_gpu("h100").key).schedule), best(layer(8192, 8192, 0.5, 8)));
  for (const LayerShape& shape : {layer(8192, 8192, 0.6, 8), layer(8192, 8192, 0.5, 32), layer(16384, 4096, 0.5, 8), layer(65536, 1024, 0.5, 8), layer(1024, 65536, 0.5, 8),
                                  layer(4096, 4096, 0.5, 8), layer(8192, 8192, 0.5, 8, "f32"), in_layout("nk", layer(8192, 8192, 0.5, 8))}) {
    EXPECT_THAT(listed_streams(shape, h100), IsEmpty()) << shape.rows << " x " << shape.columns;
  }
  EXPECT_THAT(listed_streams(layer(8192, 8192, 0.5, 8), target_of("a100")), IsEmpty());
  EXPECT_THAT(listed_streams(layer(8192, 8192, 0.5, 8), target_of("h200")), IsEmpty());
}

/// With one column kernels that skip zeros are faster from fewer zeros on.
TEST(StreamedSchedules, AreNotTakenForOneColumnOfManyZeros) {
  EXPECT_FALSE(std::holds_alternative<StreamSchedule>(choose_schedule(layer(8192, 8192, 0.9, 1), device_of_gpu("h200").key).schedule));
}

/// Layouts and numbers of columns for which quarter steps were not measured have them in what is known otherwise.
TEST(StreamedSchedules, HaveQuarterStepsInWhateverStreamsALayerThatIsLargerThanACache) {
  const DeviceKey h200 = device_of_gpu("h200").key;
  const ScheduleChoice tokens = choose_schedule(in_layout("nk", layer(8192, 8192, 0.8, 8)), h200);
  EXPECT_TRUE(has_quarters(tokens));
  EXPECT_THAT(tokens.source, testing::EndsWith("with quarter steps by rule, as the layer is larger than a cache"));
  EXPECT_TRUE(has_quarters(choose_schedule(layer(8192, 8192, 0.8, 64), h200)));
  const ScheduleChoice few_rows = choose_schedule(layer(1024, 65536, 0.8, 8), h200);
  EXPECT_TRUE(has_quarters(few_rows));
  EXPECT_THAT(few_rows.source, testing::HasSubstr("database"));
}

/// A database whose measurements had them in it is asked in place of the rule.
TEST(StreamedSchedules, HaveQuarterStepsAsADatabaseSaysThatKnowsThem) {
  const std::string text =
      "device sm90-132sm-60mib Mine\ndtype f16\nevidence measured\ncandidate 8 0 stream:columns=8,panels=3,warps=2,stages=3\n"
      "candidate 8 1 stream:columns=8,panels=3,warps=2,stages=3,quarters=on\nclass 8 26 26 21 21 1 1.2 - 0.0 20.0\n";
  const std::vector<ScheduleDatabase> mine = databases_in(text, "mine.txt");
  const LayerShape shape = layer(8192, 8192, 0.8, 8);
  EXPECT_EQ(print(ranked_schedules(shape, databases_for(shape, device_of_gpu("h200").key, {&mine})).front().schedule),
            "stream:columns=8,panels=3,warps=2,stages=3,pdl=on");
}

/// What was measured in either type of 16 bits comes in place of the rule.
TEST(StreamedSchedules, GiveWayToADatabase) {
  const std::string text =
      "device sm90-132sm-60mib Mine\ndtype f16\nevidence measured\ncandidate 8 0 stream:columns=8,panels=3,warps=2,stages=3\n"
      "candidate 8 1 panel:ufi=4,columns=8,panels=4\nclass 8 24 24 21 21 1 1.2 - 0.0 200.0\n";
  const std::vector<ScheduleDatabase> mine = databases_in(text, "mine.txt");
  const DeviceKey h200 = device_of_gpu("h200").key;
  for (const std::string dtype : {"f16", "bf16"}) {
    const LayerShape large = layer(4096, 4096, 0.7, 8, dtype);
    const auto found = databases_for(large, h200, {&mine, &shipped_databases()});
    ASSERT_EQ(found.front(), &mine.front());
    const std::vector<ScheduleChoice> ranking = ranked_schedules(large, found, target_of("h200"));
    EXPECT_EQ(print(ranking.front().schedule), "stream:columns=8,panels=3,warps=2,stages=3,pdl=on");
    EXPECT_THAT(ranking.front().source, HasSubstr("one Mine"));
    EXPECT_EQ(ranking.front().database->dtype, "f16");
    EXPECT_EQ(family(ranked_schedules(large, found, target_of("t4")).front().schedule), "panel") << "which has no sparse tensor cores";
  }
  const LayerShape single = layer(4096, 4096, 0.7, 8, "f32");
  EXPECT_EQ(databases_for(single, h200, {&mine, &shipped_databases()}).front(), &shipped_database()) << "never the other way round";
  const LayerShape strange = in_layout("n_k_n_n.n_m_n_n", layer(4096, 4096, 0.7, 8));
  for (const ScheduleChoice& choice : ranked_schedules(strange, databases_for(strange, h200, {&mine}))) {
    EXPECT_NE(family(choice.schedule), "stream") << "which would take its elements one by one";
  }
}

}  // namespace
}  // namespace esc

// SPDX-License-Identifier: Apache-2.0
#include "generator/schedule/sparse_panels.h"

#include <algorithm>
#include <iterator>

namespace esc {
namespace {

/// The lanes of a warp share the non-zeros of a row in two groups, or in four.
constexpr PanelSchedule row_in_two{
    .ufi = 1, .columns = 64, .vector = 4, .groups = 2, .warps = 1, .panels = 4, .ufk = 4, .stage = false};
constexpr PanelSchedule row_in_four{
    .ufi = 1, .columns = 32, .vector = 4, .groups = 4, .warps = 1, .panels = 4, .ufk = 4, .stage = false};
constexpr PanelSchedule two_rows_of_a_warp{
    .ufi = 1, .columns = 64, .vector = 4, .groups = 1, .warps = 1, .panels = 8, .ufk = 8, .stage = false};
constexpr PanelSchedule four_rows_of_a_warp{
    .ufi = 1, .columns = 32, .vector = 4, .groups = 1, .warps = 1, .panels = 4, .ufk = 8, .stage = false};

enum class Form { tall, square, wide };  ///< whether a layer has more rows than columns

/// Layers that were measured, and what was the fastest of 80 schedules with a warp for each row: 4096 x 4096, 11,008 x
/// 4096, 8192 x 8192, 4096 x 11,008 and
/// 2048 x 8192 with 90 to 98 % zeros, and of five of these 11,008 x 4096 and 4096 x 4096 with 99 %. What is not listed
/// was no faster by them than by what its class has, or is faster by gathered_rows.
struct Measured {
  long long columns_of_b;  ///< at least, and less than twice as many
  Form form;
  std::int64_t least_rows;
  std::int64_t most_columns;  ///< of A
  double sparsest;
  double densest;
  PanelSchedule schedule;
};

constexpr std::int64_t any = 1 << 14;

constexpr Measured measured[] = {
    {128, Form::wide, 2048, any, 0.015, 0.09, row_in_two},
    {128, Form::square, 4096, 4096, 0.008, 0.015, four_rows_of_a_warp},
    {64, Form::tall, 8192, 4096, 0.008, 0.015, two_rows_of_a_warp},
    {64, Form::square, 4096, any, 0.008, 0.09, row_in_two},
    {64, Form::wide, 4096, any, 0.015, 0.09, row_in_two},
    {32, Form::tall, 8192, 4096, 0.008, 0.09, four_rows_of_a_warp},
    {32, Form::square, 4096, 4096, 0.008, 0.12, row_in_four},
};

Form form_of(const LayerShape& shape) {
  return shape.rows > shape.columns ? Form::tall : shape.rows == shape.columns ? Form::square : Form::wide;
}

bool is_like(const LayerShape& shape, const Measured& layers) {
  return shape.bcol >= layers.columns_of_b && shape.bcol < 2 * layers.columns_of_b && form_of(shape) == layers.form &&
         shape.rows >= layers.least_rows && shape.columns <= layers.most_columns &&
         shape.density() >= layers.sparsest && shape.density() < layers.densest;
}

/// Layers of fewer columns of A have a B that stays in the cache whole, however many rows there are.
bool is_large_and_even(const LayerShape& shape) {
  constexpr double smallest = 4096.0 * 4096;
  constexpr std::int64_t least_columns = 4096;
  return (shape.dtype == "f32" || shape.dtype == "tf32") && shape.layout == "kn" && shape.elements() >= smallest &&
         shape.columns >= least_columns && !follows_power_law(shape);
}

}  // namespace

std::vector<ScheduleChoice> sparse_panels(const LayerShape& shape, const KernelTarget& target) {
  constexpr int measured_architecture = 90;
  if (!is_large_and_even(shape) || target.oldest_architecture < measured_architecture) {
    return {};
  }
  const auto* const found =
      std::ranges::find_if(measured, [&](const Measured& layers) { return is_like(shape, layers); });
  if (found == std::end(measured)) {
    return {};
  }
  return {{found->schedule, "by rule: large layers of few non-zeros; measured on one NVIDIA H200"}};
}

}  // namespace esc

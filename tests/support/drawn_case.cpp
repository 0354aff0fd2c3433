// SPDX-License-Identifier: Apache-2.0
#include "tests/support/drawn_case.h"

#include <fmt/format.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cstdlib>

#include "generator/emit/generate.h"
#include "tests/support/covering_sample.h"
#include "tests/support/random_case.h"
#include "tests/support/run_size.h"

namespace esc::tests {
namespace {

constexpr std::uint64_t cases_of_a_whole_run = 400;
constexpr std::uint64_t cases_of_which_a_part_is_taken = 100;
constexpr std::int64_t columns_of_16_bits = 65536;

/// Takes values from generators, one after the other, the same ones from a seed.
class Draw {
 public:
  explicit Draw(std::uint64_t seed) : random_(seed) {}

  template <typename Value>
  Value from(const rc::Gen<Value>& generator) {
    return generator(random_.split(), rc::kNominalSize).value();
  }

 private:
  rc::Random random_;
};

/// The matrices are too small for any schedule of another family to be illegal for them.
bool is_suitable(const SparseMatrix& matrix, std::int64_t bcol, const PanelSchedule& schedule) {
  try {
    planned_bytes(matrix, spmm_nest(matrix.element),
                  {.name = "drawn",
                   .source_file = "drawn.mtx",
                   .bcol = bcol,
                   .architectures = {80},
                   .choice = {schedule, "user"}});
    return true;
  } catch (const UnsuitableSchedule&) {
    return false;
  }
}

/// 0 where both are 0, 1 where they are equal, else 2.
int kind_of_pair(std::int64_t one, std::int64_t other) { return one != other ? 2 : one == 0 ? 0 : 1; }

/// What tells cases apart, coarsely: few enough values that all pairs come up in a short run.
std::vector<int> keys_of(const DrawnCase& drawn) {
  const SparseMatrix& a = drawn.a;
  const ProductCase& product = drawn.product;
  const int shape = a.columns > columns_of_16_bits ? 3 : a.rows == 1 ? 2 : a.columns == 1 ? 1 : 0;
  const int width = drawn.bcol == 1 ? 0 : drawn.bcol % 4 != 0 ? 1 : drawn.bcol < 64 ? 2 : 3;
  return {shape,
          width,
          a.element == ScalarType::f64,
          kind_of_pair(product.ldb - product.n, product.ldc - product.n),
          kind_of_pair(product.shift_b, product.shift_c),
          drawn.atomic.compaction,
          drawn.row_tile.ufi,
          drawn.row_tile.warps > 1,
          drawn.row_tile.stage,
          a.longest_row() > drawn.rows.task};
}

}  // namespace

std::vector<double> DrawnCase::b() const {
  return draw_b(a.columns, {product.n, product.n, product.n}, seed, a.element);
}

DrawnCase draw_case(std::uint64_t seed) {
  constexpr std::uint64_t wide_one_of = 8;
  constexpr std::int64_t most_columns_for_wide = 4;  // B has K rows of them
  // A kernel has a body for each pattern where it has no compaction, up to 255 of them, and time goes with the text.
  constexpr std::int64_t most_columns_for_all_patterns = 9;
  Draw draw(seed);
  DrawnCase drawn{.seed = seed};
  const bool is_wide = seed % wide_one_of == 0;
  drawn.a = draw.from(is_wide ? wide_matrix() : awkward_matrix(40));
  drawn.bcol = draw.from(awkward_bcol(is_wide ? most_columns_for_wide : 257));
  do {
    drawn.product = draw.from(product_case(drawn.bcol));
  } while (is_wide && drawn.product.n > most_columns_for_wide);
  drawn.atomic = draw.from(legal_schedule(drawn.bcol));
  if (!drawn.atomic.compaction && drawn.a.columns > most_columns_for_all_patterns) {
    drawn.atomic.ufi = std::min(drawn.atomic.ufi, 3);
  }
  drawn.rows = draw.from(legal_rows_schedule(drawn.bcol));
  do {
    drawn.row_tile = draw.from(legal_panel_schedule(drawn.bcol));
  } while (!is_suitable(drawn.a, drawn.bcol, drawn.row_tile));
  return drawn;
}

std::string print(const DrawnCase& drawn) {
  const SparseMatrix& a = drawn.a;
  std::string text = fmt::format("ESC_CASE={}: {} x {} of {} with {} non-zeros, {} in the longest row; bCol {}; {}",
                                 drawn.seed, a.rows, a.columns, name_of(a.element), a.nonzeros(), a.longest_row(),
                                 drawn.bcol, print(drawn.product));
  for (const Schedule& schedule : drawn.schedules()) {
    text += "; " + print(schedule);
  }
  return text;
}

std::vector<DrawnCase> cases_of_the_run() {
  if (one_case_is_asked_for()) {
    return {draw_case(std::stoull(std::getenv("ESC_CASE")))};
  }
  std::vector<DrawnCase> all;
  const std::uint64_t count = full_sweep() ? cases_of_a_whole_run : cases_of_which_a_part_is_taken;
  const std::uint64_t first = 1000 * seed_of_the_run();
  for (std::uint64_t number = 0; number < count; ++number) {
    all.push_back(draw_case(first + number));
  }
  return full_sweep() ? all : in_this_build(covering_part(all, keys_of));
}

bool one_case_is_asked_for() { return std::getenv("ESC_CASE") != nullptr; }

}  // namespace esc::tests

// SPDX-License-Identifier: Apache-2.0
// Schedules of one form pack a matrix into the same bytes, for any number of columns of C; and the form that is chosen
// for several.
#include "generator/schedule/packed_form.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <random>
#include <vector>

#include "generator/emit/generate.h"
#include "generator/schedule/search_space.h"
#include "generator/schedule/shared_form.h"
#include "tests/support/run_size.h"

namespace esc {
namespace {

using testing::AnyOf;
using testing::StartsWith;

constexpr int rows = 72, columns = 600;

/// One in ten is not zero.
SparseMatrix drawn_matrix(ScalarType element, std::mt19937_64& random) {
  SparseMatrix matrix{
      .rows = rows, .columns = columns, .offsets = {0}, .column_of = {}, .values = {}, .element = element};
  for (int row = 0; row < rows; ++row) {
    for (int column = 0; column < columns; ++column) {
      if (random() % 10 == 0) {
        matrix.column_of.push_back(column);
        matrix.values.push_back(static_cast<double>(random() % 7) - 3.5);
      }
    }
    matrix.offsets.push_back(static_cast<std::int64_t>(matrix.values.size()));
  }
  return matrix;
}

/// The packed matrix; nothing where the schedule does not suit it.
std::vector<std::byte> packed(const SparseMatrix& matrix, const Schedule& schedule, std::int64_t bcol) {
  try {
    const GeneratedLayer layer = generate_layer(
        matrix, spmm_nest(matrix.element),
        {.name = "layer", .source_file = "m.npy", .bcol = bcol, .architectures = {90}, .choice = {schedule, ""}});
    return {layer.bytes().begin(), layer.bytes().end()};
  } catch (const UnsuitableSchedule&) {
    return {};
  }
}

TEST(PackedForm, DecidesWhatAMatrixIsPackedInto) {
  std::mt19937_64 random(tests::seed_of_the_run());
  for (const ScalarType element : {ScalarType::f32, ScalarType::f16}) {
    const SparseMatrix matrix = drawn_matrix(element, random);
    std::map<std::string, std::vector<std::pair<Schedule, std::int64_t>>> forms;
    for (const std::int64_t bcol : {1, 8, 32, 64}) {
      const LayerShape shape{
          .bcol = bcol, .rows = rows, .columns = columns, .nonzeros = matrix.nonzeros(), .dtype = name_of(element)};
      for (const Schedule& schedule :
           search_space({bcol, true}, families_for(all_families(), name_of(element), "kn"))) {
        forms[packed_form(schedule)].emplace_back(schedule, bcol);
      }
    }
    // Those of several schedules; of most families there are few, of streams hundreds.
    std::vector<std::string> names;
    for (const auto& [form, schedules] : forms) {
      const std::size_t family = form.starts_with("stream") ? tests::full_sweep() ? 1 : 24 : 1;
      if (schedules.size() > 1 && random() % family == 0) {
        names.push_back(form);
      }
    }
    int compared = 0;
    for (const std::string& form : names) {
      constexpr std::size_t of_each = 3;
      std::vector<std::pair<Schedule, std::int64_t>>& schedules = forms.at(form);
      std::ranges::shuffle(schedules, random);
      schedules.resize(std::min(schedules.size(), of_each));
      std::vector<std::byte> first;
      for (const auto& [schedule, bcol] : schedules) {
        const std::vector<std::byte> bytes = packed(matrix, schedule, bcol);
        if (first.empty()) {
          first = bytes;
        } else if (!bytes.empty()) {
          ++compared;
          EXPECT_TRUE(bytes == first) << form << ": " << print(schedule) << ", N = " << bcol << ", beside "
                                      << print(schedules.front().first) << ", N = " << schedules.front().second;
        }
      }
    }
    EXPECT_GT(compared, 20);
  }
}

std::vector<WeightedShape> products_of(LayerShape shape, const std::vector<std::pair<long long, double>>& counts) {
  std::vector<WeightedShape> products;
  for (const auto& [bcol, weight] : counts) {
    shape.bcol = bcol;
    products.push_back({shape, weight});
  }
  return products;
}

TEST(SharedForm, IsOfAScheduleForEachNumberOfColumns) {
  for (const char* const dtype : {"f32", "f16"}) {
    const std::vector<WeightedShape> products = products_of(
        {.rows = 2048, .columns = 2048, .nonzeros = 2048 * 205, .dtype = dtype}, {{1, 1}, {16, 1}, {64, 1}, {256, 1}});
    const std::string form = shared_form(products, KernelTarget{});
    for (const auto& [shape, weight] : products) {
      EXPECT_TRUE(
          std::ranges::any_of(usual_space(shape), [&](const Schedule& one) { return packed_form(one) == form; }))
          << dtype << ": " << form << ", N = " << shape.bcol;
    }
  }
}

TEST(SharedForm, IsThatOfTheOneProductThatWeighsAll) {
  const LayerShape shape{.rows = 2048, .columns = 2048, .nonzeros = 2048 * 205};
  for (const long long bcol : {1, 32, 128}) {
    const std::string alone = shared_form(products_of(shape, {{bcol, 1}}), KernelTarget{});
    std::vector<std::pair<long long, double>> counts{{1, 1e-6}, {32, 1e-6}, {128, 1e-6}};
    std::ranges::find(counts, bcol, &std::pair<long long, double>::first)->second = 1e6;
    // Unless another number of columns has no schedule of that form.
    EXPECT_THAT(shared_form(products_of(shape, counts), KernelTarget{}),
                AnyOf(alone, StartsWith("rows"), StartsWith("panel")))
        << bcol;
  }
}

TEST(SharedForm, IsSmallerThanTheDenseMatrixWhereThereIsSuch) {
  const auto form = [](std::int64_t nonzeros) {
    return shared_form(
        products_of({.rows = 1024, .columns = 1024, .nonzeros = nonzeros, .dtype = "f16"}, {{1, 1}, {8, 1}}),
        KernelTarget{});
  };
  EXPECT_NE(form(1024 * 100), "");
  EXPECT_EQ(shared_form({}, KernelTarget{}), "");
}

}  // namespace
}  // namespace esc

// SPDX-License-Identifier: Apache-2.0
// Products of one drawn case against each other: of kernels of all families, and of one kernel for operands that are
// changed in a way that says what becomes of C.
//
//   build/release/bin/sweep_test --gtest_filter='*DrawnCases*'  a part of the cases
//   with ESC_SWEEP=full                                         all of them
//   with ESC_CASE=17                                            one, as a failure names it

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>
#include <iostream>
#include <memory>
#include <set>
#include <utility>

#include "tests/support/drawn_case.h"
#include "tests/support/emulated_layer.h"
#include "tests/support/relations.h"
#include "tests/support/run_size.h"

namespace esc {
namespace {

using tests::cases_of_the_run;
using tests::DrawnCase;
using tests::EmulatedKernel;
using tests::layer_of;
using tests::Multiplication;
using tests::Multiply;
using tests::Relation;
using tests::relations;

/// Kernels of one schedule, run on the emulated grid. That of the first matrix is kept, for whatever values its pattern
/// has.
class EmulatedSchedule {
 public:
  EmulatedSchedule(const Schedule& schedule, std::int64_t bcol) : schedule_(schedule), bcol_(bcol) {}

  TypedElements operator()(const Multiplication& asked) {
    if (kept_ && asked.a == matrix_) {
      return product(*kept_, asked);
    }
    const GeneratedLayer layer = layer_of(asked.a, bcol_, schedule_);
    if (kept_ && asked.a.offsets == matrix_.offsets && asked.a.column_of == matrix_.column_of) {
      kept_->take_values_of(layer);
      matrix_ = asked.a;
      return product(*kept_, asked);
    }
    auto kernel = std::make_shared<EmulatedKernel>(layer);
    TypedElements c = product(*kernel, asked);
    if (!kept_) {
      kept_ = std::move(kernel);
      matrix_ = asked.a;
    }
    return c;
  }

 private:
  static TypedElements product(const EmulatedKernel& kernel, const Multiplication& asked) {
    EmulatedProduct result = kernel.product(asked.a, {.product = asked.product}, asked.b, asked.order);
    EXPECT_EQ(result.problems, std::vector<std::string>()) << print(asked.product);
    return std::move(result.c);
  }

  Schedule schedule_;
  std::int64_t bcol_;
  std::shared_ptr<EmulatedKernel> kept_;
  SparseMatrix matrix_;  ///< that it multiplies by
};

/// How often relations were looked at, and could not be because the changed matrix does not allow the schedule.
struct Tally {
  int looked_at = 0;
  int unsuitable = 0;
};

/// Whether the relation's iteration has come: in an ordinary run each family takes another one of those that need a
/// further kernel.
bool has_iteration(const Relation& relation, std::size_t iteration) {
  if (tests::full_sweep() || tests::one_case_is_asked_for() || !relation.changes_the_pattern) {
    return true;
  }
  std::vector<const Relation*> in_turn;
  for (const Relation& one : relations()) {
    if (one.changes_the_pattern) {
      in_turn.push_back(&one);
    }
  }
  return in_turn[iteration % in_turn.size()] == &relation;
}

/// The relations for the kernel of each family, and the families against each other.
void check(const DrawnCase& drawn, std::size_t iteration, Tally& tally) {
  std::vector<Multiply> families;
  for (const Schedule& schedule : drawn.schedules()) {
    families.emplace_back(EmulatedSchedule(schedule, drawn.bcol));
    ++iteration;
    for (const Relation& relation : relations()) {
      if (!has_iteration(relation, iteration)) {
        continue;
      }
      SCOPED_TRACE(fmt::format("{}, {}", family(schedule), relation.name));
      try {
        EXPECT_EQ(relation.violation(drawn, schedule, families.back()), "");
        ++tally.looked_at;
      } catch (const UnsuitableSchedule&) {
        ++tally.unsuitable;
      }
    }
  }
  EXPECT_EQ(disagreement(drawn, families), "");
}

/// One of the parts of the run, to be run beside each other.
class DrawnCases : public testing::TestWithParam<std::size_t> {};
constexpr std::size_t parts = 2;

TEST_P(DrawnCases, KeepEveryRelation) {
  const std::vector<DrawnCase> cases = cases_of_the_run();
  Tally tally;
  for (std::size_t iteration = GetParam(); iteration < cases.size(); iteration += parts) {
    SCOPED_TRACE(print(cases[iteration]));
    check(cases[iteration], iteration, tally);
  }
  std::cout << fmt::format(
      "{} cases, {} relations looked at, {} left out: the changed matrix does not allow the schedule\n", cases.size(),
      tally.looked_at, tally.unsuitable);
  EXPECT_LE(tally.unsuitable, tally.looked_at / 20);
}

[[maybe_unused]] const bool drawn_cases_is_sampled = tests::sample_suite("EveryPart/DrawnCases", 1);

INSTANTIATE_TEST_SUITE_P(EveryPart, DrawnCases, testing::Range(std::size_t{0}, parts),
                         [](const testing::TestParamInfo<std::size_t>& part) { return fmt::format("{}", part.param); });

TEST(DrawnCasesOfARun, HaveEverythingAwkward) {
  if (tests::one_case_is_asked_for()) {
    GTEST_SKIP() << "one case was asked for";
  }
  if (const std::string why = tests::why_not_ordinary(); !why.empty()) {
    GTEST_SKIP() << why;
  }
  std::set<std::string> found;
  for (const DrawnCase& drawn : cases_of_the_run()) {
    const auto note = [&](bool holds, const std::string& what) {
      if (holds) {
        found.insert(what);
      }
    };
    const ProductCase& product = drawn.product;
    note(drawn.a.rows == 1, "one row");
    note(drawn.a.columns == 1, "one column");
    note(drawn.a.columns > 65535, "wide");
    note(drawn.a.rows % drawn.row_tile.ufi != 0, "short row tile");
    note(drawn.a.element == ScalarType::f64, "f64");
    note(drawn.bcol == 1, "bCol 1");
    note(drawn.bcol == 257, "bCol 257");
    note(product.ldb > product.n, "gap in B");
    note(product.ldc > product.n, "gap in C");
    note(product.shift_b != 0 && product.shift_c == 0, "B misaligned");
    note(product.shift_b == 0 && product.shift_c != 0, "C misaligned");
    note(drawn.a.longest_row() > drawn.rows.task, "row cut");
    for (std::int64_t row = 0; row < drawn.a.rows; ++row) {
      note(drawn.a.row_length(row) == 0, "empty row");
      note(drawn.a.columns > 1 && drawn.a.row_length(row) == drawn.a.columns, "full row");
    }
  }
  EXPECT_EQ(found.size(), 14u) << testing::PrintToString(found);
}

TEST(DrawnCasesOfARun, AreTheSameFromASeed) {
  for (const std::uint64_t seed : {8, 17}) {
    const DrawnCase drawn = tests::draw_case(seed);
    EXPECT_EQ(print(tests::draw_case(seed)), print(drawn));
    EXPECT_EQ(tests::draw_case(seed).a, drawn.a);
  }
}

// What the relations are worth: a kernel's results with one element altered.

/// A small case without cut rows, in which every relation says something: several row tiles of two rows, with empty and
/// full rows.
DrawnCase small_case() {
  DrawnCase drawn = tests::draw_case(1);
  drawn.a = {5, 6, {0, 3, 3, 9, 11, 13}, {0, 2, 5, 0, 1, 2, 3, 4, 5, 1, 4, 0, 4}, {}};
  for (int entry = 0; entry < 13; ++entry) {
    drawn.a.values.push_back(0.5 + 0.0625 * entry);
  }
  drawn.bcol = 4;
  drawn.product = {3, 5, 4, 1, 0};
  drawn.atomic = {.ufi = 2};
  drawn.row_tile = {.ufi = 2, .columns = 4, .vector = 1, .groups = 2, .warps = 2, .row_tiles = 4};
  drawn.rows = {.columns = 4, .vector = 1};
  return drawn;
}

using Alter = std::function<void(TypedElements& c, std::size_t element)>;

/// Expects that the relation holds, and that it does not where any one element of any one result is altered.
void expect_noticed(const Multiply& kernel, const std::function<std::string(const Multiply&)>& violation,
                    const Alter& alter) {
  std::vector<TypedElements> results;
  const auto record = [&](const Multiplication& asked) {
    results.push_back(kernel(asked));
    return results.back();
  };
  ASSERT_EQ(violation(record), "");
  ASSERT_FALSE(results.empty());
  for (std::size_t call = 0; call < results.size(); ++call) {
    for (std::size_t element = 0; element < results[call].size(); ++element) {
      std::size_t next = 0;
      const auto replay = [&](const Multiplication&) {
        TypedElements c = results[next];
        if (next++ == call) {
          alter(c, element);
        }
        return c;
      };
      EXPECT_NE(violation(replay), "") << "element " << element << " of product " << call << " is altered";
    }
  }
}

void add_a_little(TypedElements& c, std::size_t element) { c.elements<float>()[element] += 1e-4F; }

void flip_the_last_bit(TypedElements& c, std::size_t element) { c.bytes()[element * sizeof(float)] ^= std::byte{1}; }

TEST(Relations, NoticeOneElementThatIsALittleOff) {
  const DrawnCase drawn = small_case();
  for (const Schedule& schedule : drawn.schedules()) {
    for (const Relation& relation : relations()) {
      SCOPED_TRACE(fmt::format("{}, {}", print(schedule), relation.name));
      expect_noticed(
          EmulatedSchedule(schedule, drawn.bcol),
          [&](const Multiply& multiply) { return relation.violation(drawn, schedule, multiply); }, add_a_little);
    }
  }
}

/// But for permuted columns, which change the order of sums.
TEST(Relations, NoticeOneBitWhereTheOrderOfSumsIsFixed) {
  DrawnCase drawn = small_case();
  drawn.row_tile.ufi = 1;
  for (const Schedule& schedule : {Schedule(drawn.row_tile), Schedule(drawn.rows)}) {
    for (const Relation& relation : relations()) {
      if (relation.name.starts_with("columns of A")) {
        continue;
      }
      SCOPED_TRACE(fmt::format("{}, {}", print(schedule), relation.name));
      expect_noticed(
          EmulatedSchedule(schedule, drawn.bcol),
          [&](const Multiply& multiply) { return relation.violation(drawn, schedule, multiply); }, flip_the_last_bit);
    }
  }
}

TEST(Relations, NoticeOneFamilyThatIsALittleOff) {
  const DrawnCase drawn = small_case();
  const Multiplication asked{drawn.a, drawn.product, drawn.b()};
  std::vector<Multiply> families;
  for (const Schedule& schedule : drawn.schedules()) {
    const TypedElements c = EmulatedSchedule(schedule, drawn.bcol)(asked);
    families.emplace_back([c](const Multiplication&) { return c; });
  }
  for (const Multiply& off : families) {
    const auto violation = [&](const Multiply& multiply) {
      std::vector<Multiply> with_others = families;
      with_others[static_cast<std::size_t>(&off - families.data())] = multiply;
      return disagreement(drawn, with_others);
    };
    expect_noticed(off, violation, add_a_little);
  }
}

}  // namespace
}  // namespace esc

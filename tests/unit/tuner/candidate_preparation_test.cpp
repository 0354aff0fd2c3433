// SPDX-License-Identifier: Apache-2.0
// What becomes of a candidate before a device sees it.

#include "tuner/device/candidate_preparation.h"

#include <gmock/gmock.h>

#include "generator/ir/linear_nk_nest.h"
#include "generator/matrix/round_values.h"
#include "generator/patterns/csr_view.h"
#include "generator/support/error.h"
#include "tests/unit/tuner/unbuilt_kernels.h"

namespace esc::tuning {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

PreparedCandidate prepare_for(const Schedule& schedule, const NamedBuilder& builder) {
  return prepare({small_matrix(), bcol, 90}, schedule, builder);
}

TEST(Prepare, GivesTheKernelWithItsLaunch) {
  const PreparedCandidate prepared = prepare_for(with_warps(2), builder_that("nvrtc 13.0"));
  EXPECT_EQ(prepared.measurement.outcome, Outcome::ok);
  EXPECT_EQ(prepared.kernel.plan.threads, 64U);
  EXPECT_EQ(prepared.measurement.digest, digest(prepared.text));
  EXPECT_FALSE(prepared.kernel.packed.empty());
  EXPECT_EQ(prepared.kernel.cubin.symbols, prepared.text.kernels);
}

TEST(Prepare, GivesTheKernelOfTheSubjectsNest) {
  PreparationSubject subject{small_matrix(), bcol, 90};
  const std::string plain = prepare(subject, with_warps(2), builder_that("nvrtc 13.0")).text.text;
  subject.nest = linear_nk_nest();
  const PreparedCandidate prepared = prepare(subject, with_warps(2), builder_that("nvrtc 13.0"));
  EXPECT_EQ(prepared.measurement.outcome, Outcome::ok);
  EXPECT_NE(prepared.text.text, plain);
  const PanelSchedule spread{
      .ufi = 4, .columns = 8, .vector = 8, .groups = 32, .warps = 1, .row_tiles = 4, .stage = true};
  EXPECT_EQ(prepare(subject, spread, builder_that("nvrtc 13.0")).measurement.outcome, Outcome::ok);
  subject.nest = spmm_nest();
  EXPECT_EQ(prepare(subject, spread, builder_that("nvrtc 13.0")).measurement.outcome, Outcome::skipped_by_limit);
}

/// Packing fragments is a search: kernels that differ in stages and warps alone have the same.
TEST(Prepare, PacksFragmentsOnceForKernelsThatReadTheSame) {
  SparseMatrix matrix = sample_matrix({.rows = 64, .columns = 700, .sparsity = 0.6, .seed = 1});
  round_values(matrix, ScalarType::tf32);
  const auto shared = std::make_shared<const SparseMatrix>(std::move(matrix));
  const auto with_fragments = [&](const std::shared_ptr<PackingCache>& fragments, const StreamSchedule& schedule) {
    const PreparedCandidate prepared =
        prepare({shared, 32, 90, spmm_nest(ScalarType::tf32), fragments}, schedule, builder_that("nvrtc 13.0"));
    EXPECT_EQ(prepared.measurement.outcome, Outcome::ok) << prepared.measurement.detail;
    return prepared.kernel.packed;
  };
  const auto shelf = std::make_shared<PackingCache>();
  for (const StreamSchedule& schedule :
       {StreamSchedule{.row_tiles = 2, .warps = 1, .stages = 2},
        StreamSchedule{.row_tiles = 2, .warps = 2, .stages = 3}, StreamSchedule{.row_tiles = 1, .warps = 2},
        StreamSchedule{.columns = 32, .row_tiles = 1, .warps = 2, .stages = 2}}) {
    EXPECT_EQ(with_fragments(shelf, schedule), with_fragments(nullptr, schedule)) << print(schedule);
  }
  const PackingCache::Packing packed = shelf->get(csr_view(*shared), {2}, {.residual = 40 * 8});
  EXPECT_EQ(shelf->get(csr_view(*shared), {2}, {.residual = 40 * 8}), packed) << "it is there";
  EXPECT_EQ(shelf->get(csr_view(*shared), {2}, {.residual = 40 * 16}), packed) << "another weight with the same cut";
  EXPECT_NE(shelf->get(csr_view(*shared), {3}, {.residual = 40 * 8}), packed);
}

TEST(Prepare, SkipsAScheduleThatDoesNotSuit) {
  const auto never = [](const KernelText&) { FAIL() << "it is built all the same"; };
  const PreparedCandidate too_wide = prepare_for(PanelSchedule{.columns = 64}, builder_that("nvrtc 13.0", never));
  EXPECT_EQ(too_wide.measurement.outcome, Outcome::skipped_by_limit);
  EXPECT_THAT(too_wide.measurement.detail, HasSubstr("tile=2x64"));

  // 8 rows of 8,192 values: no row tile's packed region fits into shared memory.
  const auto full =
      std::make_shared<const SparseMatrix>(sample_matrix({.rows = 8, .columns = 8192, .sparsity = 0, .seed = 1}));
  const PreparedCandidate too_long =
      prepare({full, bcol, 90}, PanelSchedule{.ufi = 8, .groups = 4, .warps = 16, .stage = true},
              builder_that("nvrtc 13.0", never));
  EXPECT_EQ(too_long.measurement.outcome, Outcome::skipped_by_limit);
  EXPECT_THAT(too_long.measurement.detail, HasSubstr("shared memory"));
  EXPECT_EQ(too_long.measurement.candidate.substr(0, 6), "panel:");
}

TEST(Prepare, SaysWhatTheCompilerSays) {
  const PreparedCandidate prepared = prepare_for(
      with_warps(2), builder_that("nvrtc 13.0", [](const KernelText&) { throw BuildError("kernel.cu(7): error"); }));
  EXPECT_EQ(prepared.measurement.outcome, Outcome::compile_failed);
  EXPECT_EQ(prepared.measurement.detail, "kernel.cu(7): error");
  EXPECT_EQ(prepared.measurement.builder, "nvrtc 13.0");
  EXPECT_THAT(prepared.measurement.digest, SizeIs(64));
}

/// No candidate is to blame for a full disk under the cache of compiled kernels, or for a compiler that is gone.
TEST(Prepare, LeavesWhatIsNotTheCandidatesFaultToTheRun) {
  const auto full_disk = [](const KernelText&) {
    throw UserError("/cache/esc", "cannot be written: No space left on device");
  };
  EXPECT_THROW(static_cast<void>(prepare_for(with_warps(2), builder_that("nvrtc 13.0", full_disk))), UserError);
  CandidatePreparation preparation({small_matrix(), bcol, 90}, {with_warps(2)}, builder_that("nvrtc 13.0", full_disk),
                                   2);
  EXPECT_THROW(static_cast<void>(preparation.take(with_warps(2))), UserError);
}

TEST(Prepare, SkipsWhatTheHostHasNoMemoryFor) {
  const auto no_memory = [](const KernelText&) { throw std::bad_alloc(); };
  EXPECT_EQ(prepare_for(with_warps(2), builder_that("nvrtc 13.0", no_memory)).measurement.outcome,
            Outcome::skipped_by_limit);
}

TEST(CandidatePreparation, GivesEachCandidateInAnyOrder) {
  CandidatePreparation preparation({small_matrix(), bcol, 90}, {with_warps(1), with_warps(2), with_warps(4)},
                                   builder_that("nvrtc 13.0"), 2);
  for (const int warps : {4, 2, 8, 1, 1}) {
    EXPECT_EQ(preparation.take(with_warps(warps)).kernel.plan.threads, 32U * static_cast<unsigned int>(warps));
  }
}

}  // namespace
}  // namespace esc::tuning

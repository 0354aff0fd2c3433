// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include "generator/emit/packing_cache.h"
#include "generator/ir/loop_nest.h"
#include "generator/matrix/sparse_matrix.h"
#include "generator/schedule/schedule.h"
#include "tuner/build/kernel_text.h"
#include "tuner/device/device_protocol.h"
#include "tuner/search/measurement.h"

namespace esc::tuning {

/// A candidate that is ready for the device, or why there is none.
struct PreparedCandidate {
  Measurement measurement;  ///< outcome ok where the kernel can be launched
  KernelText text;
  KernelQuestion kernel;
};

/// What candidates are prepared for.
struct PreparationSubject {
  std::shared_ptr<const SparseMatrix> matrix;
  std::int64_t bcol = 0;
  int architecture = 0;
  LoopNest nest = spmm_nest();
  std::shared_ptr<PackingCache> fragments = std::make_shared<PackingCache>();  ///< of the matrix
};

/// How a kernel's text becomes machine code here, with the compiler's name for the records.
struct NamedBuilder {
  std::string name;
  std::function<std::shared_ptr<const Cubin>(const KernelText&)> build;
};

/// Lowers, packs and builds a candidate. A schedule that does not suit the matrix, and a want of memory, are
/// skipped-by-limit. Throws UserError as the builder does, for what is not the candidate's fault.
PreparedCandidate prepare(const PreparationSubject& subject, const Schedule& schedule, const NamedBuilder& builder);

/// Prepares candidates on threads of the host, some way ahead of whoever measures them.
class CandidatePreparation {
 public:
  /// Prepares up to `ahead` of the expected candidates at once.
  CandidatePreparation(PreparationSubject subject, std::vector<Schedule> expected, NamedBuilder builder,
                       std::size_t ahead);

  /// The candidate, waiting for it; an expected one in its turn is there already or on its way.
  PreparedCandidate take(const Schedule& schedule);

 private:
  struct Pending {
    std::string schedule;
    std::future<PreparedCandidate> candidate;
  };
  void start_more();

  PreparationSubject subject_;
  std::deque<Schedule> expected_;
  NamedBuilder builder_;
  std::size_t ahead_;
  std::deque<Pending> pending_;
};

}  // namespace esc::tuning

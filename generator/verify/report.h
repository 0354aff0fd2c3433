// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "generator/emit/manifest.h"
#include "generator/verify/product_case.h"
#include "generator/verify/reference.h"

namespace esc {

/// One product that was computed by the kernel and compared.
struct VerificationRun {
  ProductCase product;
  Comparison comparison;
  std::string reason = {};  ///< what the product was computed for
};

/// What a verification did and found. It passed when nothing is listed as a problem and every run is within tolerance.
struct VerificationReport {
  std::string method = {};  ///< "emulation" or "gpu"
  double tolerance = 0;
  std::vector<VerificationRun> runs = {};
  std::vector<std::string> problems =
      {};                                 ///< of the packed file, the transformer, the launches and the memory accesses
  std::vector<std::string> skipped = {};  ///< what was left out, each with its reason
  std::optional<std::uint64_t> seed = {};  ///< what is not the same each time was drawn from

  bool passed() const;
  /// Whether something is wrong so far.
  bool failed() const;
  /// The run that comes nearest to its tolerance, or exceeds it most. Throws Defect for a report without runs.
  const VerificationRun& worst_run() const;
  /// What the error of a run may be.
  double tolerance_of(const VerificationRun& run) const { return run.comparison.limit(tolerance); }
  /// As the manifest records it. Throws Defect for a report without runs.
  VerificationRecord record(std::int64_t rows_of_c) const;
};

/// Which of the products a printed report lists.
enum class ReportedRuns { all, wrong };

/// The report as lines of text: the first one begins with "passed by" or "failed by" and the method; then come
/// problems, products, and what was skipped.
std::string print(const VerificationReport& report, ReportedRuns runs = ReportedRuns::all);

}  // namespace esc

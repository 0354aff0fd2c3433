// SPDX-License-Identifier: Apache-2.0
#include "generator/verify/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "generator/support/error.h"

namespace esc {

bool VerificationReport::passed() const { return !runs.empty() && !failed(); }

bool VerificationReport::failed() const {
  return !problems.empty() || std::any_of(runs.begin(), runs.end(), [this](const VerificationRun& run) {
    return !run.comparison.passes(tolerance);
  });
}

const VerificationRun& VerificationReport::worst_run() const {
  ESC_CHECK(!runs.empty(), "a verification has runs");
  return *std::max_element(runs.begin(), runs.end(), [this](const VerificationRun& a, const VerificationRun& b) {
    return a.comparison.error / tolerance_of(a) < b.comparison.error / tolerance_of(b);
  });
}

VerificationRecord VerificationReport::record(std::int64_t rows_of_c) const {
  const VerificationRun& worst = worst_run();
  const auto largest =
      std::max_element(runs.begin(), runs.end(), [](const VerificationRun& a, const VerificationRun& b) {
        return std::pair(a.comparison.rows, a.comparison.columns) < std::pair(b.comparison.rows, b.comparison.columns);
      });
  const auto columns =
      static_cast<double>(largest->comparison.columns);  // where some are left out, as good as so many rows less
  return {.passed = passed(),
          .error = worst.comparison.error,
          .tolerance = tolerance_of(worst),
          .method = method,
          .columns = largest->comparison.columns,
          .rows_covered = static_cast<double>(largest->comparison.rows) / static_cast<double>(rows_of_c) * columns /
                          (columns + static_cast<double>(largest->comparison.other_columns)),
          .skipped = skipped};
}

std::string print(const VerificationReport& report) {
  std::string text;
  for (const VerificationRun& run : report.runs) {
    const bool good = run.comparison.passes(report.tolerance);
    const Comparison& compared = run.comparison;
    text += fmt::format("{:<6} {:<36} {} rows{}, relative error {:.2e} (at most {:.2e}){}{}\n", good ? "ok" : "WRONG",
                        print(run.product), compared.rows,
                        compared.other_columns > 0 ? fmt::format(" and {} of {} columns", compared.columns,
                                                                 compared.columns + compared.other_columns)
                                                   : "",
                        compared.error, report.tolerance_of(run), run.reason.empty() ? "" : ", " + run.reason,
                        run.comparison.wrong_element().empty() ? "" : ": " + run.comparison.wrong_element());
  }
  for (const std::string& problem : report.problems) {
    text += "WRONG  " + problem + "\n";
  }
  for (const std::string& part : report.skipped) {
    text += "skipped " + part + "\n";
  }
  if (report.seed) {
    text += fmt::format("drawn from seed {}, the same again with --seed {}\n", *report.seed, *report.seed);
  }
  return text + fmt::format("{} by {}\n", report.passed() ? "passed" : "failed", report.method);
}

}  // namespace esc

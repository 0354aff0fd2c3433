#include "generator/verify/report.h"

#include <fmt/format.h>

#include <algorithm>

#include "generator/support/error.h"

namespace esc {

bool VerificationReport::passed() const {
  return problems.empty() && !runs.empty() &&
         std::all_of(runs.begin(), runs.end(),
                     [this](const VerificationRun& run) { return run.comparison.within(tolerance); });
}

const VerificationRun& VerificationReport::worst_run() const {
  ESC_CHECK(!runs.empty(), "a verification has runs");
  return *std::max_element(runs.begin(), runs.end(), [](const VerificationRun& a, const VerificationRun& b) {
    return a.comparison.error / a.comparison.cancellation < b.comparison.error / b.comparison.cancellation;
  });
}

VerificationRecord VerificationReport::record(std::int64_t rows_of_c) const {
  const VerificationRun& worst = worst_run();
  const auto widest = std::max_element(runs.begin(), runs.end(), [](const VerificationRun& a, const VerificationRun& b) {
    return a.product.n < b.product.n;
  });
  return {.passed = passed(),
          .error = worst.comparison.error,
          .tolerance = tolerance_of(worst),
          .method = method,
          .columns = widest->product.n,
          .rows_covered = static_cast<double>(widest->comparison.rows) / static_cast<double>(rows_of_c),
          .skipped = skipped};
}

std::string print(const VerificationReport& report) {
  std::string text;
  for (const VerificationRun& run : report.runs) {
    const bool good = run.comparison.within(report.tolerance);
    text += fmt::format("{:<6} {:<36} {} rows, relative error {:.2e} (at most {:.2e}){}\n", good ? "ok" : "WRONG",
                        print(run.product), run.comparison.rows, run.comparison.error,
                        report.tolerance_of(run),
                        run.comparison.problem.empty() ? "" : ": " + run.comparison.problem);
  }
  for (const std::string& problem : report.problems) {
    text += "WRONG  " + problem + "\n";
  }
  for (const std::string& part : report.skipped) {
    text += "skipped " + part + "\n";
  }
  return text + fmt::format("{} by {}\n", report.passed() ? "passed" : "failed", report.method);
}

}  // namespace esc

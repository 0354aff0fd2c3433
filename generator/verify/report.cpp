// SPDX-License-Identifier: Apache-2.0
#include "generator/verify/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "generator/support/error.h"
#include "generator/support/page_text.h"

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

namespace {

std::string run_text(const VerificationRun& run, const VerificationReport& report) {
  const Comparison& compared = run.comparison;
  const std::string head =
      fmt::format("{:<6} {:<36} ", compared.passes(report.tolerance) ? "ok" : "WRONG", print(run.product));
  const std::string found = fmt::format(
      "{} rows{}, relative error {:.2e} (at most {:.2e}){}{}", compared.rows,
      compared.other_columns > 0
          ? fmt::format(" and {} of {} columns", compared.columns, compared.columns + compared.other_columns)
          : "",
      compared.error, report.tolerance_of(run), run.reason.empty() ? "" : ", " + run.reason,
      compared.wrong_element().empty() ? "" : ": " + compared.wrong_element());
  constexpr std::size_t most_indent = page_columns / 2;
  constexpr std::size_t least_indent = 7;
  const bool is_beside = head.size() <= most_indent;
  const std::size_t indent = is_beside ? head.size() : least_indent;
  std::string text = is_beside ? head : head.substr(0, head.size() - 1) + "\n";
  for (const std::string& line : wrapped(found, page_columns - indent)) {
    text += (text.ends_with('\n') ? std::string(indent, ' ') : "") + line + "\n";
  }
  return text;
}

std::string answer(const VerificationReport& report) {
  std::string text = fmt::format("{} by {}", report.passed() ? "passed" : "failed", report.method);
  if (report.runs.empty()) {
    return text + "\n";
  }
  const VerificationRun& worst = report.worst_run();
  return text + fmt::format(": {} {}, worst relative error {:.2e} (at most {:.2e})\n", report.runs.size(),
                            report.runs.size() == 1 ? "product" : "products", worst.comparison.error,
                            report.tolerance_of(worst));
}

}  // namespace

std::string print(const VerificationReport& report, ReportedRuns runs) {
  std::string text = answer(report);
  for (const std::string& problem : report.problems) {
    text += "WRONG  " + problem + "\n";
  }
  for (const VerificationRun& run : report.runs) {
    text += runs == ReportedRuns::all || !run.comparison.passes(report.tolerance) ? run_text(run, report) : "";
  }
  for (const std::string& part : report.skipped) {
    text += labelled("skipped", part);
  }
  if (report.seed) {
    text += labelled("seed", fmt::format("{}: the same calls again with --seed {}", *report.seed, *report.seed));
  }
  return text;
}

}  // namespace esc

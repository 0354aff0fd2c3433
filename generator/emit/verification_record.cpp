// SPDX-License-Identifier: Apache-2.0
#include "generator/emit/verification_record.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "generator/support/number_in.h"

namespace esc {
namespace {

double rounded(double value) { return real_in(fmt::format("{:.2e}", value)).value(); }

}  // namespace

nlohmann::json verification_json(const std::optional<VerificationRecord>& verification) {
  if (!verification) {
    return nullptr;
  }
  return {{"passed", verification->passed},
          {"relative_error", rounded(verification->error)},
          {"tolerance", rounded(verification->tolerance)},
          {"method", verification->method},
          {"columns", verification->columns},
          {"rows_covered", rounded(verification->rows_covered)},
          {"skipped", verification->skipped}};
}

}  // namespace esc

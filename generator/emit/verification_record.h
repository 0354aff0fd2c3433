// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

namespace esc {

/// What a verification found, as the manifest records it.
struct VerificationRecord {
  bool passed = false;
  double error = 0;  ///< relative Frobenius error against the float64 reference, of the run nearest to its tolerance
  double tolerance = 0;                   ///< of that run
  std::string method;                     ///< "emulation" or "gpu"
  std::int64_t columns = 0;               ///< columns of B in the largest run
  double rows_covered = 0;                ///< share of the rows of C that were compared in it, 0 to 1
  std::vector<std::string> skipped = {};  ///< what was left out, each with its reason
  bool operator==(const VerificationRecord&) const = default;
};

/// What manifests say of a verification: numbers with three significant digits, which is enough to judge an error and
/// the same on every machine; null where none was done.
nlohmann::json verification_json(const std::optional<VerificationRecord>& verification);

}  // namespace esc

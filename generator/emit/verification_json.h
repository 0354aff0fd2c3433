// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "generator/emit/manifest.h"

namespace esc {

/// What manifests say of a verification: numbers with three significant digits, which is enough to judge an error and the same on every machine; null
/// where none was done.
nlohmann::json verification_json(const std::optional<VerificationRecord>& verification);

}  // namespace esc

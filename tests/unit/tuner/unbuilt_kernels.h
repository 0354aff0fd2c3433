// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "generator/matrix/sample.h"
#include "generator/schedule/schedule.h"
#include "tuner/device/candidate_preparation.h"

namespace esc::tuning {

/// Columns of B of all products here.
constexpr std::int64_t bcol = 32;

/// A schedule whose blocks have so many warps: 1, 2, 4, 8 or 16.
inline Schedule with_warps(int warps) {
  return PanelSchedule{.ufi = 1, .columns = 32, .vector = 4, .groups = 4, .warps = warps};
}

inline std::shared_ptr<const SparseMatrix> small_matrix() {
  return std::make_shared<const SparseMatrix>(sample_matrix({.rows = 64, .columns = 64, .sparsity = 0.8, .seed = 1}));
}

/// Takes every text for its own machine code, after `does` with it.
inline NamedBuilder builder_that(
    const std::string& name, std::function<void(const KernelText&)> does = [](const KernelText&) {}) {
  return {name, [does = std::move(does)](const KernelText& text) {
            does(text);
            return std::make_shared<const Cubin>(Cubin{{text.text.begin(), text.text.end()}, text.kernels});
          }};
}

}  // namespace esc::tuning

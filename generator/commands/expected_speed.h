// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "generator/schedule/dense_comparison.h"
#include "generator/schedule/measured_ratios.h"

namespace esc {

/// What a kernel's speed is expected from.
struct SpeedEvidence {
  std::optional<MeasuredRatios> measured = {};  ///< over libraries, on the device that the kernel is made for
  std::string not_measured = {};                ///< why there are none
  std::optional<DenseComparison> beside_dense = {};
  double packed_bytes = 0;
  double dense_bytes = 0;
};

/// How fast a kernel is expected to be, with where that is known from, the surest first.
struct ExpectedSpeed {
  enum class Source {
    this_layer,   ///< measured with this layer
    like_layers,  ///< measured with layers like it
    model,        ///< predicted: the kernel's time and the dense product's
    bytes         ///< predicted from what the product reads alone
  };

  Source source = Source::bytes;
  double ratio = 0;         ///< of what it is compared with over the kernel: times, or bytes where the source is bytes
  std::string beside = {};  ///< what it is compared with: "the faster of cuBLAS and cuSPARSE"
  std::string device = {};  ///< that was measured on, or is predicted for; empty where that is not recorded
  std::optional<double> microseconds = {};  ///< of the kernel
  std::optional<double> library_microseconds = {};
  std::string not_measured = {};  ///< why it was not, where the source is the model or bytes

  bool is_measured() const { return source == Source::this_layer || source == Source::like_layers; }
};

/// `evidence` has the bytes of both forms of the weights.
ExpectedSpeed expected_speed(const SpeedEvidence& evidence);

/// The answer as labelled lines: "speed      about 1.75 x ...", or "speed      not measured: ..." with a line
/// "predicted".
std::string speed_lines(const ExpectedSpeed& speed);

/// The same for a cell of a table: "1.75 x", "~1.75 x" where like layers were measured, "(1.6 x)" where it is
/// predicted, "<1.6 x" where only bytes are known and "-" where these promise nothing.
std::string speed_cell(const ExpectedSpeed& speed);

/// What the cells of speed_cell mean, for below a table.
std::string speed_legend();

/// Keys known_from ("this layer", "like layers", "model" or "bytes"), ratio, beside and, where they are known, device,
/// microseconds, library_microseconds and not_measured.
nlohmann::json speed_json(const ExpectedSpeed& speed);

/// "135 KB in place of 524 KB (0.26 of dense, 1.27 of CSR)"; without CSR where that is not given.
std::string bytes_text(double packed, double dense, std::optional<double> csr = std::nullopt);

}  // namespace esc

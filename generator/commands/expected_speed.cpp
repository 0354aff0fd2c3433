// SPDX-License-Identifier: Apache-2.0
#include "generator/commands/expected_speed.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "generator/support/page_text.h"

namespace esc {
namespace {

using Source = ExpectedSpeed::Source;

const char* name_of(Source source) {
  switch (source) {
    case Source::this_layer:
      return "this layer";
    case Source::like_layers:
      return "like layers";
    case Source::model:
      return "model";
    case Source::bytes:
      break;
  }
  return "bytes";
}

std::string measured_text(const ExpectedSpeed& speed) {
  std::string text =
      fmt::format("{}{:.2f} x {}", speed.source == Source::this_layer ? "" : "about ", speed.ratio, speed.beside);
  if (speed.microseconds) {
    text += fmt::format(", {:.1f} us in place of {:.1f}", *speed.microseconds, *speed.library_microseconds);
  }
  text += fmt::format("; measured with {}", speed.source == Source::this_layer ? "this layer" : "layers like it");
  return text + (speed.device.empty() ? "" : fmt::format(" on one {}", speed.device));
}

std::string predicted_text(const ExpectedSpeed& speed) {
  if (speed.source == Source::model) {
    return fmt::format("about {:.1f} x {}, {:.1f} us in place of {:.1f}; both times by a model of the {}", speed.ratio,
                       speed.beside, *speed.microseconds, *speed.library_microseconds, speed.device);
  }
  return speed.ratio > 1 ? fmt::format(
                               "up to {:.1f} x dense where memory is the limit: the kernel reads {:.2f} of the "
                               "bytes of dense weights",
                               speed.ratio, 1 / speed.ratio)
                         : fmt::format(
                               "not faster than dense where memory is the limit: the kernel reads {:.2f} times "
                               "the bytes of dense weights",
                               1 / speed.ratio);
}

}  // namespace

ExpectedSpeed expected_speed(const SpeedEvidence& evidence) {
  if (evidence.measured && evidence.measured->over_exact) {
    const MeasuredRatios& measured = *evidence.measured;
    return {.source = measured.where.starts_with("this") ? Source::this_layer : Source::like_layers,
            .ratio = *measured.over_exact,
            .beside = "the faster of cuBLAS and cuSPARSE",
            .device = measured.device,
            .microseconds = measured.expected_microseconds(),
            .library_microseconds = measured.exact_microseconds};
  }
  if (evidence.beside_dense) {
    return {.source = Source::model,
            .ratio = evidence.beside_dense->over_dense(),
            .beside = "dense (cuBLASLt)",
            .device = evidence.beside_dense->device,
            .microseconds = evidence.beside_dense->kernel,
            .library_microseconds = evidence.beside_dense->dense,
            .not_measured = evidence.not_measured};
  }
  return {.source = Source::bytes,
          .ratio = evidence.dense_bytes / evidence.packed_bytes,
          .beside = "dense weights",
          .not_measured = evidence.not_measured};
}

std::string speed_lines(const ExpectedSpeed& speed) {
  if (speed.is_measured()) {
    return labelled("speed", measured_text(speed));
  }
  const std::string why = speed.not_measured.empty() ? "" : ": " + speed.not_measured;
  return labelled("speed", "not measured" + why) + labelled("predicted", predicted_text(speed));
}

std::string speed_cell(const ExpectedSpeed& speed) {
  if (speed.is_measured()) {
    return fmt::format("{}{:.2f} x", speed.source == Source::this_layer ? "" : "~", speed.ratio);
  }
  if (speed.source == Source::model) {
    return fmt::format("({:.1f} x)", speed.ratio);
  }
  return speed.ratio > 1 ? fmt::format("<{:.1f} x", speed.ratio) : "-";
}

std::string speed_legend() {
  return "over the faster library; ~ of layers like it, () predicted, < by bytes alone, - no gain";
}

nlohmann::json speed_json(const ExpectedSpeed& speed) {
  nlohmann::json result{{"known_from", name_of(speed.source)}, {"ratio", speed.ratio}, {"beside", speed.beside}};
  if (!speed.device.empty()) {
    result["device"] = speed.device;
  }
  if (speed.microseconds) {
    result["microseconds"] = *speed.microseconds;
    result["library_microseconds"] = *speed.library_microseconds;
  }
  if (!speed.not_measured.empty()) {
    result["not_measured"] = speed.not_measured;
  }
  return result;
}

std::string bytes_text(double packed, double dense, std::optional<double> csr) {
  return fmt::format("{} in place of {} ({:.2f} of dense{})", size_text(packed), size_text(dense), packed / dense,
                     csr ? fmt::format(", {:.2f} of CSR", packed / *csr) : "");
}

}  // namespace esc

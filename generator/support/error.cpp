// SPDX-License-Identifier: Apache-2.0
#include "generator/support/error.h"

#include <fmt/format.h>

#include <filesystem>
#include <utility>

namespace esc {
namespace {

std::string describe(const std::string& place, const std::string& rule, const std::string& remedy) {
  std::string text = place.empty() ? rule : fmt::format("{}: {}", place, rule);
  if (!remedy.empty()) {
    text += fmt::format("; {}", remedy);
  }
  return text;
}

}  // namespace

UserError::UserError(std::string place, std::string rule, std::string remedy, ExitStatus status)
    : std::runtime_error(describe(place, rule, remedy)),
      place_(std::move(place)),
      rule_(std::move(rule)),
      remedy_(std::move(remedy)),
      status_(status) {}

Defect::Defect(const char* file, int line, const std::string& condition, const std::string& explanation)
    : std::logic_error(fmt::format("{}:{}: {} ({})", std::filesystem::path(file).filename().string(), line, explanation,
                                   condition)) {}

}  // namespace esc

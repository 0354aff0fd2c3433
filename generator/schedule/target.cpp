#include "generator/schedule/target.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <map>

#include "generator/support/error.h"

namespace esc {
namespace {

const std::map<std::string, int>& known_gpus() {
  static const std::map<std::string, int> gpus{
      {"t4", 75},      {"a100", 80},   {"a30", 80},     {"a10", 86},     {"a40", 86},  {"rtx3090", 86}, {"l4", 89},
      {"l40", 89},     {"l40s", 89},   {"rtx4090", 89}, {"h100", 90},    {"h200", 90}, {"gh200", 90},   {"b200", 100},
      {"gb200", 100},  {"b300", 103},  {"rtx5090", 120}};
  return gpus;
}

}  // namespace

std::vector<int> default_architectures() { return {80, 90}; }

int parse_architecture(const std::string& text) {
  const std::string digits = text.starts_with("sm_") ? text.substr(3) : text;
  int architecture = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), architecture);
  if (error != std::errc() || end != digits.data() + digits.size() || architecture < 70 || architecture > 999) {
    throw UserError("--arch " + text, "is not a CUDA architecture", "write it as in sm_90");
  }
  return architecture;
}

int architecture_of_gpu(const std::string& name) {
  std::string lower = name;
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return std::tolower(c); });
  const auto found = known_gpus().find(lower);
  if (found != known_gpus().end()) {
    return found->second;
  }
  std::string names;
  for (const auto& [known, architecture] : known_gpus()) {
    names += (names.empty() ? "" : ", ") + known;
  }
  throw UserError("--gpu " + name, "is not a GPU that is known here", fmt::format("use --arch, or one of {}", names));
}

std::uint64_t shared_bytes_per_block(int architecture) {
  constexpr std::uint64_t kibibyte = 1024;
  switch (architecture) {
    case 75:
      return 64 * kibibyte;
    case 70:
    case 72:
      return 96 * kibibyte;
    case 80:
    case 87:
      return 163 * kibibyte;
    case 90:
    case 100:
    case 103:
    case 110:
      return 227 * kibibyte;
    default:
      return 99 * kibibyte;
  }
}

}  // namespace esc

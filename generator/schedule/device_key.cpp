// SPDX-License-Identifier: Apache-2.0
#include "generator/schedule/device_key.h"

#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "generator/support/error.h"
#include "generator/support/number_in.h"

namespace esc {
namespace {

constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20;
constexpr std::uint32_t most_of_a_device = 0x7fffffff;

/// The distance of two figures' logarithms; 0 where one is not known.
double logarithmic_distance(double a, double b) { return a == 0 || b == 0 ? 0 : std::abs(std::log2(a / b)); }

/// Takes a number that is between two words off the front of a text; nothing where none does that a device can
/// have.
std::optional<std::uint32_t> number_between(std::string_view& text, std::string_view front, std::string_view behind) {
  const std::size_t end = text.starts_with(front) ? text.find(behind, front.size()) : std::string_view::npos;
  if (end == std::string_view::npos) {
    return std::nullopt;
  }
  const auto number = number_in<std::uint32_t>(text.substr(front.size(), end - front.size()));
  text.remove_prefix(end + behind.size());
  return number && *number <= most_of_a_device ? number : std::nullopt;
}

}  // namespace

std::string print(const DeviceKey& key) {
  return fmt::format("sm{}-{}sm-{}mib", key.capability, key.multiprocessors, key.l2_bytes / mebibyte);
}

DeviceKey parse_device_key(std::string_view text) {
  std::string_view rest = text;
  const auto capability = number_between(rest, "sm", "-");
  const auto multiprocessors = number_between(rest, "", "sm-");
  const auto mebibytes = number_between(rest, "", "mib");
  if (capability && multiprocessors && mebibytes && rest.empty()) {
    const DeviceKey key{static_cast<int>(*capability), static_cast<int>(*multiprocessors), *mebibytes * mebibyte};
    if (print(key) == text) {  // without zeros in front
      return key;
    }
  }
  throw UserError(std::string(text), "is not the key of a device", "write it as in sm90-132sm-60mib");
}

bool may_be(const DeviceKey& wanted, const DeviceKey& known) {
  return (wanted.capability == 0 || wanted.capability == known.capability) &&
         (wanted.multiprocessors == 0 || wanted.multiprocessors == known.multiprocessors) &&
         (wanted.l2_bytes == 0 || wanted.l2_bytes == known.l2_bytes);
}

double device_distance(const DeviceKey& a, const DeviceKey& b) {
  const bool is_known = a.capability != 0 && b.capability != 0;
  const double capabilities = is_known ? std::abs(a.capability - b.capability) / 10.0 : 0;
  return 2 * capabilities + logarithmic_distance(a.multiprocessors, b.multiprocessors) +
         0.5 * logarithmic_distance(static_cast<double>(a.l2_bytes), static_cast<double>(b.l2_bytes));
}

}  // namespace esc

// SPDX-License-Identifier: Apache-2.0
#include "generator/schedule/device_key.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdio>

#include "generator/support/error.h"

namespace esc {
namespace {

constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20;

/// The distance of two figures' logarithms; 0 where one is not known.
double logarithmic_distance(double a, double b) { return a == 0 || b == 0 ? 0 : std::abs(std::log2(a / b)); }

}  // namespace

std::string print(const DeviceKey& key) {
  return fmt::format("sm{}-{}sm-{}mib", key.capability, key.multiprocessors, key.l2_bytes / mebibyte);
}

DeviceKey parse_device_key(std::string_view text) {
  DeviceKey key;
  unsigned long mebibytes = 0;
  if (std::sscanf(std::string(text).c_str(), "sm%d-%dsm-%lumib", &key.capability, &key.multiprocessors, &mebibytes) ==
      3) {
    key.l2_bytes = mebibytes * mebibyte;
    if (key.capability >= 0 && key.multiprocessors >= 0 && print(key) == text) {
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

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

namespace esc {

/// What a schedule's speed depends on, whatever a device is called and whichever driver it has.
struct DeviceKey {
  int capability = 0;  ///< 90 for compute capability 9.0
  int multiprocessors = 0;
  std::uint64_t l2_bytes = 0;
  auto operator<=>(const DeviceKey&) const = default;
};

/// "sm90-132sm-60mib", the canonical text: parse_device_key(print(key)) == key where the L2 cache has whole MiB.
std::string print(const DeviceKey& key);

/// Throws UserError for anything but such a text.
DeviceKey parse_device_key(std::string_view text);

/// Whether a device of which some figures are not known, and 0, can be another one.
bool may_be(const DeviceKey& wanted, const DeviceKey& known);

/// How unlike two devices are for the choice of a schedule; a figure that is 0 in one of them, not known, does not
/// count. The sum of: twice the distance of their compute capabilities, because memory, warps and instructions of a
/// multiprocessor come with them; the distance of the logarithms to base 2 of their numbers of multiprocessors, which a
/// grid shall fill; and half that of their L2 caches' sizes.
double device_distance(const DeviceKey& a, const DeviceKey& b);

}  // namespace esc

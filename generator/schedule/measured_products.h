// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "generator/schedule/device_key.h"
#include "generator/schedule/layer_class.h"
#include "generator/schedule/schedule.h"

namespace esc {

/// A schedule and the time that was measured of it.
struct TimedSchedule {
  Schedule schedule;
  double microseconds = 0;
  bool operator==(const TimedSchedule&) const = default;
};

/// A product whose schedules were measured beside each other.
struct TimedProduct {
  LayerShape shape;
  std::vector<TimedSchedule> schedules;  ///< the fastest first, each once
};

/// What was measured on one device.
struct DeviceMeasurements {
  DeviceKey key = {};
  std::vector<TimedProduct> products = {};
  std::size_t gone = 0;  ///< times that were left out when a text was read
};

/// The product with as many schedules of each family as say something of those nearby: the fastest of them, and some of
/// the others.
TimedProduct thinned(TimedProduct product);

/// The measurements in the text of a file, without times of schedules that are gone (`is_gone`) and products that have
/// no others. Throws UserError (place: file and line) for anything but what `print` writes.
DeviceMeasurements measurements_in(std::string_view text, const std::string& file);

/// The text of a file: the device, the schedules by their numbers, and a product in each line, sorted. The same
/// measurements give the same bytes.
std::string print(const DeviceMeasurements& measurements);

/// One of each device, in the order of their keys. What was measured of a product in several places is one product,
/// with the least time of each schedule.
std::vector<DeviceMeasurements> merged(std::vector<DeviceMeasurements> measurements);

/// "sm90-132sm-60mib_corrections.txt".
std::string file_name(const DeviceKey& device);

/// Of the devices whose measurements are part of this program the one that is the most like a device, and those.
DeviceKey nearest_measured_device(const DeviceKey& device);
DeviceMeasurements shipped_measurements(const DeviceKey& device);

}  // namespace esc

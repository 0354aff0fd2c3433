// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "tuner/records/record.h"

namespace esc::tuning {

/// What a device does in a second, by microbenchmarks. What it has no instructions for is absent.
struct DeviceRates {
  std::optional<double> memory_gigabytes = {};  ///< read of an array that is many times as large as the L2 cache
  std::optional<double> l2_gigabytes = {};      ///< of one that fits into it, by all multiprocessors
  std::optional<double> fp32_gigaflops = {};    ///< multiplications and additions of float32
  std::optional<double> tf32_gigaflops = {};    ///< of a large dense product of cuBLASLt, of zeros
  std::optional<double> f16_gigaflops = {};     ///< the same
  bool operator==(const DeviceRates&) const = default;
};

/// A line of a journal: the rates of one device.
struct RatesRecord {
  Environment environment;
  DeviceKey device;
  DeviceRates rates;
  bool operator==(const RatesRecord&) const = default;
};

}  // namespace esc::tuning

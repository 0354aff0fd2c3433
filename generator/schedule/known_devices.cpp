// SPDX-License-Identifier: Apache-2.0
#include "generator/schedule/known_devices.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include "generator/support/error.h"
#include "generator/support/meaningful_lines.h"
#include "generator/support/number_in.h"

namespace esc {

extern const std::string_view device_a10, device_a100, device_a30, device_a40, device_b200, device_b300, device_gb200,
    device_gh200, device_h100, device_h100_pcie, device_h200, device_l4, device_l40, device_l40s, device_rtx3090,
    device_rtx4090, device_rtx5090, device_t4;

namespace {

/// Takes the first word off a text, and the spaces after it.
std::string word_of(std::string& text) {
  const std::size_t end = std::min(text.find(' '), text.size());
  std::string word = text.substr(0, end);
  text.erase(0, std::min(text.find_first_not_of(' ', end), text.size()));
  return word;
}

/// Reads the lines of one device, each key once.
class DeviceReader {
 public:
  explicit DeviceReader(std::string file) : file_(std::move(file)) {}

  void read(const TextLine& line) {
    place_ = fmt::format("{}:{}", file_, line.number);
    std::string rest = line.text;
    const std::string key = word_of(rest);
    if (!keys_.insert(key).second) {
      fail(key + " is said twice");
    }
    if (key == "name") {
      device_.name = text(rest);
    } else if (key == "product") {
      device_.product = text(rest);
    } else if (key == "kernels") {
      device_.has_measurements = is_measured(rest);
    } else if (key == "capability") {
      device_.key.capability = whole_number(rest);
    } else if (key == "multiprocessors") {
      device_.key.multiprocessors = whole_number(rest);
    } else if (key == "l2_mebibytes") {
      device_.key.l2_bytes = static_cast<std::uint64_t>(whole_number(rest)) << 20U;
    } else if (key == "fp32_gigaflops") {
      device_.fp32_gigaflops = figure(rest);
    } else if (key == "tf32_gigaflops") {
      device_.tf32_gigaflops = figure(rest);
    } else if (key == "f16_gigaflops") {
      device_.f16_gigaflops = figure(rest);
    } else if (key == "memory_gigabytes") {
      device_.memory_gigabytes = figure(rest);
    } else if (key == "l2_gigabytes") {
      device_.l2_gigabytes = figure(rest);
    } else {
      fail(key + " is no figure of a device");
    }
  }

  Device device() && {
    place_ = file_;
    for (const char* const needed : {"name", "product", "capability"}) {
      if (!keys_.contains(needed)) {
        fail(fmt::format("says nothing of {}", needed));
      }
    }
    return std::move(device_);
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw UserError(place_, what, "write a line such as: memory_gigabytes 4800 not-measured data sheet of the H200");
  }

  std::string text(const std::string& rest) const {
    if (rest.empty()) {
      fail("says nothing after its key");
    }
    return rest;
  }

  bool is_measured(const std::string& word) const {
    if (word != "measured" && word != "not-measured") {
      fail(fmt::format("'{}' is neither measured nor not-measured", word));
    }
    return word == "measured";
  }

  Figure figure(std::string rest) const {
    const std::string digits = word_of(rest);
    const std::optional<double> value = real_in(digits);
    if (!value || !(*value > 0) || *value > std::numeric_limits<std::int32_t>::max()) {
      fail(fmt::format("'{}' is no number above 0", digits));
    }
    const bool measured = is_measured(word_of(rest));
    return {*value, measured, text(rest)};
  }

  int whole_number(const std::string& rest) const {
    const double value = figure(rest).value;
    if (value != static_cast<int>(value)) {
      fail("is no whole number");
    }
    return static_cast<int>(value);
  }

  std::string file_;
  std::string place_;
  std::set<std::string> keys_;
  Device device_;
};

}  // namespace

Device parse_device(std::string_view text, const std::string& file) {
  DeviceReader reader(file);
  for (const TextLine& line : meaningful_lines(std::string(text))) {
    reader.read(line);
  }
  return std::move(reader).device();
}

const std::vector<Device>& known_devices() {
  static const std::vector<Device> devices = [] {
    std::vector<Device> all;
    for (const std::string_view text :
         {device_a10, device_a100, device_a30, device_a40, device_b200, device_b300, device_gb200, device_gh200,
          device_h100, device_h100_pcie, device_h200, device_l4, device_l40, device_l40s, device_rtx3090,
          device_rtx4090, device_rtx5090, device_t4}) {
      all.push_back(parse_device(text, "devices"));
    }
    std::ranges::sort(all, {}, &Device::name);
    return all;
  }();
  return devices;
}

std::vector<std::string> gpu_names() {
  std::vector<std::string> names;
  for (const Device& device : known_devices()) {
    names.push_back(device.name);
  }
  return names;
}

const Device* known_device(const DeviceKey& key) {
  const bool is_whole = key.multiprocessors > 0 && key.l2_bytes > 0;
  const auto found = std::ranges::find(known_devices(), key, &Device::key);
  return !is_whole || found == known_devices().end() ? nullptr : &*found;
}

}  // namespace esc

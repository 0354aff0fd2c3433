// SPDX-License-Identifier: Apache-2.0
#include "generator/schedule/known_devices.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
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
      require_gpu_name(device_.name, place_);
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
    } else {
      read_rate(key, rest);
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

  void read_rate(const std::string& key, const std::string& rest) {
    for (const auto& [name, rate] : figures_of(device_)) {
      if (key == name) {
        *rate = figure(rest);
        return;
      }
    }
    fail(key + " is no figure of a device");
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

const char* measured_word(bool measured) { return measured ? "measured" : "not-measured"; }

}  // namespace

void require_gpu_name(std::string_view name, const std::string& place) {
  constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyz0123456789-.";
  constexpr std::string_view firsts = letters.substr(0, letters.size() - 2);
  if (name.empty() || name.find_first_not_of(letters) != std::string_view::npos ||
      firsts.find(name.front()) == std::string_view::npos) {
    throw UserError(place, fmt::format("'{}' is no name of a GPU", name),
                    "write lower-case letters, digits, - and ., as in h100-pcie");
  }
}

Device parse_device(std::string_view text, const std::string& file) {
  DeviceReader reader(file);
  for (const TextLine& line : meaningful_lines(std::string(text))) {
    reader.read(line);
  }
  return std::move(reader).device();
}

namespace {

std::string line_of(const char* key, const Figure& figure) {
  return fmt::format("{} {} {} {}\n", key, figure.value, measured_word(figure.measured), figure.source);
}

bool is_whole(const DeviceKey& key) { return key.multiprocessors > 0 && key.l2_bytes > 0; }

std::vector<Device> devices_of_this_program() {
  std::vector<Device> all;
  for (const std::string_view text :
       {device_a10, device_a100, device_a30, device_a40, device_b200, device_b300, device_gb200, device_gh200,
        device_h100, device_h100_pcie, device_h200, device_l4, device_l40, device_l40s, device_rtx3090, device_rtx4090,
        device_rtx5090, device_t4}) {
    all.push_back(parse_device(text, "devices"));
  }
  std::ranges::sort(all, {}, &Device::name);
  return all;
}

}  // namespace

std::string print(const Device& device) {
  constexpr const char* by_runtime = "one device, by the CUDA runtime";
  std::string text = fmt::format("name {}\nproduct {}\nkernels {}\n", device.name, device.product,
                                 measured_word(device.has_measurements));
  text += line_of("capability", {static_cast<double>(device.key.capability), true, by_runtime});
  if (device.key.multiprocessors > 0) {
    text += line_of("multiprocessors", {static_cast<double>(device.key.multiprocessors), true, by_runtime});
  }
  if (device.key.l2_bytes > 0) {
    text += line_of("l2_mebibytes", {static_cast<double>(device.key.l2_bytes >> 20U), true, by_runtime});
  }
  for (const auto& [key, figure] : figures_of(device)) {
    text += *figure ? line_of(key, **figure) : "";
  }
  return text;
}

KnownDevices::KnownDevices() : devices_(devices_of_this_program()) {}

void KnownDevices::add(Device own, const std::string& file) {
  if (const Device* const same = named(own.name)) {
    if (!may_be(same->key, own.key)) {
      throw UserError(file,
                      fmt::format("has the name {} for {}, which is that of {}", own.name, esc::print(own.key),
                                  esc::print(same->key)),
                      "give it a name of its own in its line 'name'");
    }
  }
  const auto is_like = [&](const Device& one) { return one.key == own.key || one.name == own.name; };
  if (const auto like = std::ranges::find_if(devices_, is_like); like != devices_.end()) {
    own.has_measurements = own.has_measurements || like->has_measurements;
    const auto known = figures_of(*like);
    const auto figures = figures_of(own);
    for (std::size_t number = 0; number < figures.size(); ++number) {
      std::optional<Figure>& figure = *figures[number].second;
      figure = figure ? figure : *known[number].second;
    }
  }
  own_.insert(own.name);
  std::erase_if(devices_, [&](const Device& one) { return one.name == own.name; });
  devices_.insert(std::ranges::lower_bound(devices_, own.name, {}, &Device::name), std::move(own));
}

std::vector<std::string> KnownDevices::names() const {
  std::vector<std::string> names;
  std::ranges::transform(devices_, std::back_inserter(names), &Device::name);
  return names;
}

const Device* KnownDevices::named(std::string_view name) const {
  const auto found = std::ranges::find(devices_, name, &Device::name);
  return found == devices_.end() ? nullptr : &*found;
}

const Device* KnownDevices::find(const DeviceKey& key) const {
  const Device* found = nullptr;
  for (const Device& device : devices_) {
    if (is_whole(key) && device.key == key && (found == nullptr || own_.contains(device.name))) {
      found = &device;
    }
  }
  return found;
}

const KnownDevices& shipped_devices() {
  static const KnownDevices devices;
  return devices;
}

const std::vector<Device>& known_devices() { return shipped_devices().all(); }

std::vector<std::string> gpu_names() { return shipped_devices().names(); }

const Device* known_device(const DeviceKey& key) { return shipped_devices().find(key); }

std::optional<double> nominal_memory_gigabytes(const Device& device) {
  // What a kernel that only reads reaches of a data sheet's bandwidth: on one H200 4564 of 4800 GB/s.
  constexpr double reached = 0.95;
  if (!device.memory_gigabytes) {
    return std::nullopt;
  }
  const Figure& figure = *device.memory_gigabytes;
  return figure.measured ? figure.value / reached : figure.value;
}

}  // namespace esc

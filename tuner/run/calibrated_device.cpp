// SPDX-License-Identifier: Apache-2.0
#include "tuner/run/calibrated_device.h"

#include <cctype>
#include <string_view>

namespace esc::tuning {
namespace {

std::string without_maker(const std::string& product) {
  constexpr std::string_view maker = "NVIDIA ";
  return product.starts_with(maker) ? product.substr(maker.size()) : product;
}

std::optional<Figure> figure(const std::optional<double>& rate, const char* what) {
  constexpr const char* who = "one device, by esctune calibrate: ";
  return rate ? std::optional(Figure{*rate, true, std::string(who) + what}) : std::nullopt;
}

}  // namespace

std::string gpu_name(const DeviceKey& key, const std::string& product) {
  if (const Device* const known = known_device(key)) {
    return known->name;
  }
  std::string name;
  for (const unsigned char letter : without_maker(product)) {
    if (std::isalnum(letter) != 0) {
      name += static_cast<char>(std::tolower(letter));
    } else if (!name.empty() && name.back() != '-') {
      name += '-';
    }
  }
  while (name.ends_with('-')) {
    name.pop_back();
  }
  return name.empty() ? "gpu" : name;
}

Device calibrated_device(const std::string& name, const RatesRecord& measured) {
  const DeviceRates& rates = measured.rates;
  constexpr const char* product_of_zeros = "the fastest large product of cuBLASLt, of zeros";
  return {.name = name,
          .product = without_maker(measured.environment.device_name),
          .key = measured.device,
          .has_measurements = true,
          .fp32_gigaflops = figure(rates.fp32_gigaflops, "a kernel that only multiplies and adds"),
          .tf32_gigaflops = figure(rates.tf32_gigaflops, product_of_zeros),
          .f16_gigaflops = figure(rates.f16_gigaflops, product_of_zeros),
          .memory_gigabytes = figure(rates.memory_gigabytes, "a kernel that only reads memory"),
          .l2_gigabytes = figure(rates.l2_gigabytes, "a kernel that only reads the L2 cache")};
}

}  // namespace esc::tuning

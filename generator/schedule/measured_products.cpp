// SPDX-License-Identifier: Apache-2.0
#include "generator/schedule/measured_products.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <sstream>
#include <tuple>
#include <utility>

#include "generator/schedule/database_line.h"
#include "generator/schedule/gone_schedules.h"
#include "generator/schedule/schedule_text.h"
#include "generator/schedule/settings.h"
#include "generator/support/error.h"
#include "generator/support/number_in.h"

namespace esc {
namespace {

constexpr const char* introduction =
    "# What schedules took, in microseconds, of products for which several were measured beside each other. The times\n"
    "# of a cost model are corrected by them. One schedule or product a line; a product names its schedules by their\n"
    "# numbers: of each family the fastest, and some of the others. variation is the coefficient of variation of the\n"
    "# lengths of rows; contiguous says whether the columns of a row of B are one after the other; cache is what L2\n"
    "# held of the operands.\n"
    "# schedule number text\n"
    "# product type layout cache bcol contiguous rows columns nonzeros longest variation pattern "
    "number:microseconds...\n";

constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();

/// The schedules of a file by their numbers; absent are those that are gone whatever the type.
using NumberedSchedules = std::map<int, std::optional<Schedule>>;

NumberedSchedules::value_type schedule_in(DatabaseLine& line) {
  const int number = static_cast<int>(line.number(0, std::numeric_limits<int>::max()));
  return {number, line.schedule()};
}

/// "12:3.45"; absent where the schedule is gone for the type.
std::optional<TimedSchedule> timed_in(std::string_view word, std::string_view dtype, const NumberedSchedules& schedules,
                                      const DatabaseLine& line) {
  const std::size_t colon = std::min(word.find(':'), word.size());
  const std::optional<int> number = number_in<int>(word.substr(0, colon));
  const std::optional<double> microseconds = finite_in(word.substr(std::min(colon + 1, word.size())));
  if (!number || !microseconds || *microseconds <= 0) {
    line.refuse(fmt::format("'{}' is no number of a schedule and its time, as in 12:3.45", word));
  }
  const auto schedule = schedules.find(*number);
  if (schedule == schedules.end()) {
    line.refuse(fmt::format("there is no schedule {} before it", *number));
  }
  const std::optional<Schedule>& known = schedule->second;
  return known && !is_gone(*known, dtype) ? std::optional(TimedSchedule{*known, *microseconds}) : std::nullopt;
}

/// Adds the product of a line, unless all of its schedules are gone.
void add_product(DatabaseLine& line, const NumberedSchedules& schedules, DeviceMeasurements& measurements) {
  TimedProduct product;
  LayerShape& shape = product.shape;
  shape.dtype = line.word();
  shape.layout = line.word();
  // Files of before say nothing of the cache.
  shape.cache = line.cache_or(usual_cache(shape.dtype));
  shape.bcol = line.number(1, most);
  shape.contiguous = line.number(0, 1) == 1;
  shape.rows = line.number(1, most);
  shape.columns = line.number(1, most);
  shape.nonzeros = line.number(0, most);
  shape.longest_row = line.number(0, most);
  shape.row_variation = static_cast<double>(line.number(0, most)) / 1000;
  shape.pattern = line.word();
  if (shape.nonzeros > 0 && (shape.nonzeros - 1) / shape.rows >= shape.columns) {
    line.refuse("has more non-zeros than elements");
  }
  const std::string times = line.rest();
  for (const std::string_view word : split(times, ' ')) {
    if (std::optional<TimedSchedule> timed = timed_in(word, shape.dtype, schedules, line)) {
      product.schedules.push_back(*std::move(timed));
    } else {
      ++measurements.gone;
    }
  }
  if (!product.schedules.empty()) {
    measurements.products.push_back(std::move(product));
  }
}

std::string text_of(const TimedProduct& product, const std::map<std::string, int>& numbers) {
  const LayerShape& shape = product.shape;
  std::string text =
      fmt::format("product {} {} {} {} {} {} {} {} {} {} {}", shape.dtype, shape.layout, print(shape.cache), shape.bcol,
                  shape.contiguous ? 1 : 0, shape.rows, shape.columns, shape.nonzeros, shape.longest_row,
                  static_cast<long long>(shape.row_variation * 1000 + 0.5), shape.pattern);
  for (const TimedSchedule& one : product.schedules) {
    text += fmt::format(" {}:{:.4g}", numbers.at(compact(one.schedule)), one.microseconds);
  }
  return text;
}

}  // namespace

TimedProduct thinned(TimedProduct product) {
  constexpr std::size_t fastest = 8;
  constexpr std::size_t others = 4;
  std::ranges::stable_sort(product.schedules, {}, &TimedSchedule::microseconds);
  std::map<std::size_t, std::vector<TimedSchedule>> families;
  for (TimedSchedule& one : product.schedules) {
    families[one.schedule.index()].push_back(std::move(one));
  }
  product.schedules.clear();
  for (auto& [family, timed] : families) {
    const std::size_t in_front = std::min(fastest, timed.size());
    const std::size_t behind = timed.size() - in_front;
    for (std::size_t place = 0; place < in_front; ++place) {
      product.schedules.push_back(timed[place]);
    }
    for (std::size_t other = 0; other < std::min(others, behind); ++other) {
      product.schedules.push_back(timed[in_front + other * behind / std::min(others, behind)]);
    }
  }
  std::ranges::stable_sort(product.schedules, {}, &TimedSchedule::microseconds);
  return product;
}

DeviceMeasurements measurements_in(std::string_view text, const std::string& file) {
  DeviceMeasurements measurements;
  NumberedSchedules schedules;
  bool has_device = false;
  std::istringstream lines{std::string(text)};
  int number = 0;
  for (std::string words; std::getline(lines, words);) {
    ++number;
    if (words.empty() || words.front() == '#') {
      continue;
    }
    DatabaseLine line(words, fmt::format("{}:{}", file, number));
    const std::string kind = line.word();
    if (kind == "device") {
      measurements.key = line.device_key();
      has_device = true;
    } else if (kind == "schedule") {
      if (const auto [known, is_new] = schedules.insert(schedule_in(line)); !is_new) {
        line.refuse(fmt::format("is a second schedule {}", known->first));
      }
    } else if (kind == "product") {
      add_product(line, schedules, measurements);
    } else {
      line.refuse("a line is of a device, a schedule or a product, and not of '" + kind + "'");
    }
  }
  if (!has_device) {
    throw UserError(file, "does not say its device, so it has no corrections",
                    "write a line such as: device sm90-132sm-60mib");
  }
  return measurements;
}

std::string print(const DeviceMeasurements& measurements) {
  std::map<std::string, int> numbers;
  for (const TimedProduct& product : measurements.products) {
    for (const TimedSchedule& one : product.schedules) {
      numbers.try_emplace(compact(one.schedule), 0);
    }
  }
  int next = 0;
  std::string text = introduction + fmt::format("device {}\n", print(measurements.key));
  for (auto& [schedule, number] : numbers) {
    number = next++;
    text += fmt::format("schedule {} {}\n", number, schedule);
  }
  std::vector<std::string> products;
  std::ranges::transform(measurements.products, std::back_inserter(products),
                         [&](const TimedProduct& product) { return text_of(product, numbers); });
  std::ranges::sort(products);
  for (const std::string& product : products) {
    text += product + "\n";
  }
  return text;
}

namespace {

/// Adds the schedules of another measurement of the same product, each once.
void join(TimedProduct& product, const TimedProduct& other) {
  for (const TimedSchedule& one : other.schedules) {
    const auto known = std::ranges::find(product.schedules, one.schedule, &TimedSchedule::schedule);
    if (known == product.schedules.end()) {
      product.schedules.push_back(one);
    } else {
      known->microseconds = std::min(known->microseconds, one.microseconds);
    }
  }
  std::ranges::stable_sort(product.schedules, {}, &TimedSchedule::microseconds);
}

}  // namespace

std::vector<DeviceMeasurements> merged(std::vector<DeviceMeasurements> measurements) {
  std::map<DeviceKey, DeviceMeasurements> devices;
  using Product = std::tuple<std::string, std::string, std::string, CacheState, long long, bool>;
  std::map<std::pair<DeviceKey, Product>, std::size_t> places;
  for (DeviceMeasurements& one : measurements) {
    DeviceMeasurements& device = devices.try_emplace(one.key, DeviceMeasurements{.key = one.key}).first->second;
    for (TimedProduct& product : one.products) {
      const LayerShape& shape = product.shape;
      const Product same{shape.pattern, shape.dtype, shape.layout, shape.cache, shape.bcol, shape.contiguous};
      const auto [place, is_new] = places.try_emplace({one.key, same}, device.products.size());
      if (is_new) {
        device.products.push_back(std::move(product));
      } else {
        join(device.products[place->second], product);
      }
    }
  }
  std::vector<DeviceMeasurements> all;
  for (auto& [key, device] : devices) {
    all.push_back(std::move(device));
  }
  return all;
}

std::string file_name(const DeviceKey& device) { return print(device) + "_corrections.txt"; }

extern const std::string_view h200_corrections;
extern const std::string_view h100_corrections;

namespace {

constexpr DeviceKey h200{90, 132, 60ULL << 20};
constexpr DeviceKey h100{90, 132, 50ULL << 20};

}  // namespace

DeviceKey nearest_measured_device(const DeviceKey& device) {
  return device_distance(h200, device) <= device_distance(h100, device) ? h200 : h100;
}

DeviceMeasurements shipped_measurements(const DeviceKey& device) {
  const DeviceKey nearest = nearest_measured_device(device);
  return measurements_in(nearest == h200 ? h200_corrections : h100_corrections, file_name(nearest));
}

}  // namespace esc

// SPDX-License-Identifier: Apache-2.0
#include "generator/schedule/schedule_database.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "generator/support/error.h"

namespace esc {
namespace {

auto key_of(const CandidateEntry& entry) { return std::tuple(entry.bcol, entry.number); }
auto key_of(const ClassEntry& entry) { return entry.layers; }
auto key_of(const LayerEntry& entry) { return std::tuple(entry.bcol, entry.pattern); }
auto key_of(const DefaultEntry& entry) { return entry.bcol; }

template <typename Entry>
void sort(std::vector<Entry>& entries) {
  const auto key = [](const Entry& entry) { return key_of(entry); };
  std::ranges::sort(entries, {}, key);
  ESC_CHECK(std::ranges::adjacent_find(entries, {}, key) == entries.end(), "each thing has one entry");
}

/// How far two numbers of columns of B are apart, in octaves.
double octaves(long long a, long long b) {
  return std::abs(std::log2(static_cast<double>(a)) - std::log2(static_cast<double>(b)));
}

}  // namespace

std::string describe(const DatabaseHead& head) {
  return fmt::format("one {} ({}, {})", head.device, print(head.key),
                     head.origin == DatabaseOrigin::measured ? "measured" : "published");
}

const ScheduleDatabase* find_nearest(const std::vector<ScheduleDatabase>& databases, const DeviceKey& device,
                                     const std::string& layout, const std::string& dtype) {
  const auto order = [&](const ScheduleDatabase& database) {
    return std::pair(database.head().origin != DatabaseOrigin::measured, device_distance(device, database.head().key));
  };
  const ScheduleDatabase* nearest = nullptr;
  for (const ScheduleDatabase& database : databases) {
    const DatabaseHead& head = database.head();
    if (head.layout == layout && head.dtype == dtype && (nearest == nullptr || order(database) < order(*nearest))) {
      nearest = &database;
    }
  }
  return nearest;
}

const ScheduleDatabase& nearest_database(const std::vector<ScheduleDatabase>& databases, const DeviceKey& device) {
  const ScheduleDatabase* const nearest = find_nearest(databases, device);
  ESC_CHECK(nearest != nullptr, "there is a database to choose");
  return *nearest;
}

ScheduleDatabase::ScheduleDatabase(DatabaseHead head, DatabaseEntries entries)
    : head_(std::move(head)), entries_(std::move(entries)) {
  sort(entries_.candidates);
  sort(entries_.classes);
  sort(entries_.layers);
  sort(entries_.defaults);
  int next = 0;
  long long bcol = 0;
  for (const CandidateEntry& entry : entries_.candidates) {
    next = entry.bcol == bcol ? next + 1 : 0;
    bcol = entry.bcol;
    ESC_CHECK(entry.number == next, "candidates are numbered from 0 on, without gaps");
  }
  for (const ClassEntry& entry : entries_.classes) {
    ESC_CHECK(!entry.losses.empty() && entry.losses.size() == candidates_of(entry.layers.bcol).size(),
              "a class has one loss for each candidate of its bCol");
  }
}

ScheduleDatabase ScheduleDatabase::as_shipped() const {
  ScheduleDatabase shipped = *this;
  shipped.shipped_ = true;
  return shipped;
}

ScheduleDatabase ScheduleDatabase::with_entries(DatabaseEntries entries) const {
  ScheduleDatabase other(head_, std::move(entries));
  other.shipped_ = shipped_;
  return other;
}

std::span<const CandidateEntry> ScheduleDatabase::candidates_of(long long bcol) const {
  return std::ranges::equal_range(entries_.candidates, bcol, {}, &CandidateEntry::bcol);
}

std::span<const ClassEntry> ScheduleDatabase::classes_of(long long bcol) const {
  return std::ranges::equal_range(entries_.classes, bcol, {},
                                  [](const ClassEntry& entry) { return entry.layers.bcol; });
}

std::optional<long long> ScheduleDatabase::nearest_bcol(long long bcol) const {
  const auto nearest = std::ranges::min_element(
      entries_.classes, {}, [&](const ClassEntry& entry) { return octaves(entry.layers.bcol, bcol); });
  return nearest == entries_.classes.end() ? std::nullopt : std::optional(nearest->layers.bcol);
}

const ClassEntry* ScheduleDatabase::own_class(const LayerShape& shape) const {
  const LayerClass own = class_of(shape);
  const auto found = std::ranges::lower_bound(entries_.classes, own, {}, &ClassEntry::layers);
  return found == entries_.classes.end() || found->layers != own ? nullptr : &*found;
}

const LayerEntry* ScheduleDatabase::layer(const LayerShape& shape) const {
  const auto found = std::ranges::find_if(entries_.layers, [&](const LayerEntry& entry) {
    return entry.bcol == shape.bcol && shape.pattern.starts_with(entry.pattern);
  });
  return found == entries_.layers.end() ? nullptr : &*found;
}

const DefaultEntry* ScheduleDatabase::default_for(long long bcol) const {
  if (entries_.defaults.empty()) {
    return nullptr;
  }
  const auto above = std::ranges::upper_bound(entries_.defaults, bcol, {}, &DefaultEntry::bcol);
  return above == entries_.defaults.begin() ? &*above : &*std::prev(above);
}

}  // namespace esc

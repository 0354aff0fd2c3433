// SPDX-License-Identifier: Apache-2.0
#include "generator/commands/choice_notes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "generator/schedule/compare_with_dense.h"
#include "generator/schedule/device_ceilings.h"
#include "generator/schedule/element_types.h"

namespace esc {
namespace {

/// "a100, t4 and h200".
std::string names_of(const std::vector<TargetDevice>& devices) {
  std::string names;
  for (std::size_t number = 0; number < devices.size(); ++number) {
    names += (number == 0 ? "" : number + 1 == devices.size() ? " and " : ", ") + devices[number].name;
  }
  return names;
}

/// What is not known of the device that the user named, or that none was named; empty where nothing is to be said.
std::string device_note(const ScheduleChoice& choice, const LayerRequest& request, const DeviceCatalog& catalog) {
  const DatabaseHead& known = choice.database ? *choice.database : shipped_database().head();
  if (request.devices.empty()) {
    return no_gpu_note() + fmt::format(", with the schedule for one {}", known.device);
  }
  const TargetDevice device = request.devices.front();
  if (is_architecture(device) && may_be(device.key, known.key)) {
    return fmt::format("no GPU was named (--gpu): of those with {}, the schedule is the one for one {}", device.name,
                       known.device);
  }
  if (choice.database) {
    return is_measured_on(device, {known.device, known.key})
               ? ""
               : fmt::format(
                     "no measurements of such layers on {}: the schedule is from the database of the nearest "
                     "device, {}",
                     device.name, describe(known));
  }
  return catalog.has_measurements_of(device.key)
             ? ""
             : fmt::format(
                   "no kernels were measured on {}: the schedule is the one that a model expects to be the fastest, "
                   "which was corrected by kernels of an H100 and an H200{}",
                   device.name,
                   device_ceilings(device.key, catalog.devices()) ? "" : ", with the memory bandwidth of an H200");
}

/// The choice with a word on the device.
ScheduleChoice with_device_note(ScheduleChoice choice, const LayerTask& task) {
  if (const std::string note = device_note(choice, task.request, task.catalog); !note.empty()) {
    choice.notes.push_back(note);
  }
  return choice;
}

/// The choice with a word on the type of its measurements, where it is another one.
ScheduleChoice with_type_note(ScheduleChoice choice, ScalarType element) {
  if (choice.database && choice.database->dtype != name_of(element)) {
    choice.notes.push_back(
        fmt::format("no measurements in {}: the schedule is the one for {}", name_of(element), choice.database->dtype));
  }
  return choice;
}

}  // namespace

std::string no_gpu_note() {
  return "no GPU was named (--gpu): built for " + names_of_architectures(default_architectures());
}

bool is_shared(const LayerRequest& request) {
  return std::ranges::any_of(request.devices, [&](const TargetDevice& device) {
    const DeviceKey& first = request.devices.front().key;
    return !may_be(device.key, first) && !may_be(first, device.key);
  });
}

std::string sharing_note(const LayerRequest& request) {
  return fmt::format(
      "one schedule serves {}: it is chosen for {}, the first one named; for the best one of each, "
      "generate a bundle for each",
      names_of(request.devices), request.devices.front().name);
}

ScheduleChoice with_sharing_note(ScheduleChoice choice, const LayerRequest& request) {
  if (is_shared(request)) {
    choice.source +=
        fmt::format(", chosen for {}, the first of {}", request.devices.front().name, names_of(request.devices));
    choice.notes.push_back(sharing_note(request));
  }
  return choice;
}

ScheduleChoice beside_dense(ScheduleChoice choice, const LayerTask& task) {
  if (choice.script.empty()) {
    choice.beside_dense = compare_with_dense(task.shape, choice.schedule, wanted_device(task.request), task.catalog);
  }
  return choice;
}

ScheduleChoice with_measurements(ScheduleChoice choice, const LayerTask& task) {
  const bool is_any = task.request.devices.empty() && choice.database;  // then that is said
  const TargetDevice device =
      is_any ? TargetDevice{choice.database->device, choice.database->key} : wanted_device(task.request);
  const MeasuredCase wanted = case_of(choice.schedule, task.shape, device, task.nest.epilogue.has_value());
  return settled(std::move(choice), wanted);
}

ScheduleChoice with_notes(ScheduleChoice choice, const LayerTask& task) {
  choice = beside_dense(with_measurements(std::move(choice), task), task);
  return with_type_note(with_sharing_note(with_device_note(choice, task), task.request), task.matrix.element);
}

}  // namespace esc

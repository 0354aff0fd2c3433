// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "generator/schedule/cost.h"
#include "generator/schedule/device_key.h"
#include "generator/schedule/kernel_facts.h"
#include "generator/schedule/known_devices.h"
#include "generator/schedule/layer_class.h"
#include "generator/schedule/schedule.h"

namespace esc {

/// What the model knows of a device beside what resides on a multiprocessor.
struct ModelledDevice {
  DeviceKey key;
  std::optional<double> memory_gigabytes = {};  ///< a second; absent: those that constants were fitted with
};

/// What is known of a device among these.
ModelledDevice modelled(const DeviceKey& key, const KnownDevices& devices);

/// What a schedule is predicted to take for a layer, warm, by plain edges. Constants were fitted to the kernels of one
/// H200 and one H100 in tests/bench/journals. `kernel` replaces the estimate of what the kernel needs, once it has been
/// compiled. Infinite where the kernel cannot reside on a multiprocessor at all.
Cost predicted_cost(const Schedule& schedule, const LayerShape& shape, const ModelledDevice& device,
                    const std::optional<KernelFacts>& kernel = {});

/// The same for a device with what this program knows of it.
Cost predicted_cost(const Schedule& schedule, const LayerShape& shape, const DeviceKey& device,
                    const std::optional<KernelFacts>& kernel = {});

}  // namespace esc

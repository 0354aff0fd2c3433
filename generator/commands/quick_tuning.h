// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "generator/commands/layer_request.h"
#include "generator/emit/tuning_record.h"

namespace esc {

/// Candidates that are measured for each number of columns.
inline constexpr std::size_t quick_candidates = 8;

/// Journals of esctune that times are taken from and written to; empty: none.
struct TuningJournals {
  std::string replay;  ///< its times stand in place of a GPU's
  std::string output;  ///< what is measured is appended, and what it has is not measured again
};

/// Measures candidates by esctune, the program beside this one, on the GPU that it finds. Safe to use from several
/// threads, which should take turns: two measurements on one GPU spoil each other.
class QuickTuner {
 public:
  /// Finds the GPU, or that of the journal that stands in its place, and its name among known ones. Throws UserError as
  /// esctune does, with status missing_tool where that program, a GPU or what it needs of one is missing.
  QuickTuner(TuningJournals journals, const KnownDevices& known);

  /// "one NVIDIA H200 (sm90-132sm-60mib)".
  std::string device_text() const;

  /// The request for the GPU that is here where it names none. Throws UserError where auto would choose for another
  /// one, with status missing_tool unless a journal stands for the GPU.
  LayerRequest for_this_gpu(LayerRequest request) const;

  /// The same of all devices that the request names, of which each compute capability has schedules of its own.
  LayerRequest for_this_gpu_alone(LayerRequest request) const;

  /// Measures schedules of a layer, with weights from memory. The nest is that of the request, as it was read. What was
  /// not right is said. Throws UserError where nothing was (check_failed), and as esctune does.
  TuningRecord measure(const LayerRequest& request, const LoopNest& nest, const std::vector<Schedule>& candidates,
                       const Console& console) const;

 private:
  void require_here(const TargetDevice& wanted) const;
  std::vector<std::string> with_device(std::vector<std::string> words) const;

  std::filesystem::path esctune_;
  TuningJournals journals_;
  DeviceKey device_;
  std::string device_name_;
  std::string gpu_;  ///< as --gpu names it
};

}  // namespace esc

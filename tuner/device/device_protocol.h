// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "generator/emit/launch_plan.h"
#include "generator/ir/loop_nest.h"
#include "generator/matrix/sparse_matrix.h"
#include "tuner/build/kernel_text.h"
#include "tuner/process/message.h"
#include "tuner/records/device_rates.h"
#include "tuner/records/record.h"
#include "tuner/search/lab.h"

namespace esc::tuning {

/// What a worker says of itself when it is asked.
struct DeviceDescription {
  DeviceKey key;
  Environment environment;
  bool operator==(const DeviceDescription&) const = default;
};

/// What a loop nest says of a matrix and so many items, its arrays without gaps.
struct ProductQuestion {
  SparseMatrix matrix;
  std::int64_t bcol = 0;
  CacheState cache = CacheState::warm;
  LoopNest nest = spmm_nest();
};

/// A kernel that can be launched: nothing of how it came about.
struct KernelQuestion {
  std::string schedule;  ///< its text
  LaunchPlan plan;
  Cubin cubin;
  std::string packed;  ///< the packed matrix's bytes
};

/// Whether compiled kernels that keep too few warps on a multiprocessor are measured.
enum class OccupancyCuts { off, on };

/// The process that has a device: what it is asked, in terms of what it does. What fails is an outcome.
class MeasuringDevice {
 public:
  virtual ~MeasuringDevice() = default;
  virtual DeviceDescription describe() = 0;
  /// What it does in a second. A product that was taken up is not any more.
  virtual DeviceRates measure_rates() = 0;
  virtual void open(const ProductQuestion& product) = 0;
  virtual std::vector<Measurement> measure_peers() = 0;
  /// With `cuts` on, a kernel that occupancy_cut leaves out by its compiled figures is skipped-by-limit.
  virtual Measurement measure(const KernelQuestion& kernel, const StopRule& rule, OccupancyCuts cuts) = 0;
  /// Adds a finalist after checking its result. `open` removes all.
  virtual Measurement add_finalist(const KernelQuestion& kernel) = 0;
  virtual std::vector<double> run_round(Edge edge) = 0;
  /// False after something that no later call in this process gets over, such as an access out of bounds.
  virtual bool works() = 0;
};

/// The questions, as messages.
Message describe_question();
Message rates_question();
Message open_question(const ProductQuestion& product);
Message peers_question();
Message measure_question(const KernelQuestion& kernel, const StopRule& rule, OccupancyCuts cuts);
Message finalist_question(const KernelQuestion& kernel);
Message round_question(Edge edge);

/// What the answers say. Throw UserError when the worker says that there is no device (status missing_tool), or that it
/// cannot be used any more (status check_failed).
DeviceDescription description_in(const Message& answer);
DeviceRates rates_in(const Message& answer);
void check_opened(const Message& answer);
std::vector<Measurement> measurements_in(const Message& answer);
Measurement measurement_in(const Message& answer);
std::vector<double> times_in(const Message& answer);

/// Whether the worker ends after this answer, because its device works no more.
bool is_last(const Message& answer);

/// Why the question could not be answered, and none after it can; absent where it was answered.
std::optional<std::string> breakdown_in(const Message& answer);

/// The life of a worker: answers with `device` what is asked at the socket, until its other end is closed or the device
/// cannot be used any more.
void serve_measurements(int socket, MeasuringDevice& device);

/// The life of a worker that has no device: answers the first question with the reason.
void serve_refusal(int socket, const std::string& reason);

}  // namespace esc::tuning

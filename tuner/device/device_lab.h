// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <vector>

#include "tuner/build/build_pool.h"
#include "tuner/build/compiler.h"
#include "tuner/build/cubin_store.h"
#include "tuner/build/object_cache.h"
#include "tuner/device/candidate_preparation.h"
#include "tuner/device/device_protocol.h"
#include "tuner/process/worker_process.h"
#include "tuner/search/lab.h"

namespace esc::tuning {

/// How long a worker may take before it counts as hanging.
struct Patience {
  std::chrono::milliseconds start = std::chrono::seconds(60);    ///< until it has its device
  std::chrono::milliseconds product = std::chrono::seconds(60);  ///< to take up a product
  std::chrono::milliseconds peers = std::chrono::seconds(60);
  std::chrono::milliseconds rates = std::chrono::seconds(180);
  std::chrono::milliseconds candidate =
      std::chrono::seconds(10);  ///< to check and time a kernel, or one round of the final
};

/// The builders of a run, shared by the labs of all its devices.
struct Builders {
  NamedBuilder search;                ///< fast: NVRTC in a pool
  std::optional<NamedBuilder> final;  ///< as bundles are built; absent: the finalists stay as they are
};

/// The builders with NVRTC in `pool` and nvcc, if it is here, each text built once, what is built kept in `cache`
/// (null: nowhere). `pool` and `cache` must outlive them. `compiler` is the pool's.
Builders make_builders(BuildPool& pool, const ObjectCache* cache, const Compiler& compiler);

/// A GPU, in a process of its own that is replaced when a candidate makes it hang or takes it down.
class DeviceLab final : public Lab {
 public:
  /// Starts the worker. Throws UserError: status missing_tool when there is no device that it can use.
  DeviceLab(WorkerCommand worker, Builders builders, std::size_t preparing_threads, Patience patience = {},
            OccupancyCuts cuts = OccupancyCuts::off);

  DeviceKey device() override { return description_.key; }
  Environment environment() override { return description_.environment; }
  DeviceRates measure_rates() override;
  void open(const WorkItem& item, const ItemProduct& product, const std::vector<Schedule>& candidates) override;
  std::vector<Measurement> measure_peers() override;
  Measurement measure(const Schedule& schedule, const StopRule& rule) override;
  std::vector<Measurement> prepare_finalists(const std::vector<Schedule>& finalists) override;
  std::vector<double> run_round(Edge edge) override;

 private:
  struct Reply {
    std::optional<Message> message;  ///< absent: the worker is gone, and `outcome` and `detail` say how
    Outcome outcome = Outcome::ok;
    std::string detail = {};
  };

  void start();
  /// A worker that has taken up the item, a new one if need be.
  void make_ready();
  void drop_worker();
  Reply ask(const Message& question, std::chrono::milliseconds patience);
  PreparationSubject subject() const;
  /// The device's part of a candidate's measurement.
  Measurement measured(const PreparedCandidate& prepared, const Message& question);

  WorkerCommand command_;
  Builders builders_;
  std::size_t preparing_threads_;
  Patience patience_;
  OccupancyCuts cuts_;
  DeviceDescription description_;
  std::unique_ptr<WorkerProcess> worker_;
  bool has_product_ = false;
  WorkItem item_;
  ItemProduct product_;
  std::shared_ptr<PackingCache> fragments_ = std::make_shared<PackingCache>();  ///< of the product's matrix
  std::optional<CandidatePreparation> preparation_;
};

}  // namespace esc::tuning

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

#include "generator/commands/layer_request.h"
#include "generator/model/weight.h"

namespace esc {

/// The loop nests of a model's layers, as the request of all of them says: one for matrices, and one for filters of
/// each shape. Safe to use from several threads; what it gives stays where it is.
class ModelNests {
 public:
  explicit ModelNests(const LayerRequest& layer) : layer_(layer) {}

  const LoopNest& of(const Weight& weight);

 private:
  const LayerRequest& layer_;
  std::mutex mutex_;
  std::map<std::vector<std::int64_t>, LoopNest> nests_;
};

}  // namespace esc

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "generator/commands/layer_request.h"

namespace esc {

/// A layer that is to be made, and what of. Refers to what it is given.
struct LayerTask {
  LayerTask(const LayerRequest& wanted, const GenerateMode& mode, const LoopNest& product, const SparseMatrix& a,
            std::shared_ptr<PackingCache> packings);

  const LayerRequest& request;
  const DeviceCatalog& catalog;
  const LoopNest& nest;
  const SparseMatrix& matrix;
  std::shared_ptr<PackingCache> fragments;  ///< of the matrix
  ProductColumns columns;                   ///< of the product that the kernel is made for
  LayerShape shape;
};

GenerateOptions options_of(const LayerTask& task, const ScheduleChoice& choice);
GeneratedLayer generate_with(const LayerTask& task, const ScheduleChoice& choice);

/// Bytes that the schedule packs the matrix into. Throws UnsuitableSchedule where the matrix does not allow it.
double packed_bytes(const LayerTask& task, const ScheduleChoice& choice);

}  // namespace esc

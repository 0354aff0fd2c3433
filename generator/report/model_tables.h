// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "generator/emit/model_bundle.h"
#include "generator/report/measured_times.h"
#include "generator/report/table.h"

namespace esc {

/// Bytes of a layer as a dense matrix, and as compressed rows with numbers of 32 bits.
std::uint64_t dense_bytes(const ModelBundle& model, const ModelLayer& layer);
std::uint64_t csr_bytes(const ModelBundle& model, const ModelLayer& layer);

/// Layers, a row each: shape, zeros, bytes, how far its kernels are verified, how many times as fast as libraries they
/// are expected to be where that is known of any, and its times where they were measured.
Table layer_table(const ModelBundle& model, const MeasuredTimes& times);

/// The sum of all layers that were measured, by the number of columns of B; without rows where none was.
Table total_table(const MeasuredTimes& times);

/// The sum of all layers of which it is known what they are expected to take, by compute capability and bCol; without
/// rows where there is none.
Table expected_table(const ModelBundle& model);

/// Which kernel a layer has for which bCol and devices, with its schedule and where that is from.
Table kernel_table(const ModelBundle& model);

/// Tensors without a kernel, with the reason.
Table left_out_table(const ModelBundle& model);

}  // namespace esc

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace esc::tuning {

/// The part of a job that one process does: the items whose hash is `index` modulo `count`.
struct Shard {
  unsigned int index = 0;  ///< 0 to count - 1
  unsigned int count = 1;
  bool operator==(const Shard&) const = default;
};

/// An environment variable's value.
using Environs = std::function<std::optional<std::string>(const std::string& name)>;
Environs environs_of_process();

/// Reads "i/n" with 0 <= i < n, or "auto": what a Slurm array job (SLURM_ARRAY_TASK_ID, _COUNT, _MIN; its numbers in
/// steps of 1) or an indexed Kubernetes job (JOB_COMPLETION_INDEX, with ESC_SHARD_COUNT for the number of completions,
/// which Kubernetes does not tell) says. Throws UserError.
Shard parse_shard(const std::string& text, const Environs& environs);

/// Whether an item is in the shard: depends on nothing but the pattern's SHA-256 and bCol, so that every process agrees
/// and another layer moves none.
bool is_in(const Shard& shard, const std::string& pattern, std::int64_t bcol);

}  // namespace esc::tuning

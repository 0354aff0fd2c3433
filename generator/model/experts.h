// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "generator/model/weight.h"

namespace esc {

/// The expert of this number in a tensor of three dimensions, experts x rows x columns, as a weight of its own:
/// "NAME.3".
Weight expert_of(const Weight& tensor, std::int64_t number);

/// Whether a tensor of three dimensions has experts by its name: a part of it has "expert" or "moe" in it, and none has
/// "conv".
bool has_experts(const Weight& tensor);

/// The weights with each tensor of experts taken apart, as the mixtures of experts of transformers have them:
///
///     experts.gate_up_proj  E x 2I x H, experts.down_proj E x H x I     out x in: Mixtral, Qwen3-MoE
///     experts.gate_up_proj  E x H x 2I, experts.down_proj E x I x H     in x out: Llama 4, gpt-oss; each is taken as
///     its transpose
///
/// Which of the two it is the shapes of the pair say; without such a pair experts are taken as they lie.
std::vector<Weight> split_experts(std::vector<Weight> weights);

}  // namespace esc

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace esc {

/// The tensors that a pruned weight is while its masks are apart from it:
///
///     X_orig, X_mask                                                      X      torch.nn.utils.prune
///     M.parametrizations.W.original, M.parametrizations.W.NUMBER.mask     M.W    torch.ao.pruning, which is
///     torch.nn.utils.parametrize
struct MaskedNames {
  std::string weight;
  std::string values;
  std::vector<std::string> masks;
};

/// Those that the tensor of this name belongs to; none where it does not, or where any of them is missing or another
/// tensor takes part in the weight. `names_from` says which names begin with a text.
std::optional<MaskedNames> masked_names(const std::string& name,
                                        const std::function<std::vector<std::string>(const std::string&)>& names_from);

/// A name of torch.nn.utils.parametrize.
struct ParametrizedName {
  std::string weight;  ///< "M.W"
  std::string prefix;  ///< "M.parametrizations.W."
};

/// Its parts; none for another name.
std::optional<ParametrizedName> parametrized_name(const std::string& name);

}  // namespace esc

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "generator/commands/layer_request.h"
#include "generator/emit/tuning_record.h"
#include "generator/schedule/layer_class.h"

namespace esc {

/// What was measured of a model's layers: of each kind - shape, kind of pattern, loop nest with its type, numbers of
/// columns - of the first layer alone. Not safe to use from several threads at once.
class TunedKinds {
 public:
  /// Both stay the caller's.
  TunedKinds(const GenerateMode& mode, const Console& console) : mode_(mode), console_(console) {}

  /// The requests for a layer, one for each number of columns, with what was measured of its kind, and in the form that
  /// this was measured in. The first layer of a kind is measured here. Throws UserError as QuickTuner does, for further
  /// layers of a kind without measuring again.
  std::vector<LayerRequest> tuned(std::vector<LayerRequest> requests, const LoopNest& nest, const SparseMatrix& matrix,
                                  const std::shared_ptr<PackingCache>& fragments);

  /// All that was measured, in that order.
  std::vector<TuningRecord> records() const;

 private:
  using Kind = std::tuple<std::int64_t, std::int64_t, LayerClass, std::string, std::vector<std::int64_t>>;

  struct Tuned {
    std::string form;  ///< of all records
    std::vector<std::shared_ptr<const TuningRecord>> records;
    std::optional<UserError> problem;  ///< why there are none
  };

  static Kind kind_of(const std::vector<LayerRequest>& requests, const LoopNest& nest, const SparseMatrix& matrix);
  Tuned measure(const std::vector<LayerRequest>& requests, const LoopNest& nest, const SparseMatrix& matrix,
                const std::shared_ptr<PackingCache>& fragments);

  const GenerateMode& mode_;
  const Console& console_;
  std::map<Kind, Tuned> kinds_;
  std::vector<std::shared_ptr<const TuningRecord>> records_;
};

}  // namespace esc

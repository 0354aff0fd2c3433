// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "generator/commands/kept_layers.h"
#include "generator/commands/layer_worth.h"
#include "generator/commands/tuned_kinds.h"
#include "generator/commands/turns.h"
#include "generator/emit/shared_kernel.h"
#include "generator/verify/verify.h"

namespace esc {

/// A layer of a model that was made, with what its kernels are verified with.
struct MadeLayer {
  /// Where it was made now, and is not the one on disk.
  struct Generated {
    SharedKernel shared;
    Layer layer;
  };
  struct Kernel {
    std::string name;
    LayerRequest request;
    std::size_t packing;
    std::optional<Generated> generated;
  };

  ModelLayer layer;
  const LoopNest* nest = nullptr;
  std::optional<SparseMatrix> matrix = {};  ///< read where something is made of it
  std::shared_ptr<PackingCache> fragments = std::make_shared<PackingCache>();
  std::string why_dense = {};               ///< where the layer is better left dense; then it has no kernels
  std::vector<PackedMatrix> packings = {};  ///< the different ones
  std::vector<Kernel> kernels = {};
  std::vector<std::size_t> own = {};  ///< of these, those that no layer in front has

  std::size_t kept() const {
    const auto is_kept = [](const Kernel& kernel) { return !kernel.generated; };
    return static_cast<std::size_t>(std::ranges::count_if(kernels, is_kept));
  }
};

/// Makes layers of a model, one at a time, for all bCols and GPUs. Safe to use from several threads.
class LayerMaker {
 public:
  /// What the bundle on disk has of a layer is kept where it was made of the same, unless that bundle is to be checked
  /// or candidates are measured, which are in `kinds` afterwards.
  LayerMaker(const ModelRequest& request, const GenerateMode& mode, const std::optional<ModelBundle>& on_disk,
             TunedKinds& kinds, const Console& console);

  /// The layer that the request names, for these numbers of columns; its weight is like this. `nest` stays the
  /// caller's. Whether it is worth its kernels is decided on what is planned, before they are made. Candidates are
  /// measured when it is the layer's turn, which is over then.
  /// Throws DifferentBundle, before it makes anything, where the bundle on disk is another one and is not to be
  /// replaced.
  MadeLayer make(const LayerRequest& layer, const std::vector<std::int64_t>& bcols, const Weight& weight,
                 const WeightSurvey& survey, const LoopNest& nest, Turns::Turn& turn) const;

  /// NAME.cu of a kernel of a layer, laid out.
  std::string kernel_text(const MadeLayer::Kernel& kernel) const;

  /// Runs the kernel, which has this text, with its layer. One that was kept is generated after all, to know what it is
  /// run with.
  VerificationReport verify(MadeLayer& made, MadeLayer::Kernel& kernel, const std::string& text) const;

 private:
  /// A GPU, or what stands for all, for which the layers get kernels of their own.
  struct TargetGroup {
    int capability = 0;
    std::vector<TargetDevice> devices;
  };

  /// A kernel of a layer that is to be made: of what, what an earlier run has of it, and what is planned.
  struct Wanted {
    LayerRequest request;
    int capability = 0;
    std::string inputs;
    std::optional<KeptLayers::Kept> kept;
    PlannedKernel plan = {};
  };

  static std::vector<TargetGroup> groups_of(const std::vector<TargetDevice>& devices, const Console& console);
  std::vector<Wanted> wanted(MadeLayer& made, const LayerRequest& layer, const std::vector<std::int64_t>& bcols,
                             const Weight& weight, const WeightSurvey& survey) const;
  PlannedKernel plan(MadeLayer& made, const Wanted& wanted, const std::shared_ptr<PackingCache>& rows) const;
  void tune(MadeLayer& made, std::vector<Wanted>& all, Turns::Turn& turn) const;
  const SparseMatrix& matrix_of(MadeLayer& made, const LayerRequest& request) const;
  ModelVariant add_generated(MadeLayer& made, const LayerRequest& request) const;
  GeneratedLayer generate(MadeLayer& made, const LayerRequest& request) const;

  const ModelRequest& request_;
  const GenerateMode& mode_;
  const Console& console_;
  TunedKinds& kinds_;
  std::filesystem::path place_;
  KeptLayers kept_;
  bool must_be_kept_ = false;  ///< whether a layer of other inputs than on disk makes a bundle that would be refused
  std::vector<TargetGroup> groups_;
};

}  // namespace esc

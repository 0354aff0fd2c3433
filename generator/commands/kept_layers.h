// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "generator/commands/model_request.h"
#include "generator/emit/model_bundle.h"
#include "generator/model/survey.h"

namespace esc {

/// The bytes of a packed matrix.
struct PackedMatrix {
  std::shared_ptr<const std::byte[]> bytes;
  std::size_t size = 0;

  std::span<const std::byte> span() const { return {bytes.get(), size}; }
};

/// A digest of all that a layer's kernel for a bCol and its packed matrix follow from: this program, the weight, and
/// what is asked for. The request is of this bCol and these devices; `nest` is the text of the loop nest
/// with its element type.
std::string inputs_of(const LayerRequest& layer, const ModelRequest& request, const GenerateMode& mode,
                      const WeightSurvey& weight, const std::string& nest);

/// A digest of what these inputs have led to, by which a later run knows it again: of the layer's matrix, the variant
/// and its packed matrix, but not of where that is.
std::string seal_of(const std::string& inputs, const ModelLayer& layer, const ModelVariant& variant,
                    const transformer::ModelEntry& packing);

/// What the bundle on disk has of layers as a run from nothing would make them.
class KeptLayers {
 public:
  struct Kept {
    ModelLayer layer;  ///< as it is on disk
    ModelVariant variant;
    PackedMatrix packed;
  };

  /// Of this bundle in the folder; nothing of none.
  KeptLayers(const ModelBundle* on_disk, std::filesystem::path folder)
      : on_disk_(on_disk), folder_(std::move(folder)) {}

  /// The kernel of the layer for this bCol, where it was made of these inputs and is whole.
  std::optional<Kept> find(const std::string& layer, std::int64_t bcol, const std::string& inputs) const;
  /// Whether the bundle on disk says that it was, whether or not it is whole.
  bool is_made_of(const std::string& layer, std::int64_t bcol, const std::string& inputs) const;
  /// Whether the bundle on disk has the layer, by whatever kernels.
  bool has(const std::string& layer) const { return on_disk(layer) != nullptr; }
  /// The text of a kernel that was found.
  std::string text_of(const std::string& name) const;

 private:
  /// The layer of this name in the bundle on disk; null where there is none.
  const ModelLayer* on_disk(const std::string& layer) const;
  std::optional<PackedMatrix> read(const ModelLayer& layer, const transformer::ModelEntry& packing) const;
  bool has_text(const std::string& kernel) const;

  const ModelBundle* on_disk_;
  std::filesystem::path folder_;
};

}  // namespace esc

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "generator/emit/bundle.h"
#include "generator/emit/generate.h"
#include "generator/emit/manifest.h"
#include "generator/schedule/dense_comparison.h"
#include "generator/support/scratch_file.h"
#include "transformer/model_format.h"

namespace esc {

/// The file of the packed matrices in a model's bundle.
inline constexpr const char* packed_file_name = "model.packed";

/// A layer's kernel for a bCol, on devices of a compute capability from `capability` on.
struct ModelVariant {
  std::int64_t bcol = 0;
  int capability = 0;                  ///< 90 for sm_90
  std::string kernel;                  ///< its name
  std::vector<std::uint64_t> numbers;  ///< what the kernel is told of the layer
  std::size_t packing = 0;             ///< of the layer's
  std::string schedule;
  std::string schedule_source;
  std::optional<MeasuredRatios> measured = {};  ///< of the layer or of layers like it
  std::string not_measured = {};                ///< why not, where auto has chosen
  std::vector<std::string> notes = {};          ///< what a user should know of the schedule
  std::uint64_t planned_bytes = 0;  ///< of the packed matrix as it was planned, which decided that it is made
  std::optional<DenseComparison> beside_dense = {};
  /// Digests of what it was made of and what came of it, one for each GPU that got this; empty where that is not known.
  std::vector<std::string> made_of = {};
};

/// A layer of a model's bundle.
struct ModelLayer {
  std::string name;  ///< of its tensor
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t nonzeros = 0;
  Fingerprint fingerprint;
  std::vector<transformer::ModelEntry> packings = {};  ///< different ones; several kernels may read one
  std::vector<ModelVariant> variants = {};             ///< by capability, then by bCol

  /// Bytes of all its packed matrices, and of those that kernels for this number of columns read on one device: the
  /// most, where devices have different ones.
  std::uint64_t packed_bytes() const;
  std::uint64_t packed_bytes(std::int64_t bcol) const;
};

/// A kernel that layers share.
struct ModelKernel {
  std::string text;  ///< NAME.cu
  std::string schedule;
  std::string verified_with;  ///< the layer that it was verified with; empty where it was not
  std::optional<VerificationRecord> verification;
  std::string text_sha256 = {};  ///< as a manifest says it
};

/// All that the bundle of a model is made of, beside the packed matrices.
struct ModelBundle {
  std::string name;     ///< a C identifier
  std::string source;   ///< base name of the model
  std::string version;  ///< of the program that made it
  std::string dtype;
  std::string layout;          ///< "kn" or "nk"
  std::string loop_nest;       ///< the input as a C function
  LoopNest nest;               ///< the same
  std::string epilogue_parts;  ///< of the shipped nest, as --epilogue names them; empty where it has none
  std::vector<int> architectures;
  std::vector<ModelLayer> layers;
  std::map<std::string, ModelKernel> kernels;  ///< by name
  std::vector<TuningRecord> tunings = {};      ///< by which schedules were chosen, one for each kind of layer and bCol
  /// Tensors that have no kernel, with the reason.
  std::map<std::string, std::string> left_out;
  std::uint64_t file_bytes = 0;  ///< of model.packed

  /// The verification of a kernel with this text by this layer, where a bundle that was made by this version of the
  /// program has it.
  std::optional<VerificationRecord> verification_of(const std::string& kernel, const std::string& text,
                                                    const ModelLayer& layer) const;
  /// A digest of the patterns of all layers.
  std::string pattern() const;
};

/// What ModelEntry::layer is: a digest of name and pattern.
std::uint64_t digest_of(const ModelLayer& layer);

/// The entry of a packed matrix of the layer, which is at `offset`.
transformer::ModelEntry entry_of(const ModelLayer& layer, std::span<const std::byte> packed, std::uint64_t offset);

/// Index and header of a file in which these layers' packed matrices are one after the other, the index at
/// `index_at`.
std::vector<transformer::ModelEntry> index_of(const std::vector<ModelLayer>& layers);

/// The file of the packed matrices, which are in `file` where the layers have them: index and header are written to
/// it.
BundleFile packed_file(const ModelBundle& model, const ScratchFile& file);

/// The texts of the bundle, the manifest among them; `format` is applied to every C, C++ and CUDA text.
KernelBundle make_model_bundle(const ModelBundle& model, const Formatter& format);

/// manifest.json of a model.
std::string model_manifest_json(const ModelBundle& model);

/// The model of a manifest, with the kernels' names and no texts, and without the nest that its loop_nest is. Throws
/// UserError (place `file`) for text that is not the manifest of a model of a version that this program knows.
ModelBundle parse_model_manifest(const std::string& text, const std::string& file);

/// NAME.h, NAME.cpp and CMakeLists.txt of the bundle.
std::string model_header_source(const ModelBundle& model);
std::string model_source(const ModelBundle& model);
std::string model_cmake_source(const ModelBundle& model);

}  // namespace esc

// SPDX-License-Identifier: Apache-2.0
#include "generator/emit/model_bundle.h"

#include <algorithm>
#include <cstring>

#include "generator/emit/shared_kernel.h"
#include "generator/matrix/fingerprint.h"
#include "generator/support/number_in.h"

namespace esc {

std::uint64_t ModelLayer::packed_bytes() const {
  std::uint64_t bytes = 0;
  for (const transformer::ModelEntry& packing : packings) {
    bytes += packing.bytes;
  }
  return bytes;
}

std::uint64_t ModelLayer::packed_bytes(std::int64_t bcol) const {
  std::uint64_t most = 0;
  for (const ModelVariant& variant : variants) {
    most = variant.bcol == bcol ? std::max<std::uint64_t>(most, packings.at(variant.packing).bytes) : most;
  }
  return most;
}

std::optional<VerificationRecord> ModelBundle::verification_of(const std::string& kernel, const std::string& text,
                                                               const ModelLayer& layer) const {
  const auto found = kernels.find(kernel);
  const auto with = std::ranges::find(layers, layer.name, &ModelLayer::name);
  const bool is_same = version == tool_version && found != kernels.end() &&
                       found->second.text_sha256 == sha256_of_text(text) && found->second.verified_with == layer.name &&
                       with != layers.end() && with->fingerprint == layer.fingerprint;
  return is_same ? found->second.verification : std::nullopt;
}

std::string ModelBundle::pattern() const {
  std::string all;
  for (const ModelLayer& layer : layers) {
    all += layer.name + "\n" + layer.fingerprint.pattern + "\n";
  }
  return sha256_of_text(all);
}

std::uint64_t digest_of(const ModelLayer& layer) {
  constexpr std::size_t digits = 16;  // of 4 bits
  return number_in<std::uint64_t>(sha256_of_text(layer.name + "\n" + layer.fingerprint.pattern).substr(0, digits), 16)
      .value();
}

transformer::ModelEntry entry_of(const ModelLayer& layer, std::span<const std::byte> packed, std::uint64_t offset) {
  transformer::Header header;
  std::memcpy(&header, packed.data(), sizeof header);
  return {.offset = offset,
          .bytes = packed.size(),
          .description = transformer::description_of(header),
          .layer = digest_of(layer),
          .payload_checksum = header.payload_checksum};
}

std::vector<transformer::ModelEntry> index_of(const std::vector<ModelLayer>& layers) {
  std::vector<transformer::ModelEntry> index;
  for (const ModelLayer& layer : layers) {
    index.insert(index.end(), layer.packings.begin(), layer.packings.end());
  }
  return index;
}

BundleFile packed_file(const ModelBundle& model, const ScratchFile& file) {
  const std::vector<transformer::ModelEntry> index = index_of(model.layers);
  const std::uint64_t index_at = model.file_bytes - index.size() * sizeof(transformer::ModelEntry);
  const transformer::ModelHeader header = transformer::make_model_header(index.data(), index.size(), index_at);
  file.write(std::as_bytes(std::span(index)), index_at);
  file.write(std::as_bytes(std::span(&header, 1)), 0);
  return {packed_file_name, {}, file.map(model.file_bytes), model.file_bytes};
}

KernelBundle make_model_bundle(const ModelBundle& model, const Formatter& format) {
  const auto source = [&](const std::string& name, const std::string& text) {
    return BundleFile{name, format(name, text), nullptr, 0};
  };
  KernelBundle bundle{
      model.name,
      {source(model.name + ".h", model_header_source(model)), source(model.name + ".cpp", model_source(model))}};
  bundle.files.push_back({"CMakeLists.txt", model_cmake_source(model), nullptr, 0});
  bundle.files.push_back({"manifest.json", model_manifest_json(model), nullptr, 0});
  for (const auto& [name, kernel] : model.kernels) {
    bundle.files.push_back({name + ".cu", kernel.text, nullptr, 0});
  }
  return bundle;
}

}  // namespace esc

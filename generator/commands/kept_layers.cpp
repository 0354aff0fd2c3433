// SPDX-License-Identifier: Apache-2.0
#include "generator/commands/kept_layers.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "generator/commands/source_digest.h"
#include "generator/support/error.h"
#include "generator/support/file.h"

namespace esc {

std::string inputs_of(const LayerRequest& layer, const ModelRequest& request, const GenerateMode& mode,
                      const WeightSurvey& weight, const std::string& nest) {
  std::string all = fmt::format("{}\n{}\n{}\n{}\n{}\n{}\n", tool_version, source_digest, request.name,
                                weight.fingerprint.pattern, weight.fingerprint.values, nest);
  all += fmt::format("{}\n{}\n{}\n{}\n{}\n{}\n", layer.bcol, layer.schedule, layer.form,
                     mode.max_packed ? mode.max_packed->text() : "0", mode.compaction, layer.read.allow_nonfinite);
  all += fmt::format("{}\n", is_tuned(layer, mode));  // measured anew each time, and never what others would make
  for (const TargetDevice& device : layer.devices) {
    all += fmt::format("{} {}\n", device.name, print(device.key));
  }
  all += print(mode.own);
  return sha256_of_text(all);
}

std::string seal_of(const std::string& inputs, const ModelLayer& layer, const ModelVariant& variant,
                    const transformer::ModelEntry& packing) {
  return sha256_of_text(fmt::format("{}\n{} {} {} {} {}\n{} {} {}\n{}\n{}\n{} {} {}\n", inputs, layer.rows,
                                    layer.columns, layer.nonzeros, layer.fingerprint.pattern, layer.fingerprint.values,
                                    variant.bcol, variant.kernel, fmt::join(variant.numbers, ","), variant.schedule,
                                    variant.schedule_source, packing.bytes, packing.description,
                                    packing.payload_checksum));
}

namespace {

bool is_made_of(const ModelLayer& layer, const ModelVariant& variant, std::int64_t bcol, const std::string& inputs) {
  return variant.bcol == bcol &&
         std::ranges::find(variant.made_of, seal_of(inputs, layer, variant, layer.packings[variant.packing])) !=
             variant.made_of.end();
}

}  // namespace

const ModelLayer* KeptLayers::on_disk(const std::string& layer) const {
  if (on_disk_ == nullptr) {
    return nullptr;
  }
  const auto found = std::ranges::find(on_disk_->layers, layer, &ModelLayer::name);
  return found == on_disk_->layers.end() ? nullptr : &*found;
}

bool KeptLayers::is_made_of(const std::string& layer, std::int64_t bcol, const std::string& inputs) const {
  const ModelLayer* const found = on_disk(layer);
  return found != nullptr && std::ranges::any_of(found->variants, [&](const ModelVariant& variant) {
           return esc::is_made_of(*found, variant, bcol, inputs);
         });
}

std::optional<KeptLayers::Kept> KeptLayers::find(const std::string& layer, std::int64_t bcol,
                                                 const std::string& inputs) const {
  const ModelLayer* const found = on_disk(layer);
  if (found == nullptr) {
    return std::nullopt;
  }
  for (const ModelVariant& variant : found->variants) {
    if (!esc::is_made_of(*found, variant, bcol, inputs) || !has_text(variant.kernel)) {
      continue;
    }
    if (std::optional<PackedMatrix> packed = read(*found, found->packings[variant.packing])) {
      return Kept{*found, variant, *std::move(packed)};
    }
  }
  return std::nullopt;
}

std::string KeptLayers::text_of(const std::string& name) const { return read_bundle_file(folder_ / (name + ".cu")); }

bool KeptLayers::has_text(const std::string& kernel) const {
  std::error_code ignored;
  return std::filesystem::is_regular_file(folder_ / (kernel + ".cu"), ignored) &&
         sha256_of_text(text_of(kernel)) == on_disk_->kernels.at(kernel).text_sha256;
}

std::optional<PackedMatrix> KeptLayers::read(const ModelLayer& layer, const transformer::ModelEntry& packing) const {
  std::error_code ignored;
  const std::filesystem::path path = folder_ / packed_file_name;
  if (!std::filesystem::is_regular_file(path, ignored)) {
    return std::nullopt;
  }
  const RegularFile file(path, "packed matrices", FileOf::bundle);
  if (file.size() < packing.offset || file.size() - packing.offset < packing.bytes) {
    return std::nullopt;
  }
  const auto bytes = std::make_shared<transformer::AlignedBytes>(packing.bytes);
  file.read_at(packing.offset, std::span(bytes->data(), packing.bytes));
  const transformer::ModelEntry entry = entry_of(layer, bytes->span(), packing.offset);
  const bool is_whole =
      entry.description == packing.description && entry.payload_checksum == packing.payload_checksum &&
      transformer::checksum(bytes->data() + transformer::header_bytes, packing.bytes - transformer::header_bytes) ==
          packing.payload_checksum;
  return is_whole ? std::optional(
                        PackedMatrix{std::shared_ptr<const std::byte[]>(bytes, bytes->span().data()), packing.bytes})
                  : std::nullopt;
}

}  // namespace esc

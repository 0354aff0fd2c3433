#include "generator/emit/generate.h"

#include <fmt/format.h>

#include <set>

#include "generator/emit/sources.h"
#include "generator/patterns/csr_view.h"
#include "generator/pipeline.h"
#include "generator/support/error.h"

namespace esc {
namespace {

/// A size that the nest gives as a constant must be the matrix's.
void check_size(const Affine& extent, std::int64_t size, const std::string& what) {
  if (extent.is_constant() && extent.constant() != size) {
    throw UserError("loop nest", fmt::format("has {} {}, but the matrix has {}", extent.constant(), what, size),
                    "make the bound a parameter, or give the matrix that the nest is for");
  }
}

void check_sizes(const LoopNest& nest, const SparseMatrix& matrix, std::int64_t bcol) {
  const ArrayDeclaration& sparse = nest.array(ArrayRole::sparse);
  check_size(sparse.extents[0], matrix.rows, "rows");
  check_size(sparse.extents[1], matrix.columns, "columns");
  check_size(nest.array(ArrayRole::dense).extents[1], bcol, "columns of B");
}

std::vector<Pattern> patterns_in(const transformer::PackedMatrix& packed, int height) {
  const auto masks = packed.patterns();
  std::vector<Pattern> patterns;
  for (const std::uint8_t mask : std::set<std::uint8_t>(masks.begin(), masks.end())) {
    patterns.push_back({mask, height});
  }
  return patterns;
}

constexpr const char* manifest_name = "manifest.json";

}  // namespace

GeneratedLayer generate_layer(const SparseMatrix& matrix, const LoopNest& nest, const GenerateOptions& options) {
  check_legal(options.choice.schedule, options.bcol);
  check_sizes(nest, matrix, options.bcol);
  const int height = std::get<AtomicSchedule>(options.choice.schedule).ufi;
  const auto packed = std::make_shared<const transformer::PackedMatrix>(transformer::pack(
      csr_view(matrix), {.height = static_cast<std::uint32_t>(height), .max_list_columns = options.max_list_columns}));
  constexpr std::uint64_t most_blocks = 0x7fffffff;
  if (packed->format().counts.lists > most_blocks) {
    throw UserError(options.source_file,
                    fmt::format("has {} lists of columns, more than the {} blocks of a grid",
                                packed->format().counts.lists, most_blocks),
                    "choose a schedule with a smaller ufi");
  }
  Layer layer{.name = options.name,
              .source_file = options.source_file,
              .bcol = options.bcol,
              .architectures = options.architectures,
              .choice = options.choice,
              .input = nest,
              .lowered = lower(nest, expand(options.choice.schedule), patterns_in(*packed, height)),
              .statistics = statistics(matrix),
              .fingerprint = fingerprint(matrix),
              .format = packed->format(),
              .digests = transformer::pattern_digests(csr_view(matrix), static_cast<std::uint32_t>(height))};
  return {std::move(layer), packed};
}

KernelBundle make_bundle(const GeneratedLayer& generated, const Formatter& format) {
  const Layer& layer = generated.layer;
  const auto source = [&](const std::string& name, const std::string& text) {
    return BundleFile{name, format(name, text), nullptr, 0};
  };
  const std::span<const std::byte> bytes = generated.packed->bytes();
  return {layer.name,
          {source(layer.name + ".h", header_source(layer)),
           source(layer.name + ".cu", kernel_source(layer)),
           source(layer.name + "_transformer.cpp", transformer_source(layer)),
           {"CMakeLists.txt", cmake_source(layer), nullptr, 0},
           {manifest_name, manifest_json(layer, std::nullopt, std::nullopt), nullptr, 0},
           {layer.name + ".packed", {}, std::shared_ptr<const std::byte[]>(generated.packed, bytes.data()),
            bytes.size()}}};
}

KernelBundle with_manifest(KernelBundle bundle, std::string manifest) {
  for (BundleFile& file : bundle.files) {
    if (file.name == manifest_name) {
      file.text = std::move(manifest);
    }
  }
  return bundle;
}

}  // namespace esc

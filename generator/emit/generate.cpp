#include "generator/emit/generate.h"

#include <fmt/format.h>

#include <optional>
#include <set>

#include "generator/emit/panel_source.h"
#include "generator/emit/sources.h"
#include "generator/patterns/csr_view.h"
#include "generator/pipeline.h"
#include "generator/schedule/target.h"
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

constexpr std::uint64_t most_blocks = 0x7fffffff;

/// A packed matrix with what the layer says of it.
struct Packing {
  PackedDescription format;
  std::vector<transformer::PatternDigest> digests;
  std::optional<std::vector<Pattern>> patterns;  ///< that the matrix has, where the kernel has a case for each
  std::shared_ptr<const std::byte[]> bytes;
};

std::vector<Pattern> patterns_in(const transformer::PackedMatrix& packed, int height) {
  const auto masks = packed.patterns();
  std::vector<Pattern> patterns;
  for (const std::uint8_t mask : std::set<std::uint8_t>(masks.begin(), masks.end())) {
    patterns.push_back({mask, height});
  }
  return patterns;
}

transformer::PackingOptions cut_of(const AtomicSchedule& schedule, const GenerateOptions& options) {
  return {.height = static_cast<std::uint32_t>(schedule.ufi), .max_list_columns = options.max_list_columns};
}

transformer::TaskOptions cut_of(const RowsSchedule& schedule) {
  return {.longest = static_cast<std::uint32_t>(schedule.task),
          .light = static_cast<std::uint32_t>(schedule.light),
          .block_heavy = static_cast<std::uint32_t>(schedule.warps),
          .block_light = static_cast<std::uint32_t>(schedule.block_groups())};
}

transformer::RegionOptions cut_of(const PanelSchedule& schedule) {
  return {.height = static_cast<std::uint32_t>(schedule.ufi),
          .warps = static_cast<std::uint32_t>(schedule.warps),
          .groups = static_cast<std::uint32_t>(schedule.groups),
          .warp_panels = static_cast<std::uint32_t>(schedule.warp_panels()),
          .block_panels = static_cast<std::uint32_t>(schedule.panels),
          .multiple = static_cast<std::uint32_t>(schedule.ufk)};
}

transformer::PackedFormat plan_layer(const AtomicSchedule& schedule, const SparseMatrix& matrix,
                                     const GenerateOptions& options) {
  return transformer::plan(csr_view(matrix), cut_of(schedule, options));
}

transformer::TaskFormat plan_layer(const RowsSchedule& schedule, const SparseMatrix& matrix, const GenerateOptions&) {
  return transformer::plan_tasks(csr_view(matrix), cut_of(schedule));
}

Packing pack_layer(const AtomicSchedule& schedule, const SparseMatrix& matrix, const GenerateOptions& options) {
  const auto packed = std::make_shared<const transformer::PackedMatrix>(
      transformer::pack(csr_view(matrix), cut_of(schedule, options)));
  if (packed->format().counts.lists > most_blocks) {
    throw UserError(options.source_file,
                    fmt::format("has {} lists of columns, more than the {} blocks of a grid",
                                packed->format().counts.lists, most_blocks),
                    "choose a schedule with a smaller ufi");
  }
  return {packed->format(), transformer::pattern_digests(csr_view(matrix), static_cast<std::uint32_t>(schedule.ufi)),
          patterns_in(*packed, schedule.ufi),
          std::shared_ptr<const std::byte[]>(packed, packed->bytes().data())};
}

/// Regions have the size of the largest: rows that are too uneven would waste most of the memory.
void check_size(const transformer::RegionFormat& format, std::uint64_t bytes_as_csr, const std::string& source_file) {
  constexpr std::uint64_t always_allowed = std::uint64_t{64} << 20;
  constexpr std::uint64_t most_times_csr = 8;
  if (format.bytes > always_allowed && format.bytes > most_times_csr * bytes_as_csr) {
    throw UnsuitableSchedule(
        source_file,
        fmt::format("has rows too uneven for family panel: the widest panel has {} columns, {:.1f} on average, "
                    "and regions of one size take {} bytes, {:.0f} times those of CSR",
                    format.counts.widest_panel,
                    static_cast<double>(format.counts.columns) / static_cast<double>(format.shape.panels()), format.bytes,
                    static_cast<double>(format.bytes) / static_cast<double>(bytes_as_csr)),
        "choose a schedule of family rows");
  }
}

/// One float32 sum runs over the columns of one part of a panel.
void check_sums(const PanelSchedule& schedule, const transformer::RegionFormat& format, std::uint32_t max_columns) {
  const std::uint64_t columns = transformer::columns_of_part(format.counts.widest_panel, 0, format.shape.parts());
  if (columns > max_columns) {
    throw UnsuitableSchedule(
        print(schedule),
        fmt::format("a lane group adds up {} columns of the widest panel in one float32 sum, more than {}", columns,
                    max_columns),
        "choose more warps or groups, so that more of them share a panel");
  }
}

void check_shared_memory(const PanelSchedule& schedule, const transformer::RegionFormat& format,
                         const std::vector<int>& architectures) {
  const std::uint64_t needed = panel_shared_bytes(schedule, format);
  for (const int architecture : architectures) {
    if (needed > shared_bytes_per_block(architecture)) {
      throw UnsuitableSchedule(print(schedule),
                               fmt::format("a block needs {} bytes of shared memory for this matrix, sm_{} has {}", needed,
                                           architecture, shared_bytes_per_block(architecture)),
                               "choose stage=off, or fewer warps or panels");
    }
  }
}

transformer::RegionFormat plan_layer(const PanelSchedule& schedule, const SparseMatrix& matrix,
                                     const GenerateOptions& options) {
  const transformer::RegionFormat format = transformer::plan_regions(csr_view(matrix), cut_of(schedule));
  check_size(format, csr_bytes(matrix), options.source_file);
  check_sums(schedule, format, options.max_group_columns);
  check_shared_memory(schedule, format, options.architectures);
  return format;
}

Packing pack_layer(const PanelSchedule& schedule, const SparseMatrix& matrix, const GenerateOptions& options) {
  const transformer::RegionFormat format = plan_layer(schedule, matrix, options);
  const auto packed =
      std::make_shared<const transformer::PackedRegions>(transformer::pack_planned_regions(csr_view(matrix), format));
  return {format, transformer::pattern_digests(csr_view(matrix), format.shape), std::nullopt,
          std::shared_ptr<const std::byte[]>(packed, packed->bytes.span().data())};
}

Packing pack_layer(const RowsSchedule& schedule, const SparseMatrix& matrix, const GenerateOptions& options) {
  const transformer::TaskFormat format = plan_layer(schedule, matrix, options);
  if (format.counts.tasks > most_blocks) {
    throw UserError(options.source_file,
                    fmt::format("has {} tasks, more than the {} that the kernel counts", format.counts.tasks, most_blocks),
                    "choose a schedule with a larger task");
  }
  const auto packed =
      std::make_shared<const transformer::PackedTasks>(transformer::pack_tasks(csr_view(matrix), cut_of(schedule)));
  return {format, transformer::pattern_digests(csr_view(matrix), format.shape), std::nullopt,
          std::shared_ptr<const std::byte[]>(packed, packed->bytes.span().data())};
}

constexpr const char* manifest_name = "manifest.json";

}  // namespace

std::uint64_t planned_bytes(const SparseMatrix& matrix, const GenerateOptions& options) {
  check_legal(options.choice.schedule, options.bcol);
  return std::visit([&](const auto& schedule) { return plan_layer(schedule, matrix, options).bytes; },
                    options.choice.schedule);
}

GeneratedLayer generate_layer(const SparseMatrix& matrix, const LoopNest& nest, const GenerateOptions& options) {
  check_legal(options.choice.schedule, options.bcol);
  check_sizes(nest, matrix, options.bcol);
  Packing packing =
      std::visit([&](const auto& schedule) { return pack_layer(schedule, matrix, options); }, options.choice.schedule);
  Layer layer{.name = options.name,
              .source_file = options.source_file,
              .bcol = options.bcol,
              .architectures = options.architectures,
              .choice = options.choice,
              .input = nest,
              .lowered = lower(nest, expand(options.choice.schedule), packing.patterns),
              .statistics = statistics(matrix),
              .fingerprint = fingerprint(matrix),
              .format = packing.format,
              .digests = std::move(packing.digests)};
  return {std::move(layer), std::move(packing.bytes)};
}

KernelBundle make_bundle(const GeneratedLayer& generated, const Formatter& format) {
  const Layer& layer = generated.layer;
  const auto source = [&](const std::string& name, const std::string& text) {
    return BundleFile{name, format(name, text), nullptr, 0};
  };
  return {layer.name,
          {source(layer.name + ".h", header_source(layer)),
           source(layer.name + ".cu", kernel_source(layer)),
           source(layer.name + "_transformer.cpp", transformer_source(layer)),
           {"CMakeLists.txt", cmake_source(layer), nullptr, 0},
           {manifest_name, manifest_json(layer, std::nullopt, std::nullopt), nullptr, 0},
           {layer.name + ".packed", {}, generated.packed, generated.bytes().size()}}};
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

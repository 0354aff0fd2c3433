// SPDX-License-Identifier: Apache-2.0
#include "generator/emit/generate.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>
#include <type_traits>

#include "generator/emit/bitmap_text.h"
#include "generator/emit/block_memory.h"
#include "generator/emit/dispatch.h"
#include "generator/emit/fragment_block.h"
#include "generator/emit/fragment_text.h"
#include "generator/emit/fragment_weights.h"
#include "generator/emit/gather_text.h"
#include "generator/emit/layout_text.h"
#include "generator/emit/matching_sizes.h"
#include "generator/emit/print_kernel.h"
#include "generator/emit/region_text.h"
#include "generator/emit/sources.h"
#include "generator/lower/canonicalize.h"
#include "generator/lower/lane_sums.h"
#include "generator/matrix/statistics.h"
#include "generator/patterns/census.h"
#include "generator/patterns/csr_view.h"
#include "generator/pipeline.h"
#include "generator/schedule/bitmap_schedule.h"
#include "generator/schedule/gather_schedule.h"
#include "generator/schedule/stream_schedule.h"
#include "generator/schedule/target.h"
#include "generator/support/error.h"
#include "generator/support/limits.h"
#include "transformer/pack.h"

namespace esc {
namespace {

void check_sizes(const LoopNest& nest, const SparseMatrix& matrix, std::int64_t bcol) {
  ESC_CHECK(nest.element() == matrix.element, "the matrix was read in the type of the nest");
  require_matching_sizes(nest, matrix.rows, matrix.columns, bcol);
  if (matrix.nonzeros() > most_nonzeros) {
    throw UserError(
        "matrix",
        fmt::format("has {} non-zeros, more than the {} that a kernel counts", matrix.nonzeros(), most_nonzeros),
        "cut it into parts");
  }
}

constexpr std::uint64_t most_blocks = 0x7fffffff;

/// A packed matrix with what the layer says of it.
struct Packing {
  transformer::PackedFormat format;
  std::vector<transformer::PatternDigest> digests;
  std::shared_ptr<const std::byte[]> bytes;
  Environment sizes;  ///< of the packed form, by the names that nests have for them
};

std::uint32_t narrow(std::int64_t value) { return static_cast<std::uint32_t>(value); }

/// One float32 sum runs over the columns of one part of a row tile.
void check_sums(const std::string& schedule, const PackedForm& form, const transformer::RegionFormat& format,
                std::uint32_t max_columns) {
  const auto parts = static_cast<std::uint64_t>(form.warps * form.groups);
  const std::uint64_t columns =
      transformer::packet_columns * (transformer::round_up(format.counts.classes[0].packets, parts) / parts);
  if (columns > max_columns) {
    throw UnsuitableSchedule(
        schedule,
        fmt::format("a lane group adds up {} columns of the widest row tile in one float32 sum, more than {}", columns,
                    max_columns),
        "choose a larger split_k or more lane_groups, so that more of them share a row tile");
  }
}

void check_shared_memory(const std::string& schedule, std::uint64_t needed, const std::vector<int>& architectures,
                         const char* remedy) {
  for (const int architecture : architectures) {
    if (needed > shared_bytes_per_block(architecture)) {
      throw UnsuitableSchedule(schedule,
                               fmt::format("a block needs {} bytes of shared memory for this matrix, sm_{} has {}",
                                           needed, architecture, shared_bytes_per_block(architecture)),
                               remedy);
    }
  }
}

/// The tasks of a row are added to C one after the other, in float32.
void check_row_tasks(const std::string& schedule, const PackedForm& form, const SparseMatrix& matrix,
                     std::uint32_t max_tasks) {
  constexpr std::int64_t unbounded_task = 8;
  if (form.longest >= unbounded_task) {
    return;
  }
  const std::int64_t longest = matrix.longest_row();
  const std::int64_t tasks = (longest + form.longest - 1) / form.longest;
  if (tasks > max_tasks) {
    throw UnsuitableSchedule(
        schedule,
        fmt::format("a row of {} non-zeros is the float32 sum of {} tasks, more than {}", longest, tasks, max_tasks),
        fmt::format("cut the rows into tasks of {} non-zeros at least", unbounded_task));
  }
}

// What a kernel asks of the packed matrix.

void check_format(const transformer::ListFormat& format, const LoopNest&, const SparseMatrix&,
                  const GenerateOptions& options) {
  if (format.counts.lists > most_blocks) {
    throw UserError(
        options.source_file,
        fmt::format("has {} lists of columns, more than the {} blocks of a grid", format.counts.lists, most_blocks),
        "choose a schedule with fewer rows of a thread");
  }
}

void check_format(const transformer::RegionFormat& format, const LoopNest& nest, const SparseMatrix&,
                  const GenerateOptions& options) {
  const std::string schedule = text_of(options.choice);
  // Blocks, places and packets are counted in 32 bits.
  if (format.blocks() > most_blocks || format.block_places() >> 32 != 0 || format.packets() >> 32 != 0) {
    throw UnsuitableSchedule(options.source_file,
                             fmt::format("has {} blocks and {} packets of columns, more than the kernel counts",
                                         format.blocks(), format.packets()),
                             "choose a schedule of family rows");
  }
  if (nest.sum() == ScalarType::f32) {
    check_sums(schedule, nest.packed, format, options.max_group_columns);
  }
  check_shared_memory(schedule, shared_bytes(nest, region_sizes(format)), options.architectures,
                      "choose stage_a=off, or a smaller split_k or tile");
}

void check_format(const transformer::FragmentFormat& format, const LoopNest& nest, const SparseMatrix&,
                  const GenerateOptions& options) {
  for (const int architecture : options.architectures) {
    if (architecture < StreamSchedule::least_architecture) {
      throw UnsuitableSchedule(text_of(options.choice), fmt::format("sm_{} has no sparse tensor cores", architecture),
                               fmt::format("choose a schedule of family panel, or build for sm_{} and newer",
                                           StreamSchedule::least_architecture));
    }
    if (has_clusters(nest) && architecture < StreamSchedule::cluster_architecture) {
      throw UnsuitableSchedule(
          text_of(options.choice), fmt::format("sm_{} has no clusters of blocks", architecture),
          fmt::format("choose cluster=1, or build for sm_{} and newer", StreamSchedule::cluster_architecture));
    }
  }
  if (format.counts.rounds >> 31 != 0 || format.packed_tile_bytes() * nest.constant("block_copies") >> 31 != 0) {
    throw UnsuitableSchedule(
        options.source_file,
        fmt::format("has {} K tiles for all blocks, more than the kernel counts", format.counts.rounds),
        "choose a schedule of family panel");
  }
  check_shared_memory(text_of(options.choice), shared_bytes(nest, fragment_sizes(format)), options.architectures,
                      "choose fewer stages or warps, or a smaller tile");
}

void check_format(const transformer::GatherFormat& format, const LoopNest& nest, const SparseMatrix&,
                  const GenerateOptions& options) {
  for (const int architecture : options.architectures) {
    if (architecture < GatherSchedule::least_architecture) {
      throw UnsuitableSchedule(text_of(options.choice),
                               fmt::format("sm_{} has no engine that copies in bulk", architecture),
                               fmt::format("choose a schedule of family panel, or build for sm_{} and newer",
                                           GatherSchedule::least_architecture));
    }
  }
  if (format.blocks() > most_blocks) {
    throw UnsuitableSchedule(options.source_file,
                             fmt::format("has {} blocks of rows, more than a grid has", format.blocks()),
                             "choose more warps or a larger tile M");
  }
  check_shared_memory(text_of(options.choice), shared_bytes(nest, gather_sizes(format)), options.architectures,
                      "choose fewer warps, a smaller tile M, or a schedule of family panel");
}

/// Of packed tiles, which are counted in so many numbers of 32 bits each.
template <typename Format>
void check_packed_tiles(const Format& format, std::uint64_t numbers, const LoopNest& nest,
                        const GenerateOptions& options) {
  for (const int architecture : options.architectures) {
    if (architecture < BitmapSchedule::least_architecture) {
      throw UnsuitableSchedule(text_of(options.choice),
                               fmt::format("sm_{} has no copies past the registers", architecture),
                               fmt::format("choose a schedule of family panel, or build for sm_{} and newer",
                                           BitmapSchedule::least_architecture));
    }
  }
  constexpr std::uint64_t most_numbers = std::uint64_t{1} << 31;
  if (format.packed_tiles() >= most_numbers / numbers) {
    throw UnsuitableSchedule(options.source_file,
                             fmt::format("has {} packed tiles, more than the kernel counts", format.packed_tiles()),
                             "choose a schedule of family panel");
  }
  check_shared_memory(text_of(options.choice), shared_bytes(nest, packed_tile_sizes(format)), options.architectures,
                      "choose fewer stages, stages_a or warps, or a smaller tile");
}

void check_format(const transformer::BitmapFormat& format, const LoopNest& nest, const SparseMatrix&,
                  const GenerateOptions& options) {
  check_packed_tiles(format, 1, nest, options);
}

void check_format(const transformer::Sparse24Format& format, const LoopNest& nest, const SparseMatrix&,
                  const GenerateOptions& options) {
  constexpr std::uint64_t pieces = transformer::Sparse24Format::packed_tile_bytes / transformer::bitmap_piece_bytes;
  check_packed_tiles(format, pieces, nest, options);
}

void check_format(const transformer::TaskFormat& format, const LoopNest& nest, const SparseMatrix& matrix,
                  const GenerateOptions& options) {
  if (format.counts.tasks > most_blocks) {
    throw UserError(
        options.source_file,
        fmt::format("has {} tasks, more than the {} that the kernel counts", format.counts.tasks, most_blocks),
        "choose a schedule with a larger task");
  }
  if (nest.whole_rows && format.counts.split_rows > 0) {
    throw UnsuitableSchedule(text_of(options.choice),
                             fmt::format("a row of {} non-zeros is cut into tasks of {}, whose sums are added up in C: "
                                         "nobody has the whole of it for the "
                                         "epilogue",
                                         matrix.longest_row(), nest.packed.longest),
                             "choose a larger task, or a schedule of family panel");
  }
  if (nest.sum() == ScalarType::f32) {
    check_row_tasks(text_of(options.choice), nest.packed, matrix, options.max_row_tasks);
  }
}

// The sizes of packed forms by the names that nests have for them.

Environment sizes_of(const transformer::ListFormat& format) {
  return {{"lists", static_cast<std::int64_t>(format.counts.lists)}};
}
Environment sizes_of(const transformer::RegionFormat& format) { return region_sizes(format); }
Environment sizes_of(const transformer::FragmentFormat& format) { return fragment_sizes(format); }
Environment sizes_of(const transformer::GatherFormat& format) { return gather_sizes(format); }
Environment sizes_of(const transformer::BitmapFormat& format) { return packed_tile_sizes(format); }
Environment sizes_of(const transformer::Sparse24Format& format) { return packed_tile_sizes(format); }
Environment sizes_of(const transformer::TaskFormat& format) {
  return {{"heavy", static_cast<std::int64_t>(format.counts.heavy)},
          {"tasks", static_cast<std::int64_t>(format.counts.tasks)},
          {"split_rows", static_cast<std::int64_t>(format.counts.split_rows)}};
}

template <typename Format>
Packing packing_of(const std::shared_ptr<const transformer::Packed<Format>>& kept, const SparseMatrix& matrix) {
  return {kept->format, transformer::pattern_digests(csr_view(matrix), kept->format.shape.height),
          std::shared_ptr<const std::byte[]>(kept, kept->bytes.span().data()), sizes_of(kept->format)};
}

template <typename Format>
Packing packing_of(transformer::Packed<Format> packed, const SparseMatrix& matrix) {
  return packing_of(std::make_shared<const transformer::Packed<Format>>(std::move(packed)), matrix);
}

/// Calls use(cut) with how the packed form of the nest, which is not one of fragments, cuts any matrix.
template <typename Use>
auto with_cut(const PackedForm& form, const GenerateOptions& options, const Use& use) {
  switch (form.kind) {
    case PackedForm::Kind::lists:
      return use(transformer::ListCut{.height = narrow(form.height), .max_list_columns = options.max_list_columns});
    case PackedForm::Kind::regions:
      return use(transformer::RegionCut{.height = narrow(form.height),
                                        .warp_row_tiles = narrow(form.warp_row_tiles),
                                        .block_row_tiles = narrow(form.block_row_tiles)});
    case PackedForm::Kind::tasks:
      return use(transformer::TaskCut{.longest = narrow(form.longest),
                                      .light = narrow(form.light),
                                      .block_heavy = narrow(form.warps),
                                      .block_light = narrow(form.warps * form.groups)});
    case PackedForm::Kind::gathered:
      return use(
          transformer::GatherCut{.height = narrow(form.height), .block_row_tiles = narrow(form.block_row_tiles)});
    case PackedForm::Kind::bitmap:
      return use(transformer::BitmapCut{});
    case PackedForm::Kind::sparse24:
      return use(transformer::Sparse24Cut{});
    case PackedForm::Kind::fragments:
    case PackedForm::Kind::none:
      break;
  }
  throw Defect(__FILE__, __LINE__, "a packed form that a cut says all of",
               "a nest without one is refused once it is lowered");
}

/// Before memory is taken for it.
void check_bytes(std::uint64_t least_bytes, const SparseMatrix& matrix, const GenerateOptions& options) {
  const std::uint64_t most = most_packed_bytes(csr_bytes(matrix));
  if (least_bytes > most) {
    throw UnsuitableSchedule(text_of(options.choice),
                             fmt::format("packs the matrix, which has {} bytes as CSR, into {} at least, more than {}",
                                         csr_bytes(matrix), least_bytes, most),
                             "choose a schedule of family rows, or leave it to auto");
  }
}

/// The matrix in fragments; what was found out for other kernels of it is not searched for again.
PackingCache::Packing fragments_of(const LoopNest& nest, const SparseMatrix& matrix, const GenerateOptions& options) {
  const std::shared_ptr<PackingCache> shelf = options.fragments ? options.fragments : std::make_shared<PackingCache>();
  const transformer::FragmentBlock block = fragment_block(nest.packed);
  check_bytes(PackingCache::least_bytes(csr_view(matrix), block), matrix, options);
  const transformer::FragmentWeights weights = fragment_weights(nest);
  check_bytes(shelf->least_bytes(csr_view(matrix), block, weights), matrix, options);
  PackingCache::Packing packing = shelf->get(csr_view(matrix), block, weights);
  check_format(packing->format, nest, matrix, options);
  return packing;
}

/// Before the matrix is packed: whether that can be done.
void check_pattern(const LoopNest& nest, const SparseMatrix& matrix, const GenerateOptions& options) {
  if (nest.packed.kind != PackedForm::Kind::sparse24) {
    return;
  }
  if (const FullestFour fullest = fullest_four(matrix); fullest.nonzeros > 2) {
    throw UnsuitableSchedule(
        text_of(options.choice),
        fmt::format(
            "stores two of four neighbours in a row, of which in row {} the columns {} to {} have {} that are not "
            "zero",
            fullest.row, fullest.column, std::min(fullest.column + 4, matrix.columns) - 1, fullest.nonzeros),
        "leave out format=sparse24, or prune the matrix to 2:4");
  }
}

/// The matrix in the form that the lowered nest reads.
Packing pack_layer(const LoopNest& nest, const SparseMatrix& matrix, const GenerateOptions& options) {
  check_pattern(nest, matrix, options);
  const transformer::CsrView view = csr_view(matrix);
  if (nest.packed.kind == PackedForm::Kind::fragments) {
    return packing_of(fragments_of(nest, matrix, options), matrix);
  }
  const auto pack = [&](const auto& cut) {
    // Whether regions suit a kernel is known from their lengths, long before they are packed.
    if constexpr (std::is_same_v<decltype(cut), const transformer::RegionCut&>) {
      const transformer::RegionFormat format = transformer::plan(view, cut);
      check_format(format, nest, matrix, options);
      check_bytes(format.bytes, matrix, options);
      return packing_of(transformer::pack_planned(view, format), matrix);
    } else {
      check_bytes(transformer::plan(view, cut).bytes, matrix, options);
      auto packed = transformer::pack(view, cut);
      check_format(packed.format, nest, matrix, options);
      return packing_of(std::move(packed), matrix);
    }
  };
  return with_cut(nest.packed, options, pack);
}

/// Bytes of the matrix in that form, which is only planned.
std::uint64_t plan_layer(const LoopNest& nest, const SparseMatrix& matrix, const GenerateOptions& options) {
  check_pattern(nest, matrix, options);
  if (nest.packed.kind == PackedForm::Kind::fragments) {
    return fragments_of(nest, matrix, options)->format.bytes;
  }
  return with_cut(nest.packed, options, [&](const auto& cut) {
    const auto format = transformer::plan(csr_view(matrix), cut);
    check_format(format, nest, matrix, options);
    check_bytes(format.bytes, matrix, options);
    return format.bytes;
  });
}

/// The patterns that the kernel has a case for: those of the matrix or, where the schedule merges them, all.
std::optional<std::vector<Pattern>> patterns_of(const std::vector<Directive>& directives, const SparseMatrix& matrix) {
  const auto merges = [](const Directive& directive) { return std::holds_alternative<MergePatterns>(directive); };
  if (std::ranges::any_of(directives, merges)) {
    return std::nullopt;
  }
  // A height that no pattern has is refused by the step, with the directive.
  const auto enumerated = std::ranges::find_if(
      directives, [](const Directive& directive) { return std::holds_alternative<Enumerate>(directive); });
  const std::optional<int> rows = row_tile_rows({directives.begin(), enumerated});
  const bool countable = rows && *rows >= 1 && *rows <= static_cast<int>(transformer::max_height);
  return countable ? std::optional(take_census(matrix, *rows).patterns()) : std::nullopt;
}

/// A script may end before there is a kernel to print.
void check_final(const LoopNest& lowered, const ScheduleChoice& choice) {
  if (lowered.epilogue) {
    throw ScheduleError(text_of(choice), "stores the sums as they are, and the nest has more to do with them",
                        "add epilogue() after vectorize(j), or after fragment(j, 8)");
  }
  if (lowered.packed.kind == PackedForm::Kind::none) {
    throw ScheduleError(text_of(choice), "leaves the sparse array as it is", "transform it: transform(A, ...)");
  }
  const bool has_packed_tiles = lowered.packed.has_packed_tiles();
  const bool takes_k_tiles = has_packed_tiles || lowered.packed.kind == PackedForm::Kind::fragments ||
                             lowered.packed.kind == PackedForm::Kind::gathered;
  if (takes_k_tiles && !stages_k_tiles(lowered)) {
    throw ScheduleError(
        text_of(choice), "multiplies K tiles that are in no shared memory, for which there is no kernel",
        has_packed_tiles ? "copy them ahead: pipeline(k, stages=3, stages_a=2)" : "copy them ahead: pipeline(k, 4)");
  }
  if (lowered.packed.kind != PackedForm::Kind::lists && !takes_k_tiles && lowered.find_array("current") == nullptr) {
    throw ScheduleError(text_of(choice), "takes columns of A one by one, for which there is no kernel",
                        "vectorize the columns of C and batch those of A: vectorize(j); unroll_k(k, 4)");
  }
}

/// A launch computes whole items, and its grid has a limit.
void check_launch(const LoopNest& lowered, const ScheduleChoice& choice) {
  if (!lowered.vectors) {
    return;
  }
  const std::int64_t columns = item_columns(lowered);
  const std::int64_t tile = lowered.constant("tile_columns");
  if (columns > most_tiles * tile) {
    const std::int64_t enough = (columns + most_tiles - 1) / most_tiles;
    throw UnsuitableSchedule(
        text_of(choice),
        fmt::format("one of the items that bCol counts has {} columns of C, more than the {} tiles of {} of a launch",
                    columns, most_tiles, tile),
        enough <= RowsSchedule::max_columns
            ? fmt::format("choose a tile N of {} at least", std::bit_ceil(static_cast<std::uint64_t>(enough)))
            : "choose a schedule of family atomic, or cut the items into parts");
  }
}

constexpr const char* manifest_name = "manifest.json";

/// The nest as the kernel of the schedule has it, for this matrix and bCol. Throws ScheduleError where there is none.
LoopNest lowered_nest(const LoopNest& nest, const SparseMatrix& matrix, const ScheduleChoice& choice,
                      std::int64_t bcol) {
  check_legal(choice, product_columns(nest, bcol));
  check_sizes(nest, matrix, bcol);
  const std::vector<Directive> directives = directives_of(choice, nest.finishes_sums());
  const LoopNest result = lower(nest, directives, patterns_of(directives, matrix));
  check_final(result, choice);
  check_launch(result, choice);
  return result;
}

}  // namespace

ProductColumns product_columns(const LoopNest& nest, std::int64_t bcol) {
  const LoopNest canonical = canonicalize(nest);
  const std::int64_t columns = item_columns(canonical);
  if (columns > most_columns_of_b / bcol) {
    throw UserError(fmt::format("--bcol {}", bcol),
                    fmt::format("counts items of {} columns of C each: together more than the {} that a kernel counts",
                                columns, most_columns_of_b),
                    columns > most_columns_of_b ? "cut the items into parts"
                                                : fmt::format("choose at most {}", most_columns_of_b / columns));
  }
  const std::optional<Layout>& dense = canonical.array(ArrayRole::dense).layout;
  return {bcol * columns, !dense || has_contiguous_columns(*dense)};
}

std::uint64_t planned_bytes(const SparseMatrix& matrix, const LoopNest& nest, const GenerateOptions& options) {
  return plan_layer(lowered_nest(nest, matrix, options.choice, options.bcol), matrix, options);
}

GeneratedLayer generate_layer(const SparseMatrix& matrix, const LoopNest& nest, const GenerateOptions& options) {
  LoopNest kernel = lowered_nest(nest, matrix, options.choice, options.bcol);
  Packing packing = pack_layer(kernel, matrix, options);
  if (kernel.packed.kind == PackedForm::Kind::bitmap) {
    std::int64_t& room = packing.sizes.at("packed_tile_room");
    room = free_packed_tile_room(kernel, room, options.architectures);
  }
  packing.sizes.merge(
      Environment{{"M", matrix.rows}, {"K", matrix.columns}, {"N", options.bcol * item_columns(kernel)}});
  Layer layer{.name = options.name,
              .source_file = options.source_file,
              .bcol = options.bcol,
              .architectures = options.architectures,
              .choice = options.choice,
              .input = nest,
              .lowered = std::move(kernel),
              .statistics = statistics(matrix),
              .fingerprint = fingerprint(matrix),
              .format = packing.format,
              .sizes = std::move(packing.sizes),
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

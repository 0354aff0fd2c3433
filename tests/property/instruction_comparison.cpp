// SPDX-License-Identifier: Apache-2.0
#include "tests/property/instruction_comparison.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "generator/emit/bitmap_text.h"
#include "generator/emit/built_architectures.h"
#include "generator/emit/device_text.h"
#include "generator/emit/fragment_block.h"
#include "generator/emit/fragment_text.h"
#include "generator/emit/gather_text.h"
#include "generator/emit/half_text.h"
#include "generator/emit/launch_plan.h"
#include "generator/emit/layout_text.h"
#include "generator/emit/print_kernel.h"
#include "generator/emit/region_text.h"
#include "generator/emulate/compile_program.h"
#include "generator/emulate/device.h"
#include "generator/ir/interpret.h"
#include "generator/ir/performed_instructions.h"
#include "generator/ir/placed_layout.h"
#include "generator/matrix/typed_elements.h"
#include "generator/patterns/csr_view.h"
#include "generator/verify/kernel_programs.h"
#include "tests/support/nest_memory.h"
#include "transformer/choose_fragments.h"
#include "transformer/pack.h"

namespace esc::tests {
namespace {

constexpr double gap = -12345;  ///< between the rows of C, where nothing may write

/// Where vectors move columns, rows are whole vectors of them; images are whole everywhere.
std::int64_t column_step(const InstructionExample& example) {
  const std::optional<Layout>& layout = example.nest.array(ArrayRole::output).layout;
  if (layout && layout->column.size() > 1) {
    return columns_of_item(*layout);
  }
  return example.vectors ? std::max<std::int64_t>(4, example.nest.constant("vector_width")) : 1;
}

std::int64_t most_further_columns(const InstructionExample& example) {
  const std::int64_t step = column_step(example);
  return step > 8 ? 2 * step : step == 8 ? 16 : 12;
}

/// In the first round, for which the kernel's constants are made: of one column by itself where B has no more.
std::int64_t tuned_columns(const InstructionExample& example) {
  return example.least_columns == 1 ? 1 : example.least_columns + most_further_columns(example);
}

template <typename Format>
struct Packing {
  transformer::Packed<Format> packed;
  Environment sizes;
};

Packing<transformer::RegionFormat> pack_regions(const InstructionExample& example) {
  const PackedForm& form = example.nest.packed;
  auto packed =
      transformer::pack(csr_view(example.matrix),
                        transformer::RegionCut{.height = static_cast<std::uint32_t>(form.height),
                                               .warp_row_tiles = static_cast<std::uint32_t>(form.warp_row_tiles),
                                               .block_row_tiles = static_cast<std::uint32_t>(form.block_row_tiles)});
  Environment sizes = region_sizes(packed.format);
  return {std::move(packed), std::move(sizes)};
}

/// Also for who reads nothing of it.
Packing<transformer::TaskFormat> pack_tasks(const InstructionExample& example) {
  const PackedForm& form = example.nest.packed;
  auto packed = transformer::pack(csr_view(example.matrix),
                                  transformer::TaskCut{.longest = static_cast<std::uint32_t>(form.longest),
                                                       .light = static_cast<std::uint32_t>(form.light)});
  const transformer::TaskCounts& counts = packed.format.counts;
  return {std::move(packed), {{"heavy", counts.heavy}, {"tasks", counts.tasks}}};
}

Packing<transformer::FragmentFormat> pack_fragments(const InstructionExample& example) {
  const transformer::CsrView matrix = csr_view(example.matrix);
  auto packed = transformer::pack(
      matrix, transformer::choose_fragments(matrix, fragment_block(example.nest.packed), {.residual = 64}));
  Environment sizes = fragment_sizes(packed.format);
  sizes["M"] = example.matrix.rows;
  sizes["K"] = example.matrix.columns;
  return {std::move(packed), std::move(sizes)};
}

Packing<transformer::GatherFormat> pack_gathered(const InstructionExample& example) {
  const PackedForm& form = example.nest.packed;
  auto packed =
      transformer::pack(csr_view(example.matrix),
                        transformer::GatherCut{.height = static_cast<std::uint32_t>(form.height),
                                               .block_row_tiles = static_cast<std::uint32_t>(form.block_row_tiles)});
  Environment sizes = gather_sizes(packed.format);
  sizes["M"] = example.matrix.rows;
  sizes["K"] = example.matrix.columns;
  return {std::move(packed), std::move(sizes)};
}

template <typename Format, typename Cut>
Packing<Format> pack_tiles(const InstructionExample& example, const Cut& cut) {
  auto packed = transformer::pack(csr_view(example.matrix), cut);
  Environment sizes = packed_tile_sizes(packed.format);
  sizes["M"] = example.matrix.rows;
  sizes["K"] = example.matrix.columns;
  return {std::move(packed), std::move(sizes)};
}

/// Packs the example's matrix and hands it to `use`.
template <typename Use>
auto with_packed(const InstructionExample& example, const Use& use) {
  switch (example.nest.packed.kind) {
    case PackedForm::Kind::regions:
      return use(pack_regions(example));
    case PackedForm::Kind::fragments:
      return use(pack_fragments(example));
    case PackedForm::Kind::gathered:
      return use(pack_gathered(example));
    case PackedForm::Kind::bitmap:
      return use(pack_tiles<transformer::BitmapFormat>(example, transformer::BitmapCut{}));
    case PackedForm::Kind::sparse24:
      return use(pack_tiles<transformer::Sparse24Format>(example, transformer::Sparse24Cut{}));
    default:
      return use(pack_tasks(example));
  }
}

/// A matrix in a kernel's memory, with gaps between its outermost indices.
class Operand {
 public:
  Operand(const ArrayDeclaration& array, const Environment& sizes, std::int64_t rows, std::int64_t columns,
          std::int64_t gap_elements)
      : placed_(array.layout ? PlacedLayout(*array.layout, sizes) : PlacedLayout()), rows_(rows), columns_(columns) {
    const std::int64_t items = columns / placed_.columns_of_item();
    leading_ = placed_.least_leading_dimension(items) + gap_elements;
    elements_ = placed_.outermost_extent(rows, items) * leading_;
  }

  std::int64_t leading() const { return leading_; }
  std::int64_t elements() const { return elements_; }
  /// Calls use(place in a tensor, place in memory), the latter none where the element is one of the padding.
  template <typename Use>
  void for_each(const Use& use) const {
    for (std::int64_t row = 0; row < rows_; ++row) {
      for (std::int64_t column = 0; column < columns_; ++column) {
        use(static_cast<std::size_t>(row * columns_ + column), placed_.offset(row, column, leading_));
      }
    }
  }

 private:
  PlacedLayout placed_;
  std::int64_t rows_;
  std::int64_t columns_;
  std::int64_t leading_ = 0;
  std::int64_t elements_ = 0;
};

template <typename Element>
void write(const Operand& operand, const Tensor& from, double between, Element* to) {
  std::fill_n(to, operand.elements(), static_cast<Element>(between));
  operand.for_each([&](std::size_t at, std::optional<std::int64_t> place) {
    if (place) {
      to[*place] = static_cast<Element>(from.elements[at]);
    }
  });
}

/// What a matrix is in whose memory several elements are one, and some are padding.
template <typename Element>
Tensor as_in_memory(const Operand& operand, Tensor tensor, const Element* memory) {
  operand.for_each([&](std::size_t at, std::optional<std::int64_t> place) {
    tensor.elements[at] = place ? static_cast<double>(memory[*place]) : 0.0;
  });
  return tensor;
}

/// The first element that is not as expected, rounded to its type, bit by bit; empty where there is none.
template <typename Element>
std::string first_difference(const Operand& operand, const Tensor& expected, const Element* result) {
  std::vector<double> meant(static_cast<std::size_t>(operand.elements()), gap);
  operand.for_each([&](std::size_t at, std::optional<std::int64_t> place) {
    meant[static_cast<std::size_t>(place.value())] = expected.elements[at];
  });
  for (std::size_t at = 0; at < meant.size(); ++at) {
    const auto wanted = static_cast<double>(static_cast<Element>(meant[at]));
    const auto found = static_cast<double>(result[at]);
    if (std::bit_cast<std::uint64_t>(found) != std::bit_cast<std::uint64_t>(wanted)) {
      return fmt::format("element {} of C is {} and means {}\n", at, found, wanted);
    }
  }
  return "";
}

/// Whether what is changed is not C, but the values of the packed matrix.
bool repacks(const InstructionExample& example) {
  return performs(example.nest, "store_words") || performs(example.nest, "store_sparse_words");
}

std::string value_difference(const Tensor& expected, const Tensor& found) {
  for (std::size_t at = 0; at < expected.elements.size(); ++at) {
    if (std::bit_cast<std::uint64_t>(found.elements[at]) != std::bit_cast<std::uint64_t>(expected.elements[at])) {
      return fmt::format("value {} is {} and means {}\n", at, found.elements[at], expected.elements[at]);
    }
  }
  return "";
}

/// What the example's nest makes of the operands of a round, whatever its text is: interpreting the nest takes longer
/// than all else, and is done once for all texts of the example.
const Tensor& meaning(const InstructionExample& example, int round, Memory memory) {
  static std::map<std::pair<std::string, int>, Tensor> known;
  const std::pair key(example.name, round);
  auto found = known.find(key);
  if (found == known.end()) {
    Memory behind = interpret(example.nest, std::move(memory));
    found = known.emplace(key, std::move(behind.arrays.at(repacks(example) ? "Values" : "C"))).first;
  }
  return found->second;
}

class Comparison {
 public:
  Comparison(const InstructionExample& example, const HostProgram& program, std::span<const std::byte> packed)
      : example_(example), program_(program), packed_(packed), random_(17) {}

  template <typename Element>
  std::string run() {
    for (int round = 0; round < example_.products; ++round) {
      const std::int64_t columns = round == 0 ? tuned_columns(example_) : draw_columns();
      if (std::string found = run_round<Element>(columns, round); !found.empty()) {
        return fmt::format("{}, round {}: {}", example_.name, round, found);
      }
    }
    return "";
  }

 private:
  std::int64_t draw_columns() {
    const std::int64_t step = column_step(example_);
    return example_.least_columns +
           step * std::uniform_int_distribution<std::int64_t>(0, most_further_columns(example_) / step)(random_);
  }

  Tensor draw(std::int64_t rows, std::int64_t columns, double factor) {
    Tensor tensor{{rows, columns}, {}};
    for (std::int64_t at = 0; at < rows * columns; ++at) {
      tensor.elements.push_back(factor * drawn_operand(example_.nest.element(), random_()));
    }
    return tensor;
  }

  std::int64_t rows_of_c(const Memory& memory) const {
    return example_.nest.array(ArrayRole::output).extents[0].evaluate(memory.sizes);
  }

  template <typename Element>
  std::string run_round(std::int64_t columns, int round) {
    constexpr std::uint64_t unused_seed = 1;
    Memory memory = memory_for(example_.nest, example_.matrix, columns, unused_seed);
    for (const DerivedSize& size : example_.nest.derived_sizes) {
      memory.sizes[size.name] = (size.numerator.evaluate(memory.sizes) + size.divisor - 1) / size.divisor;
    }
    const std::int64_t further = round == 0 ? 0 : column_step(example_) * (round - 1);
    const std::int64_t c_rows = rows_of_c(memory);
    const Operand b(example_.nest.array(ArrayRole::dense), memory.sizes, example_.matrix.columns, columns, further);
    const Operand c(example_.nest.array(ArrayRole::output), memory.sizes, c_rows, columns, 2 * further);
    const Tensor before = memory.arrays["C"] = draw(c_rows, columns, 1);

    EmulationOptions options;
    options.shuffle_seed = static_cast<std::uint64_t>(round);
    EmulatedDevice device(options);
    std::vector<std::byte> packed(packed_.begin(), packed_.end());
    device.add_buffer("packed", std::span(packed), repacks(example_) ? BufferUse::update() : BufferUse::input());
    const auto allocate = [&](const char* name, const Operand& operand, BufferUse use) {
      const auto bytes = static_cast<std::size_t>(operand.elements()) * sizeof(Element);
      return reinterpret_cast<Element*>(device.allocate(name, bytes, use).data());
    };
    Element* const b_memory = allocate("B", b, BufferUse::input());
    Element* const c_memory = allocate("C", c, BufferUse::update());
    write(b, draw(example_.matrix.columns, columns, example_.factor_of_b), gap, b_memory);
    memory.arrays["B"] =
        as_in_memory(b,
                     Tensor{{example_.matrix.columns, columns},
                            std::vector<double>(static_cast<std::size_t>(example_.matrix.columns * columns))},
                     b_memory);
    write(c, before, gap, c_memory);
    const std::optional<int> status =
        device.call<int(const void*, const Element*, long long, Element*, long long, unsigned int)>(
            program_, "run", packed.data(), b_memory, b.leading(), c_memory, c.leading(),
            static_cast<unsigned int>(columns));
    if (!device.faults().empty() || status != 0) {
      return "the text fails: " + device.describe_faults();
    }
    const Tensor& expected = meaning(example_, round, std::move(memory));
    if (repacks(example_)) {
      return value_difference(expected, packed_tile_values(packed));
    }
    return expected == before ? "the example does nothing" : first_difference(c, expected, c_memory);
  }

  const InstructionExample& example_;
  const HostProgram& program_;
  std::span<const std::byte> packed_;
  std::mt19937 random_;
};

}  // namespace

namespace {

/// Host code that describes b to tensor copies as a launcher does.
constexpr const char* encode_boxes = R"(
  void* encode = nullptr;
  cudaDriverEntryPointQueryResult found;
  cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &encode, 12000, cudaEnableDefault, &found);
  CUtensorMap boxes = {{}};
  const cuuint64_t extents[2] = {{{0}}};
  const cuuint64_t row_bytes[1] = {{{4} * (cuuint64_t)ldb}};
  const cuuint32_t box[2] = {{{1}, {2}}};
  const cuuint32_t steps[2] = {{1, 1}};
  ((PFN_cuTensorMapEncodeTiled_v12000)encode)(&boxes, CU_TENSOR_MAP_DATA_TYPE_{5}, 2, (void*)b, extents, row_bytes, box, steps,
      CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_{3}, CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
)";

/// The same of these boxes, of a B that has so many rows.
std::string description_of(const LaunchPlan::Boxes& boxes, std::int64_t rows) {
  const unsigned int inner = boxes.of_columns ? boxes.rows : boxes.columns;
  const unsigned int outer = boxes.of_columns ? boxes.columns : boxes.rows;
  const bool is_half = boxes.element_bytes == 2;
  return fmt::format(
      encode_boxes, boxes.of_columns ? fmt::format("{}, columns", rows) : fmt::format("columns, {}", rows), inner,
      outer, is_half ? fmt::format("{}B", 2 * inner) : "NONE", boxes.element_bytes, is_half ? "UINT16" : "FLOAT32");
}

}  // namespace

std::string text_of(const InstructionExample& example) {
  Layer layer;
  layer.name = "example";
  layer.bcol = tuned_columns(example) / item_columns(example.nest);
  layer.lowered = example.nest;
  with_packed(example, [&](const auto& packing) {
    layer.format = packing.packed.format;
    layer.sizes = packing.sizes;
  });
  layer.sizes["N"] = tuned_columns(example);
  for (const DerivedSize& size : example.nest.derived_sizes) {
    layer.sizes[size.name] = (size.numerator.evaluate(layer.sizes) + size.divisor - 1) / size.divisor;
  }
  const LaunchPlan plan = launch_plan(layer);
  std::string sizes;
  for (const unsigned int size : plan.sizes) {
    sizes += fmt::format(", {}u", size);
  }
  // As a launcher asks for them.
  const bool has_tiles =
      std::ranges::find(example.nest.derived_sizes, "tiles", &DerivedSize::name) != example.nest.derived_sizes.end();
  const std::string tiles =
      !has_tiles ? "1" : fmt::format("(columns + {0} - 1) / {0}", example.nest.constant("tile_columns"));
  const std::string boxes = plan.boxes ? description_of(*plan.boxes, layer.sizes.at("K")) : "";
  return fmt::format(R"(#include <cuda_pipeline_primitives.h>
#include <cudaTypedefs.h>
#include <cuda_runtime.h>
{8}{0}
extern "C" int run(const unsigned char* packed, const {1}* b, long long ldb, {1}* c, long long ldc, unsigned int columns) {{
  cudaLaunchConfig_t launch = {{}};
  launch.gridDim = dim3({2}, {9});
  launch.blockDim = dim3({3});
  launch.dynamicSmemBytes = {4};
  const bool tuned = columns == tuned_columns && ldb == {10} && ldc == {11};
  const auto kernel = tuned ? {5}<true, {6}> : {5}<false, {6}>;
  const cudaError_t allowed = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, {4});
  {12}
  return allowed != cudaSuccess ? allowed : cudaLaunchKernelEx(&launch, kernel, packed, b, ldb, c, ldc, columns{7}{13});
}}
)",
                     device_text(layer), c_name(example.nest.element()), plan.grid_x, plan.threads, plan.shared_bytes,
                     kernel_name(layer), example.vectors, sizes, include_of(example.nest.element()), tiles,
                     tuned_leading_dimension(example.nest.array(ArrayRole::dense)),
                     tuned_leading_dimension(example.nest.array(ArrayRole::output)), boxes,
                     plan.boxes ? ", boxes" : "");
}

std::string difference(const InstructionExample& example, const std::string& text) {
  const auto difference_with = [&](const ProgramOptions& options) {
    const HostProgram program = compile_cuda(text, "example.cu", options);
    return with_packed(example, [&](const auto& packing) {
      Comparison comparison(example, program, packing.packed.bytes.span());
      return with_element(example.nest.element(), [&](auto zero) { return comparison.run<decltype(zero)>(); });
    });
  };
  std::string found = asks_for_own_features(text) ? difference_with(with_features()) : "";
  if (found.empty() && example.nest.packed.has_packed_tiles() && !has_clusters(example.nest)) {
    found = difference_with(
        {.headers = {}, .defines = {"__CUDA_ARCH__=800"}});  // packed tiles are not copied in bulk there
  }
  return found.empty() ? difference_with({}) : found;
}

}  // namespace esc::tests

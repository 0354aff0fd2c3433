// SPDX-License-Identifier: Apache-2.0
#include "generator/emit/launcher_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>

#include "generator/emit/bitmap_text.h"
#include "generator/emit/block_memory.h"
#include "generator/emit/c_constant.h"
#include "generator/emit/device_text.h"
#include "generator/emit/dispatch.h"
#include "generator/emit/fragment_text.h"
#include "generator/emit/gather_text.h"
#include "generator/emit/launch_parameters.h"
#include "generator/emit/launch_plan.h"
#include "generator/emit/layout_text.h"
#include "generator/emit/operand_text.h"
#include "generator/emit/print_kernel.h"
#include "generator/emit/unpack_text.h"
#include "generator/support/error.h"

namespace esc {
namespace {

const char* const allows_vectors = R"(
// Whether a lane can move its part of each row of a matrix at once.
bool allows_vectors(const void* matrix, int64_t leading_dimension) {{
  return reinterpret_cast<uintptr_t>(matrix) % (sizeof({}) * vector_width) == 0 && leading_dimension % vector_width == 0;
}}
)";

const char* const set_to_zero = R"(
// C = 0: {3}
cudaError_t set_to_zero({0}* c, int64_t ldc, int32_t n, cudaStream_t stream) {{
  const size_t row_bytes = static_cast<size_t>({2}) * sizeof({0});
  if (ldc == {2}) {{
    return cudaMemsetAsync(c, 0, row_bytes * {1}, stream);
  }}
  return cudaMemset2DAsync(c, static_cast<size_t>(ldc) * sizeof({0}), 0, row_bytes, {1}, stream);
}}
)";

/// CUDA has one status for a bad argument and for more shared memory than the kernel was given.
const char* const status_of_launch = R"(
// What a launch of the kernel has ended with; cudaErrorNotReady where the kernel was not prepared on this device, and
// so has too little shared memory.
template <typename Kernel>
cudaError_t status_of_launch(cudaError_t status, Kernel* kernel) {
  cudaFuncAttributes attributes;
  if (status != cudaErrorInvalidValue || cudaFuncGetAttributes(&attributes, kernel) != cudaSuccess) {
    return status;
  }
  return attributes.maxDynamicSharedSizeBytes < static_cast<int>(shared_bytes) ? cudaErrorNotReady : status;
}
)";

const char* const launch_attributes = R"(  int device = 0;
  int major = 0;
  cudaLaunchAttribute overlap = {};
  overlap.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  overlap.val.programmaticStreamSerializationAllowed = 1;
  if (cudaGetDevice(&device) == cudaSuccess &&
      cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device) == cudaSuccess && major >= 9) {
    launch.attrs = &overlap;
    launch.numAttrs = 1;
  }
)";

/// The same where kernels from compute capability 9.0 on need more than that leave: whether they are such must be
/// known.
const char* const strict_launch_attributes = R"(  int device = 0;
  int major = 0;
  cudaError_t asked = cudaGetDevice(&device);
  if (asked == cudaSuccess) {{
    asked = cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
  }}
  if (asked != cudaSuccess) {{
    return asked;
  }}
{})";

const char* const strict_overlap = R"(  cudaLaunchAttribute overlap = {};
  overlap.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  overlap.val.programmaticStreamSerializationAllowed = 1;
  if (major >= 9) {
    launch.attrs = &overlap;
    launch.numAttrs = 1;
  }
)";

/// The driver's functions are asked for at run time, so that who links a bundle does not have to link the driver.
const char* const limit_of_boxes = R"(
// A tensor map gives the distance of rows 40 bits.
constexpr int64_t most_ldb_of_boxes = (int64_t{{1}} << 40) / sizeof({}) - 1;
)";
/// As kernels decide it.
const char* const allows_boxes = R"(
// Whether tensor copies can move B: its lines begin at multiples of 16 bytes, and a map can give their distance.
bool allows_boxes(const void* b, int64_t ldb) {{
  return (reinterpret_cast<uintptr_t>(b) | static_cast<uintptr_t>(ldb) * sizeof({0})) % 16 == 0 &&
         ldb <= most_ldb_of_boxes;
}}
)";
const char* const describe_boxes = R"(
// Describes the first columns of B to tensor copies: {5}.
cudaError_t describe_boxes(CUtensorMap* boxes, const {0}* b, int64_t ldb, unsigned int columns) {{
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
  const cudaError_t asked = cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000, cudaEnableDefault, &found);
  if (asked != cudaSuccess || found != cudaDriverEntryPointSuccess) {{
    return asked != cudaSuccess ? asked : cudaErrorNotSupported;
  }}
  const cuuint64_t extents[2] = {{{3}}};
  const cuuint64_t row_bytes[1] = {{static_cast<cuuint64_t>(ldb) * sizeof({0})}};
  const cuuint32_t box[2] = {{{4}}};
  const cuuint32_t steps[2] = {{1, 1}};
  const auto encode = reinterpret_cast<PFN_cuTensorMapEncodeTiled_v12000>(function);
  return static_cast<cudaError_t>(encode(boxes, {1}, 2, const_cast<{0}*>(b), extents, row_bytes, box, steps,
                                         CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_{2}, CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
                                         CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE));
}}
)";

/// The boxes of a nest: extents of B and of a box, how they are told, and the bytes of a swizzle, 0 for none.
struct BoxesOfLauncher {
  std::string extents;
  std::string box;
  std::string description;
  std::int64_t swizzle;
};

BoxesOfLauncher boxes_of_k_tiles(const LoopNest& nest) {
  const bool has_more_columns = columns_of_k_tile_row(nest) != nest.constant("tile_columns");
  const char* const row_columns = has_more_columns ? "row_columns" : "tile_columns";
  const std::string description =
      fmt::format("boxes of a K tile's rows and a tile's columns{}{}",
                  gathers_rows(nest) ? "" : ", with the pieces of their rows where piece_at has them",
                  has_more_columns ? ", and some columns more, which nobody reads" : "");
  return {"columns, K", fmt::format("{}, k_tile_columns", row_columns), description, 0};
}

BoxesOfLauncher boxes_of_tiles(const LoopNest& nest) {
  const BoxOfTile box = box_of_tile(nest);
  return {box.of_columns ? "K, columns" : "columns, K",
          box.of_columns ? fmt::format("{}, {}", box.rows, box.columns) : fmt::format("{}, {}", box.columns, box.rows),
          box.of_columns ? "a tile of it is a box of its columns" : "a tile of it is boxes of its rows",
          box.line_bytes};
}

std::string describe_boxes_text(const LoopNest& nest) {
  const ScalarType element = nest.element();
  const BoxesOfLauncher boxes = copies_tile_boxes(nest) ? boxes_of_tiles(nest) : boxes_of_k_tiles(nest);
  const std::string limit = fmt::format(fmt::runtime(limit_of_boxes), c_name(element));
  const std::string condition = copies_tile_boxes(nest) ? fmt::format(fmt::runtime(allows_boxes), c_name(element)) : "";
  return limit + condition +
         fmt::format(fmt::runtime(describe_boxes), c_name(element),
                     element == ScalarType::f16    ? "CU_TENSOR_MAP_DATA_TYPE_FLOAT16"
                     : element == ScalarType::bf16 ? "CU_TENSOR_MAP_DATA_TYPE_BFLOAT16"
                                                   : "CU_TENSOR_MAP_DATA_TYPE_FLOAT32",
                     boxes.swizzle == 0 ? "NONE" : fmt::format("{}B", boxes.swizzle), boxes.extents, boxes.box,
                     boxes.description);
}

std::string launch_attributes_text(const LoopNest& nest, bool programmatic) {
  if (copies_boxes(nest)) {
    return fmt::format(fmt::runtime(strict_launch_attributes), programmatic ? strict_overlap : "");
  }
  return programmatic ? launch_attributes : "";
}

/// The kernel's arguments after N: "M, region_bytes".
std::string size_arguments(const LoopNest& nest) {
  std::string text;
  for (const std::string& size : kernel_sizes(nest)) {
    text += ", " + size;
  }
  return text;
}

/// The dense array and the output, which a caller gives leading dimensions for.
const ArrayDeclaration& dense(const LoopNest& nest) { return nest.array(ArrayRole::dense); }
const ArrayDeclaration& output(const LoopNest& nest) { return nest.array(ArrayRole::output); }

/// The most columns of one launch.
const char* most_columns(const LoopNest& nest) {
  return item_columns(nest) == 1 ? "most_tiles * tile_columns" : "most_columns";
}

std::string variant_text(const Layer& layer, const std::string& kernel) {
  const LoopNest& nest = layer.lowered;
  const std::string ldb = tuned_leading_dimension(dense(nest));
  const std::string ldc = tuned_leading_dimension(output(nest));
  if (!nest.vectors) {
    return fmt::format(
        "const bool tuned = columns == tuned_columns && ldb == {1} && ldc == {2};\n"
        "const auto kernel = tuned ? {0}<true> : {0}<false>;\n",
        kernel, ldb, ldc);
  }
  if (!moves_vectors(nest, layer.sizes)) {
    return fmt::format(
        "const bool tuned = columns == tuned_columns && ldb == {1} && ldc == {2} && tuned_columns <= {3};\n"
        "const auto kernel = tuned ? {0}<true, false> : {0}<false, false>;\n",
        kernel, ldb, ldc, most_columns(nest));
  }
  const std::vector<std::string> variants = kernel_variants(layer);
  return fmt::format(
      "const bool vectors = columns % vector_width == 0 && allows_vectors(b, ldb) && allows_vectors(c, ldc){4};\n"
      "const bool tuned = {5}columns == tuned_columns && ldb == {1} && ldc == {2} &&\n"
      "                   tuned_columns <= {3};\n"
      "const auto kernel = tuned ? {0}{6} : vectors ? {0}{7} : {0}{8};\n",
      kernel, ldb, ldc, most_columns(nest),
      copies_boxes(nest) && !copies_tile_boxes(nest) ? " && ldb <= most_ldb_of_boxes" : "",
      tuned_moves_vectors(nest, layer.sizes, layer.bcol) ? "vectors && " : "", variants[0], variants[1], variants[2]);
}

/// What prepares C: a memset, or a kernel of our own.
std::string before_text(const Layer& layer, const LaunchPlan& plan) {
  if (plan.zeroes_c) {
    return "  const cudaError_t zeroed = set_to_zero(c, ldc, n, stream);\n"
           "  if (zeroed != cudaSuccess) {\n"
           "    return zeroed;\n"
           "  }\n";
  }
  if (!plan.zeroing) {
    return "";
  }
  return fmt::format(
      "  launch.gridDim = dim3({});\n"
      "  launch.blockDim = dim3({});\n"
      "  const cudaError_t zeroed = cudaLaunchKernelEx(&launch, {}, bytes, c, static_cast<long long>(ldc), "
      "columns{});\n"
      "  if (zeroed != cudaSuccess) {{\n"
      "    return zeroed;\n"
      "  }}\n",
      is_shape_generic(layer) ? "zeroing_blocks" : fmt::format("{}", plan.zeroing->grid_x), plan.zeroing->threads,
      plan.zeroing->kernel, size_arguments(layer.lowered.before.front()));
}

/// How far an array is on after the columns that are done.
std::string distance(const Layer& layer, const ArrayDeclaration& array, const char* leading_dimension) {
  const std::int64_t columns = item_columns(layer.lowered);
  const std::string items = columns == 1 ? "done" : fmt::format("done / {}", columns);
  return distance_of_items(array, layer.sizes, items, leading_dimension);
}

const char* const boxes_of_launch = R"(    CUtensorMap boxes = {{}};
    if ({} && major >= 9) {{
      const cudaError_t described = describe_boxes(&boxes, b + {}, ldb, left);
      if (described != cudaSuccess) {{
        return described;
      }}
    }}
)";

/// The columns of a launch where several are an item's, which the next launch begins with: were some of them those of
/// both, what is added to C would be added twice.
const char* const columns_of_whole_items = R"(    const unsigned int rest = columns - done;
    const unsigned int left = rest > most_tiles * tile_columns ? most_columns : rest;
)";

std::string launch_text(const Layer& layer) {
  const LoopNest& nest = layer.lowered;
  const std::string sizes = size_arguments(nest);
  const char* const status = needs_preparing(layer) ? "status_of_launch(status, kernel)" : "status";
  if (!nest.vectors) {
    ESC_CHECK(operand_parameters(nest).empty(), "an epilogue is where sums are stored in vectors");
    return fmt::format(
        "  launch.gridDim = dim3(blocks_of_grid);\n"
        "  const cudaError_t status = cudaLaunchKernelEx(&launch, kernel, bytes, b, static_cast<long long>(ldb), c,\n"
        "                                                static_cast<long long>(ldc), columns{});\n"
        "  return {};\n",
        sizes, status);
  }
  const bool has_items = item_columns(nest) != 1;
  return fmt::format(R"(  for (unsigned int done = 0; done < columns;) {{
{}    const unsigned int tiles = left / tile_columns + (left % tile_columns != 0);
    launch.gridDim = dim3(blocks_of_grid, tiles < most_tiles ? tiles : most_tiles);
{}    const cudaError_t status = cudaLaunchKernelEx(&launch, kernel, bytes, b + {}, static_cast<long long>(ldb), c + {},
                                                  static_cast<long long>(ldc){}, left{}{});
    if (status != cudaSuccess || {}) {{
      return {};
    }}
    done += {};
  }}
  return cudaSuccess;
)",
                     has_items ? columns_of_whole_items : "    const unsigned int left = columns - done;\n",
                     copies_boxes(nest) ? fmt::format(fmt::runtime(boxes_of_launch),
                                                      copies_tile_boxes(nest) ? "allows_boxes(b, ldb)" : "vectors",
                                                      distance(layer, dense(nest), "ldb"))
                                        : "",
                     distance(layer, dense(nest), "ldb"), distance(layer, output(nest), "ldc"),
                     operand_arguments(nest, layer.sizes, "done"), sizes, copies_boxes(nest) ? ", boxes" : "",
                     has_items ? "left == rest" : "tiles <= most_tiles", status, most_columns(nest));
}

std::string prepare_text(const Layer& layer) {
  const LoopNest& nest = layer.lowered;
  const std::string kernel = kernel_name(layer);
  std::vector<std::string> instances;
  if (!nest.before.empty()) {
    instances.push_back(zeroing_name(layer));
  }
  for (const std::string& variant : kernel_variants(layer)) {
    instances.push_back(kernel + variant);
  }
  if (can_unpack(layer)) {
    instances.push_back(unpacking_name(layer));
    instances.push_back(repacking_name(layer));
  }
  std::string text = "cudaError_t status = cudaSuccess;\n";
  for (const std::string& instance : instances) {
    text += fmt::format("if (status == cudaSuccess) {{\nstatus = prepare_kernel({});\n}}\n", instance);
  }
  return text + "return status;";
}

/// The numbers that the kernels are given.
std::string sizes_text(const Layer& layer, const LaunchPlan& plan) {
  if (is_shape_generic(layer)) {
    return "";
  }
  std::vector<std::string> names = kernel_sizes(layer.lowered);
  if (plan.zeroing) {
    std::ranges::copy(kernel_sizes(layer.lowered.before.front()), std::back_inserter(names));
  }
  std::string text;
  for (const std::string& size : names) {
    text += c_constant("unsigned int", size, layer.sizes.at(size));
  }
  return text.empty()
             ? ""
             : "// The run-time parameters of the kernel: what differs between the matrices that it serves.\n" + text +
                   "\n";
}

/// Whether the launcher is told how many blocks there are.
bool tells_grid(const Layer& layer) {
  return std::ranges::any_of(launch_parameters(layer),
                             [](const RuntimeParameter& number) { return number.name == "blocks_of_grid"; });
}

}  // namespace

std::map<std::string, std::string> launcher_holes(const Layer& layer) {
  const LoopNest& nest = layer.lowered;
  const LaunchPlan plan = launch_plan(layer);
  const std::string kernel = kernel_name(layer);
  const char* const element = c_name(nest.element());
  std::string functions;
  if (nest.vectors) {
    functions += "\n" + c_constant("unsigned int", "most_tiles", most_tiles, "of one launch");
  }
  if (const std::int64_t columns = item_columns(nest); nest.vectors && columns != 1) {
    functions += fmt::format(
        "constexpr unsigned int most_columns = most_tiles * tile_columns / {0} * {0};  // of one launch, whole items\n",
        columns);
  }
  if (moves_vectors(nest, layer.sizes)) {
    functions += fmt::format(fmt::runtime(allows_vectors), element);
  }
  if (copies_boxes(nest)) {
    functions += describe_boxes_text(nest);
  }
  if (needs_preparing(layer)) {
    functions += status_of_launch;
  }
  if (plan.zeroes_c) {
    functions += fmt::format(fmt::runtime(set_to_zero), element, outermost_extent(output(nest), layer.sizes, "n"),
                             least_leading_dimension(output(nest), layer.sizes, "n"),
                             output(nest).layout
                                 ? "whatever lies between one index of its first dimension and the next is left."
                                 : "only the n columns of each row, whatever lies between them and the next row.");
  }
  std::map<std::string, std::string> holes{
      {"SIZES", sizes_text(layer, plan)},
      {"BLOCKS", tells_grid(layer) ? "" : c_constant("unsigned int", "blocks_of_grid", plan.grid_x)},
      {"PARAMETERS", (is_shape_generic(layer)
                          ? "const uint64_t* numbers, const void* given_b, int64_t ldb, void* given_c, int64_t ldc"
                          : fmt::format("const {0}* b, int64_t ldb, {0}* c, int64_t ldc", element)) +
                         operand_parameters(nest)},
      {"ELEMENTS",
       is_shape_generic(layer)
           ? fmt::format(
                 "const {0}* const b = static_cast<const {0}*>(given_b);\n{0}* const c = static_cast<{0}*>(given_c);\n",
                 element)
           : ""},
      {"PACKED_BYTES", is_shape_generic(layer)
                           ? packed_matrix_argument(layer)
                           : "const unsigned char* const bytes = static_cast<const unsigned char*>(packed);"},
      {"THREADS", fmt::format("{}", plan.threads)},
      {"SHARED_BYTES", fmt::format("{}", most_shared_bytes(layer))},
      {"LAUNCH_BYTES", is_shape_generic(layer) && nest.packed.kind == PackedForm::Kind::bitmap
                           ? fmt::format("{} + {} * static_cast<size_t>(packed_tile_room)",
                                         bytes_before_packed_tiles(nest), staged_packed_tiles(nest))
                           : "shared_bytes"},
      {"HOST_FUNCTIONS", functions},
      {"PREPARE", prepare_text(layer)},
      {"VARIANT", variant_text(layer, kernel)},
      {"LAUNCH_ATTRIBUTES", launch_attributes_text(nest, plan.programmatic)},
      {"BEFORE", before_text(layer, plan)},
      {"LAUNCH", launch_text(layer)},
      {"LEAST_LDB", least_leading_dimension(dense(nest), layer.sizes, "n")},
      {"LEAST_LDC", least_leading_dimension(output(nest), layer.sizes, "n")},
      {"N_COLUMNS", item_columns(nest) == 1 ? "static_cast<unsigned int>(n)"
                                            : fmt::format("static_cast<unsigned int>(n) * {}", item_columns(nest))},
      {"TOO_MANY_ITEMS", item_columns(nest) == 1 ? ""
                                                 : fmt::format(" || n > {}", std::numeric_limits<std::int32_t>::max() /
                                                                                 item_columns(nest))},
      {"OPERAND_REFUSALS", operand_refusals(nest, layer.sizes)}};
  holes.emplace("UNPACK", unpack_functions(layer, holes));
  return holes;
}

}  // namespace esc

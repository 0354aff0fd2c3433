// What an instruction means against what its text does: one kernel for each, interpreted as a nest and run on the emulated
// grid. What reads the packed matrix (quads, pairs, tasks, regions) is compared in whole kernels by the tests of families.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "generator/emit/print_kernel.h"
#include "generator/emit/text_template.h"
#include "generator/emulate/compile_program.h"
#include "generator/emulate/device.h"
#include "generator/ir/instruction.h"
#include "generator/ir/interpret.h"
#include "generator/ir/print.h"

namespace esc {
namespace {

constexpr std::int64_t lanes = 32;

Access at(const std::string& array, const std::vector<Affine>& places) {
  Access access{array, {}};
  for (const Affine& place : places) {
    access.subscripts.push_back({"", place});
  }
  return access;
}
Node define(const std::string& name, Expression value) {
  return Node{Statement{{}, Define{ScalarType::i32, name, std::move(value)}}};
}
Node store(const Access& target, const Expression& value, Guard guard = {}) {
  return Node{Statement{std::move(guard), Store{target, value}}};
}
Node declare(const std::string& array) { return Node{Declare{array}}; }
Node perform(const std::string& name, std::vector<Expression> arguments, std::vector<std::string> results = {}) {
  return Node{Statement{{}, Perform{name, std::move(arguments), std::move(results)}}};
}
Node unrolled(const std::string& iterator, const Affine& extent, Block body) {
  return Node{Loop{iterator, 0, extent, 1, Role::none, Mapping::unrolled, std::move(body)}};
}

/// A kernel of one warp around an instruction: each lane has row `lane` of B, `columns` wide, and of C.
struct Example {
  std::string name;
  std::int64_t columns = 16;
  bool vectors = false;
  std::vector<ArrayDeclaration> own;  ///< of a lane or of the warp
  Block body;
  std::vector<NamedConstant> constants = {{"vector_width", 4, ""}};
};

void PrintTo(const Example& example, std::ostream* stream) { *stream << example.name; }

const Affine lane = Affine::of("lane");
const Affine v = Affine::of("v");

ArrayDeclaration registers(const std::string& name, const Affine& extent, ScalarType type = ScalarType::f32,
                           const std::string& record = "") {
  return {name, {extent}, ArrayRole::registers, type, record};
}

/// sums[v] = B[lane][v]
Node load_sums(const Affine& count) { return unrolled("v", count, {store(at("sums", {v}), at("B", {lane, v}))}); }

/// Every second pair of lanes begins in another column, some behind the last one; two lanes share a row of C.
Example delivers(const std::string& instruction, bool vectors) {
  const std::int64_t columns = vectors ? 12 : 10;
  const Affine begin = Affine::of("begin");
  std::vector<Expression> arguments{at("C", {Affine::of("row"), begin}), at("sums", {0}), index("vector_width"),
                                    choose(less(begin, index("N")), index("N") - begin, 0)};
  if (instruction == "deliver") {
    arguments.emplace_back(index("several"));
  }
  // Lanes that store have a row to themselves.
  const bool shares = instruction != "store_columns";
  return {instruction + (vectors ? "_vectors" : ""),
          columns,
          vectors,
          {registers("sums", 4)},
          {declare("sums"), load_sums(4), define("several", shares ? less(lane, 16) : Expression(0)),
           define("row", choose(index("several"), quotient(lane, 2), lane)),
           define("begin", remainder(quotient(lane, 2), 4) * 4), perform(instruction, std::move(arguments))}};
}

Example loads_part(bool vectors) {
  const Affine j = Affine::of("j");
  return {vectors ? "clamp_columns_and_load_part_vectors" : "clamp_columns_and_load_part",
          vectors ? 16 : 14,
          vectors,
          {registers("columns", 4, ScalarType::u32), registers("part", 4, ScalarType::f32, "Part")},
          {define("j", remainder(lane, 5) * 4), declare("columns"), perform("clamp_columns", {at("columns", {}), j, index("N")}),
           declare("part"), perform("load_part", {at("part", {}), at("B", {lane}), at("columns", {})}),
           unrolled("v", 4, {store(at("C", {lane, j + v}), at("part", {v}), {less(j + v, index("N"))})})}};
}

Example passes_through_shared_memory(std::int64_t width) {
  const Affine mine = Affine::of("lane", width);
  const Affine next = Affine::of("next", width);
  const Affine other = Affine::of("other", width);
  return {fmt::format("store_load_and_add_vector_{}", width),
          16,
          true,
          {registers("sums", width), registers("total", width), {"shared_sums", {lanes * width}, ArrayRole::shared}},
          {declare("sums"), load_sums(width), perform("store_vector", {at("shared_sums", {mine}), at("sums", {0}), width}),
           Node{Barrier{Scope::block}}, define("next", remainder(lane + 1, lanes)),
           define("other", remainder(lane + 5, lanes)), declare("total"),
           perform("load_vector", {at("total", {0}), at("shared_sums", {next}), width}),
           perform("add_vector", {at("total", {0}), at("shared_sums", {other}), width}),
           unrolled("v", width, {store(at("C", {lane, v}), at("total", {v}))})}};
}

Example adds_groups(std::int64_t lane_sums, std::int64_t groups, std::int64_t group_lanes) {
  const std::int64_t kept = std::max<std::int64_t>(1, lane_sums / groups);
  const std::int64_t copies = std::max<std::int64_t>(1, groups / lane_sums);
  return {fmt::format("add_groups_{}_{}_{}", lane_sums, groups, group_lanes),
          16,
          false,
          {registers("sums", lane_sums)},
          {declare("sums"), load_sums(lane_sums), define("group", remainder(quotient(lane, group_lanes), groups)),
           perform("add_groups", {at("sums", {}), index("group")}, {"first_sum"}),
           unrolled("v", kept, {store(at("C", {lane, Affine::of("first_sum") + v}), at("sums", {v}))})},
          {{"lane_sums", lane_sums, ""},
           {"sharing_groups", groups, ""},
           {"group_lanes", group_lanes, ""},
           {"kept_sums", kept, ""},
           {"copies", copies, ""}}};
}

LoopNest nest_of(const Example& example) {
  LoopNest nest;
  nest.arrays = {{"B", {lanes, Affine::of("N")}, ArrayRole::dense}, {"C", {lanes, Affine::of("N")}, ArrayRole::output}};
  nest.arrays.insert(nest.arrays.end(), example.own.begin(), example.own.end());
  nest.constants = example.constants;
  nest.constants.push_back({"threads_per_block", lanes, ""});
  nest.vectors = true;
  const Node warp{Loop{"lane", 0, lanes, 1, Role::none, Mapping::lanes, example.body}};
  nest.body = {Node{Loop{"block", 0, 1, 1, Role::none, Mapping::grid, {warp}}}};
  return nest;
}

/// The texts of the instructions, the kernel and its launch as `run(b, c)`.
std::string text_of(const Example& example, const LoopNest& nest) {
  std::string text = "#include <cuda_runtime.h>\n";
  for (const NamedConstant& constant : nest.constants) {
    text += fmt::format("constexpr int {} = {};\n", constant.name, print(constant.value));
  }
  text += fmt::format("constexpr unsigned int tuned_columns = {};\n", example.columns);
  std::set<std::string_view> written;
  for (const std::string& name : performed_instructions(nest)) {
    for (const std::string_view part : instruction(name).texts) {
      if (written.insert(part).second) {
        text += part.find("@@") == part.npos ? std::string(part) : fill(part, {{"ELEMENT", "float"}});
      }
    }
  }
  const KernelText kernel = print_kernel(nest, "example", {});
  return text + kernel.functions + kernel.kernel +
         fmt::format("extern \"C\" int run(const float* b, float* c) {{\n"
                     "  cudaLaunchConfig_t launch = {{}};\n"
                     "  launch.gridDim = dim3(1);\n  launch.blockDim = dim3({0});\n  launch.dynamicSmemBytes = {0} * 16;\n"
                     "  return cudaLaunchKernelEx(&launch, example<true, {1}>, static_cast<const unsigned char*>(nullptr), b, "
                     "{2}LL, c, {2}LL, {2}u);\n}}\n",
                     lanes, example.vectors, example.columns);
}

class InstructionText : public testing::TestWithParam<Example> {};

TEST_P(InstructionText, DoesWhatTheInstructionMeans) {
  const Example& example = GetParam();
  const LoopNest nest = nest_of(example);
  const auto elements = static_cast<std::size_t>(lanes * example.columns);
  const std::string text = text_of(example, nest);
  const HostProgram program = compile_cuda(text, "example.cu");
  std::mt19937 random(1);
  std::uniform_int_distribution<int> value(-100, 100);
  for (int round = 0; round < 5; ++round) {
    Memory memory;
    memory.sizes = {{"N", example.columns}};
    Tensor b{{lanes, example.columns}, {}};
    std::generate_n(std::back_inserter(b.elements), elements, [&] { return value(random); });
    memory.arrays = {{"B", b}, {"C", {{lanes, example.columns}, std::vector<double>(elements)}}};
    const std::vector<double> expected = interpret(nest, memory).arrays.at("C").elements;

    EmulationOptions options;
    options.shuffle_seed = static_cast<std::uint64_t>(round);
    EmulatedDevice device(options);
    auto* const given = reinterpret_cast<float*>(device.allocate("B", elements * sizeof(float), BufferUse::input()).data());
    auto* const result = reinterpret_cast<float*>(device.allocate("C", elements * sizeof(float), BufferUse::update()).data());
    std::ranges::copy(b.elements, given);
    ASSERT_EQ(device.call<int(const float*, float*)>(program, "run", given, result), 0) << device.describe_faults() << text;
    EXPECT_TRUE(device.faults().empty()) << device.describe_faults() << text;
    EXPECT_EQ(std::vector<double>(result, result + elements), expected) << text;
    EXPECT_NE(expected, std::vector<double>(elements)) << "the example does nothing";
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, InstructionText,
    testing::Values(delivers("store_columns", false), delivers("store_columns", true), delivers("add_columns", false),
                    delivers("deliver", false), delivers("deliver", true), loads_part(false), loads_part(true),
                    passes_through_shared_memory(1), passes_through_shared_memory(2), passes_through_shared_memory(4),
                    adds_groups(1, 2, 16), adds_groups(4, 8, 4), adds_groups(8, 8, 4), adds_groups(16, 4, 8),
                    adds_groups(2, 32, 1), adds_groups(4, 2, 4)),
    [](const auto& example) { return example.param.name; });

}  // namespace
}  // namespace esc

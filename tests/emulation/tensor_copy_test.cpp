// SPDX-License-Identifier: Apache-2.0
// Tensor copies: where the elements of a box lie with each swizzle and at the edges of the matrix, which maps the
// driver refuses, and what of their use is a fault.

#include <fmt/format.h>

#include <cstring>

#include "generator/emulate/tensor_map.h"
#include "tests/emulation/async_fixture.h"

namespace esc::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct BoxCopy {
  int columns = 100;
  int rows = 40;
  int stride = 104;  ///< elements
  int box_columns = 64;
  int box_rows = 32;
  int swizzle = 3;
  int x = 0;
  int y = 0;
  std::string map = "const __grid_constant__ CUtensorMap map";
  std::string behind_encoding = "";
  std::string in_front = "";
  std::string target = "box";
  std::string expect = "arrive_expecting(&full, 2 * box_columns * box_rows);";
};

/// Copies a box to shared memory and its bytes, as they lie, to y.
std::string text_of(const BoxCopy& copy) {
  return with_async_instructions(fmt::format(R"(
constexpr int box_columns = {0}, box_rows = {1};
__global__ void fetch({2}, unsigned short* out, int x, int y) {{
  __shared__ alignas(1024) unsigned short box[box_columns * box_rows + 64];
  __shared__ Barrier full;
  if (threadIdx.x == 0) {{
    initialise(&full, 1);
    fence_initialisation();
    {3}
    {4}
    copy_box({5}, map, x, y, &full);
  }}
  __syncthreads();
  wait_for(&full, 0);
  for (int at = threadIdx.x; at < box_columns * box_rows; at += 32) out[at] = box[at];
}}
extern "C" int run(const unsigned short* in, unsigned short* out, int) {{
  void* entry = nullptr;
  cudaDriverEntryPointQueryResult found;
  if (cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &entry, 12000, cudaEnableDefault, &found) != cudaSuccess ||
      found != cudaDriverEntryPointSuccess) return -1;
  const PFN_cuTensorMapEncodeTiled_v12000 encode = (PFN_cuTensorMapEncodeTiled_v12000)entry;
  CUtensorMap map;
  const cuuint64_t sizes[2] = {{{6}, {7}}};
  const cuuint64_t strides[1] = {{2 * {8}}};
  const cuuint32_t box[2] = {{box_columns, box_rows}};
  const cuuint32_t steps[2] = {{1, 1}};
  const CUresult result = encode(&map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, (void*)in, sizes, strides, box, steps,
      CU_TENSOR_MAP_INTERLEAVE_NONE, (CUtensorMapSwizzle){9}, CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result != CUDA_SUCCESS) return 1000 + (int)result;
  {12}
  return launch(fetch, 1, 32, 0, map, out, {10}, {11});
}}
)",
                                             copy.box_columns, copy.box_rows, copy.map, copy.in_front, copy.expect,
                                             copy.target, copy.columns, copy.rows, copy.stride, copy.swizzle, copy.x,
                                             copy.y, copy.behind_encoding));
}

struct Copied {
  std::optional<int> status;
  std::vector<std::uint16_t> box;
  std::vector<EmulationFault> faults;
};

Copied run(const BoxCopy& copy, int elements_missing = 0) {
  const HostProgram program = compile(text_of(copy));
  EmulatedDevice device;
  const std::size_t elements =
      static_cast<std::size_t>((copy.rows - 1) * copy.stride + copy.columns - elements_missing);
  auto* in = reinterpret_cast<std::uint16_t*>(device.allocate("in", 2 * elements, BufferUse::input()).data());
  for (std::size_t at = 0; at < elements; ++at) {
    in[at] = static_cast<std::uint16_t>(at + 1);
  }
  const auto size = static_cast<std::size_t>(copy.box_columns * copy.box_rows);
  auto* out = reinterpret_cast<std::uint16_t*>(device.allocate("out", 2 * size, BufferUse::output()).data());
  Copied copied;
  copied.status = device.call<int(const std::uint16_t*, std::uint16_t*, int)>(program, "run", in, out, 0);
  copied.box.assign(out, out + size);
  copied.faults = device.faults();
  return copied;
}

/// What PTX says of an address in a box: bits 4 to 6 are changed by bits 7 to 9, so many of them as the swizzle has.
std::size_t swizzled(std::size_t byte, int swizzle) {
  const std::size_t bits = swizzle == 0 ? 0 : swizzle == 1 ? 1 : swizzle == 2 ? 3 : 7;
  return byte ^ ((byte / 128 & bits) * 16);
}

void expect_box(const BoxCopy& copy) {
  const Copied copied = run(copy);
  ASSERT_EQ(copied.status, 0);
  ASSERT_THAT(messages_of(copied.faults), IsEmpty());
  for (int row = 0; row < copy.box_rows; ++row) {
    for (int column = 0; column < copy.box_columns; ++column) {
      const std::int64_t x = std::int64_t{copy.x} + column;
      const std::int64_t y = std::int64_t{copy.y} + row;
      const bool inside = x >= 0 && y >= 0 && x < copy.columns && y < copy.rows;
      const auto expected = static_cast<std::uint16_t>(inside ? y * copy.stride + x + 1 : 0);
      const std::size_t byte = 2 * static_cast<std::size_t>(row * copy.box_columns + column);
      ASSERT_EQ(copied.box[swizzled(byte, copy.swizzle) / 2], expected) << "row " << row << ", column " << column;
    }
  }
}

TEST(TensorCopy, PutsABoxWhereTheSwizzleSays) {
  for (int swizzle = 0; swizzle <= 3; ++swizzle) {
    const int columns = swizzle == 0 ? 64 : 8 << swizzle;
    SCOPED_TRACE(fmt::format("swizzle {}", swizzle));
    expect_box({.box_columns = columns, .swizzle = swizzle});
    expect_box({.rows = 300, .box_columns = columns, .box_rows = 256, .swizzle = swizzle, .x = 8, .y = 11});
  }
}

TEST(TensorCopy, ElementsOutsideOfTheMatrixAreZero) {
  for (const int swizzle : {0, 3}) {
    for (const auto& [x, y] : std::vector<std::pair<int, int>>{{64, 0},
                                                               {0, 30},
                                                               {64, 30},
                                                               {-8, 0},
                                                               {0, -7},
                                                               {-56, -31},
                                                               {96, 39},
                                                               {104, 0},
                                                               {0, 40},
                                                               {-64, 0},
                                                               {2147483640, 0},
                                                               {0, -2147483647}}) {
      SCOPED_TRACE(fmt::format("swizzle {}, box at ({}, {})", swizzle, x, y));
      expect_box({.swizzle = swizzle, .x = x, .y = y});
    }
  }
}

TEST(TensorCopy, MapsThatTheDriverRefuses) {
  EXPECT_EQ(run({.stride = 100}).status, 1001) << "200 bytes are no multiple of 16";
  EXPECT_EQ(run({.box_columns = 60}).status, 1001) << "nor are 120";
  EXPECT_EQ(run({.box_columns = 72}).status, 1001) << "more than the swizzle's span";
  EXPECT_EQ(run({.box_columns = 40, .swizzle = 2}).status, 1001);
  EXPECT_EQ(run({.box_columns = 24, .swizzle = 1}).status, 1001);
  EXPECT_EQ(run({.box_rows = 257}).status, 1001);
  const TensorMap map{0x1000, 100, 40, 208, 64, 32, Swizzle::of_128_bytes};
  EXPECT_TRUE(encode_tensor_map(map));
  for (const auto change : std::vector<void (*)(TensorMap&)>{
           [](TensorMap& m) { m.base = 0x1008; }, [](TensorMap& m) { m.base = 0; }, [](TensorMap& m) { m.columns = 0; },
           [](TensorMap& m) { m.rows = (std::uint64_t{1} << 32) + 1; },
           [](TensorMap& m) { m.stride = std::uint64_t{1} << 40; }, [](TensorMap& m) { m.box_rows = 0; },
           [](TensorMap& m) { m.box_columns = 0; }}) {
    TensorMap other = map;
    change(other);
    EXPECT_FALSE(encode_tensor_map(other));
  }
}

TEST(TensorCopy, DriverFunctionsThatAreNotThere) {
  const HostProgram program = compile(with_async_instructions(R"(
extern "C" int query(int version, int with_result) {
  void* entry = &entry;
  cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSuccess;
  const cudaError_t error = cudaGetDriverEntryPointByVersion(version < 0 ? "cuTensorMapReplace" : "cuTensorMapEncodeTiled",
      &entry, version < 0 ? 12000 : version, cudaEnableDefault, with_result ? &found : nullptr);
  return 100 * (int)error + 10 * (int)found + (entry != nullptr);
}
)"));
  EmulatedDevice device;
  const auto query = [&](int version, int with_result) {
    return device.call<int(int, int)>(program, "query", version, with_result);
  };
  EXPECT_EQ(query(12000, 1), 1);
  EXPECT_EQ(query(13000, 0), 1);
  EXPECT_EQ(query(11000, 1), 20);
  EXPECT_EQ(query(-1, 1), 10);
  EXPECT_EQ(query(-1, 0), 50000);
  EXPECT_THAT(messages_of(device.faults()), IsEmpty());
}

void expect_copy_fault(const BoxCopy& copy, FaultKind kind, const std::string& words, int elements_missing = 0) {
  const Copied copied = run(copy, elements_missing);
  ASSERT_FALSE(copied.faults.empty()) << words;
  EXPECT_EQ(copied.faults.front().kind, kind) << copied.faults.front().message;
  EXPECT_THAT(copied.faults.front().message, HasSubstr(words));
}

TEST(TensorCopyFaults, Maps) {
  expect_copy_fault({.map = "const CUtensorMap map"}, FaultKind::bad_operand,
                    "with a map that is no const __grid_constant__ parameter");
  expect_copy_fault(
      {.map = "const __grid_constant__ CUtensorMap parameter", .in_front = "const CUtensorMap map = parameter;"},
      FaultKind::bad_operand, "with a map that is no const __grid_constant__ parameter");
  expect_copy_fault({.behind_encoding = "map.opaque[3] = 7;"}, FaultKind::bad_operand,
                    "with a map that cuTensorMapEncodeTiled has not made");
}

TEST(TensorCopyFaults, Places) {
  expect_copy_fault({.box_rows = 8, .target = "box + 64"}, FaultKind::misaligned, "is not a multiple of 1024");
  expect_copy_fault({.box_columns = 8, .box_rows = 8, .swizzle = 0, .target = "box + 32"}, FaultKind::misaligned,
                    "is not a multiple of 128");
  expect_copy_fault({.box_rows = 16, .target = "box + 1024"}, FaultKind::out_of_bounds, "write of 2048 bytes");
  expect_copy_fault({.x = 40, .y = 10}, FaultKind::out_of_bounds, "past the end of buffer 'in'", 1);
  expect_copy_fault({.expect = "arrive_expecting(&full, 64);"}, FaultKind::bad_barrier,
                    "copies bring 4096 bytes to the phase");
}

TEST(TensorCopyFaults, ColumnsThatAreNoMultipleOf16Bytes) {
  expect_copy_fault({.x = 4}, FaultKind::misaligned, "from column 4, which is no multiple of 8 elements");
  expect_copy_fault({.x = -7}, FaultKind::misaligned, "from column -7, which is no multiple");
  expect_copy_fault({.x = 100}, FaultKind::misaligned, "from column 100");
}

TEST(TensorCopyFaults, RowsShorterThanTheSwizzle) {
  expect_copy_fault({.box_columns = 8, .swizzle = 1}, FaultKind::limit, "shorter than its swizzle's span");
  expect_copy_fault({.box_columns = 24, .swizzle = 2}, FaultKind::limit, "shorter than its swizzle's span");
  expect_copy_fault({.box_columns = 56}, FaultKind::limit, "shorter than its swizzle's span");
}

TEST(TensorCopyFaults, BytesOutsideOfTheMatrixCount) {
  expect_copy_fault({.x = 64, .expect = "arrive_expecting(&full, 2 * 36 * box_rows);"}, FaultKind::bad_barrier,
                    "whose arrivals together expect 2304");
}

}  // namespace
}  // namespace esc::testing

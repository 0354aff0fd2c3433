// SPDX-License-Identifier: Apache-2.0
// Inline PTX on the emulated grid: what the known instructions compute, what of their use is a fault, and which texts
// are refused.

#include "generator/emulate/inline_ptx.h"

#include <cstring>
#include <fstream>
#include <sstream>

#include "generator/support/error.h"
#include "tests/emulation/emulation_fixture.h"
#include "tests/support/matrix_instruction_cases.h"
#include "tests/support/refusals.h"

namespace esc::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

// What the instructions compute.

std::string text_of_all_instructions() {
  std::ifstream file(ESC_SOURCE_DIR "/tests/device/matrix_instructions.cuh");
  std::ostringstream text;
  text << file.rdbuf();
  return text.str() + R"(
extern "C" cudaError_t run(const float* x, float* y, int n) {
  return launch(play, 1, 32, 0, n, (const unsigned*)x, (unsigned*)y);
}
)";
}

TEST(InlinePtx, InstructionsComputeWhatPtxSays) {
  const MatrixInstructionCase sizes;
  Emulation emulation(text_of_all_instructions(), sizes.operands.size(), sizes.results.size());
  for (int instruction = 0; instruction < kMatrixInstructions; ++instruction) {
    for (const MatrixValues values : {MatrixValues::integers, MatrixValues::fractions, MatrixValues::specials}) {
      for (std::uint32_t seed = 0; seed < 10; ++seed) {
        const MatrixInstructionCase drawn = draw_matrix_case(instruction, values, seed);
        std::memcpy(emulation.x, drawn.operands.data(), drawn.operands.size() * sizeof(float));
        ASSERT_EQ(emulation.run(instruction), 0);
        ASSERT_THAT(emulation.device.faults(), IsEmpty()) << emulation.device.describe_faults();
        std::vector<std::uint32_t> found(drawn.results.size());
        std::memcpy(found.data(), emulation.y, found.size() * sizeof(float));
        ASSERT_EQ(found, drawn.results) << describe_matrix_instruction(instruction) << ", seed " << seed;
      }
    }
  }
}

TEST(InlinePtx, InstructionsGiveTheSameInAnyOrderOfThreads) {
  const MatrixInstructionCase sizes;
  EmulationOptions options;
  options.shuffle_seed = 5;
  Emulation emulation(text_of_all_instructions(), sizes.operands.size(), sizes.results.size(), options);
  for (const int instruction : {5, 9, kTransposition}) {
    const MatrixInstructionCase drawn = draw_matrix_case(instruction, MatrixValues::fractions, 3);
    std::memcpy(emulation.x, drawn.operands.data(), drawn.operands.size() * sizeof(float));
    ASSERT_EQ(emulation.run(instruction), 0);
    EXPECT_EQ(std::memcmp(emulation.y, drawn.results.data(), drawn.results.size() * sizeof(float)), 0) << instruction;
  }
}

TEST(InlinePtx, LowerBitsOfTf32DoNotCount) {
  const MatrixInstructionCase sizes;
  Emulation emulation(text_of_all_instructions(), sizes.operands.size(), sizes.results.size());
  constexpr int kFirstOfTf32 = kLoadInstructions + 10;
  for (int instruction = kFirstOfTf32; instruction < kTransposition; ++instruction) {
    MatrixInstructionCase drawn = draw_matrix_case(instruction, MatrixValues::fractions, 1);
    for (std::size_t word = 0; word < drawn.operands.size(); ++word) {
      drawn.operands[word] |= word % kMatrixOperandWords < 8 ? 0x1fffu : 0;
    }
    std::memcpy(emulation.x, drawn.operands.data(), drawn.operands.size() * sizeof(float));
    ASSERT_EQ(emulation.run(instruction), 0);
    EXPECT_EQ(std::memcmp(emulation.y, drawn.results.data(), drawn.results.size() * sizeof(float)), 0)
        << describe_matrix_instruction(instruction);
  }
}

// Faults in their use.

/// A kernel that puts 32 rows of 16 bytes into `tile`, then does `statement` with `address` of this lane's row.
std::string loading(const std::string& statement,
                    const std::string& shared = "__shared__ alignas(16) float tile[128];") {
  return R"(
__device__ void load(unsigned* b, unsigned address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(b[0]), "=r"(b[1]), "=r"(b[2]), "=r"(b[3]) : "r"(address));
}
__global__ void rows(const float* x, float* y, int n) {
  )" + shared +
         R"(
  const int lane = threadIdx.x % 32;
  unsigned b[4] = {};
  const unsigned address = static_cast<unsigned int>(__cvta_generic_to_shared(tile)) + 16 * lane;
)" + statement +
         R"(
  y[threadIdx.x] = (float)(b[0] ^ b[1] ^ b[2] ^ b[3]);
}
extern "C" cudaError_t run(const float* x, float* y, int n) { return launch(rows, 1, n, 0, x, y, n); }
)";
}

const std::string fill = "for (int i = 0; i < 4; ++i) tile[4 * lane + i] = x[lane];\n";

TEST(InlinePtxFaults, NoneWhereAllIsRight) {
  Emulation emulation(loading(fill + "__syncwarp();\nload(b, address);"));
  EXPECT_EQ(emulation.run(32), 0);
  EXPECT_THAT(emulation.device.faults(), IsEmpty()) << emulation.device.describe_faults();
}

TEST(InlinePtxFaults, RowBehindTheBuffer) {
  const EmulationFault fault = Emulation(loading(fill + "__syncwarp();\nload(b, address + 16);")).only_fault(32);
  EXPECT_EQ(fault.kind, FaultKind::out_of_bounds);
  EXPECT_EQ(fault.place, "kernel.cu:3:3");
  EXPECT_THAT(fault.message, AllOf(HasSubstr("thread (31,0,0): read of 16 bytes"), HasSubstr("shared memory 'tile'")));
}

TEST(InlinePtxFaults, AddressOutsideOfSharedMemory) {
  const EmulationFault fault = Emulation(loading(fill + "__syncwarp();\nload(b, 16 * lane);")).only_fault(32);
  EXPECT_EQ(fault.kind, FaultKind::out_of_bounds);
  EXPECT_THAT(fault.message, HasSubstr(", which is not in shared memory"));
}

TEST(InlinePtxFaults, MisalignedRow) {
  const EmulationFault fault =
      Emulation(loading(fill + "__syncwarp();\nload(b, lane == 3 ? address + 8 : address);")).only_fault(32);
  EXPECT_EQ(fault.kind, FaultKind::misaligned);
  EXPECT_THAT(fault.message, AllOf(HasSubstr("thread (3,0,0)"), HasSubstr("offset 56 of shared memory 'tile'"),
                                   HasSubstr("is not a multiple of 16")));
}

TEST(InlinePtxFaults, UninitialisedRow) {
  const EmulationFault fault =
      Emulation(loading("if (lane != 9) {\n" + fill + "}\n__syncwarp();\nload(b, address);")).only_fault(32);
  EXPECT_EQ(fault.kind, FaultKind::uninitialised);
  EXPECT_THAT(fault.message, HasSubstr("thread (9,0,0): read of 16 bytes at offset 144 of shared memory 'tile'"));
}

TEST(InlinePtxFaults, RowsOfOtherLanesWithoutABarrier) {
  // Each lane names the row that it wrote itself; but what it gets was written by others.
  Emulation emulation(loading(fill + "load(b, address);"));
  emulation.run(32);
  ASSERT_FALSE(emulation.device.faults().empty());
  EXPECT_EQ(emulation.device.faults().front().kind, FaultKind::race);
  EXPECT_THAT(emulation.device.faults().front().message, HasSubstr("shared memory 'tile'"));
}

TEST(InlinePtxFaults, RowsThatAreOverwrittenWithoutABarrier) {
  Emulation wrong(loading(fill + "__syncwarp();\nload(b, address);\ntile[4 * lane] = 1;"));
  wrong.run(32);
  ASSERT_FALSE(wrong.device.faults().empty());
  EXPECT_EQ(wrong.device.faults().front().kind, FaultKind::race);
  Emulation right(loading(fill + "__syncwarp();\nload(b, address);\n__syncwarp();\ntile[4 * lane] = 1;"));
  right.run(32);
  EXPECT_THAT(right.device.faults(), IsEmpty()) << right.device.describe_faults();
}

TEST(InlinePtxFaults, RowsOfAnAsynchronousCopy) {
  const std::string copy = "__pipeline_memcpy_async(tile + 4 * lane, x + 4 * (lane % 16), 16);\n__pipeline_commit();\n";
  const auto text = [&](const std::string& wait) {
    return "#include <cuda_pipeline_primitives.h>\n" + loading(copy + wait + "load(b, address);");
  };
  Emulation right(text("__pipeline_wait_prior(0);\n__syncwarp();\n"));
  right.run(32);
  EXPECT_THAT(right.device.faults(), IsEmpty()) << right.device.describe_faults();

  Emulation not_waited(text("__syncwarp();\n"));
  not_waited.run(32);
  ASSERT_FALSE(not_waited.device.faults().empty());
  EXPECT_EQ(not_waited.device.faults().front().kind, FaultKind::uninitialised);
  EXPECT_THAT(not_waited.device.faults().front().message, HasSubstr("whose asynchronous copy has not been waited for"));

  Emulation not_met(text("__pipeline_wait_prior(0);\n"));
  not_met.run(32);
  ASSERT_FALSE(not_met.device.faults().empty());
}

TEST(InlinePtxFaults, MissingLane) {
  const EmulationFault branch =
      Emulation(loading(fill + "__syncwarp();\nif (lane != 7) load(b, address);\n")).only_fault(32);
  EXPECT_EQ(branch.kind, FaultKind::missing_lanes);
  EXPECT_THAT(branch.message, HasSubstr("ldmatrix with mask 0xffffffff names lanes 0x00000080, which have returned"));

  const EmulationFault barrier =
      Emulation(loading(fill + "__syncwarp();\nif (lane != 7) load(b, address);\n__syncthreads();")).only_fault(32);
  EXPECT_EQ(barrier.kind, FaultKind::missing_lanes);
  EXPECT_THAT(barrier.message, HasSubstr("for lanes 0x00000080 that do not come"));

  const EmulationFault end =
      Emulation(loading("if (threadIdx.x < 32)\n" + fill + "__syncthreads();\nload(b, address);")).only_fault(40);
  EXPECT_EQ(end.kind, FaultKind::missing_lanes);
  EXPECT_THAT(end.message, HasSubstr("names lanes 0xffffff00, which have returned"));
}

TEST(InlinePtxFaults, MissingLaneOfATransposition) {
  const std::string statement =
      "asm volatile(\"movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;\" : \"=r\"(b[0]) : \"r\"(address));\n";
  const EmulationFault branch = Emulation(loading("if (lane != 7) {\n" + statement + "}")).only_fault(32);
  EXPECT_EQ(branch.kind, FaultKind::missing_lanes);
  EXPECT_THAT(branch.message, HasSubstr("movmatrix with mask 0xffffffff names lanes 0x00000080, which have returned"));
}

TEST(InlinePtxFaults, LanesAtDifferentStatements) {
  const std::string statement =
      "asm volatile(\"ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];\" : \"=r\"(b[0]) : \"r\"(address));\n";
  const EmulationFault fault =
      Emulation(loading(fill + "__syncwarp();\nif (lane < 8) {\n" + statement + "} else {\n" + statement + "}"))
          .only_fault(32);
  EXPECT_EQ(fault.kind, FaultKind::missing_lanes);
  EXPECT_THAT(fault.message, AllOf(HasSubstr("is in ldmatrix with mask 0xffffffff, but lanes"),
                                   HasSubstr("of the mask wait in ldmatrix at kernel.cu:")));
}

TEST(InlinePtxFaults, PointerThatIsNotToSharedMemory) {
  const EmulationFault global = Emulation(loading("b[0] = (unsigned)__cvta_generic_to_shared(x);")).only_fault(32);
  EXPECT_EQ(global.kind, FaultKind::forbidden_space);
  EXPECT_THAT(global.message,
              HasSubstr("__cvta_generic_to_shared of a pointer to buffer 'x', which is not shared memory"));
  EXPECT_EQ(Emulation(loading("b[0] = (unsigned)__cvta_generic_to_shared(b);")).only_fault(32).kind,
            FaultKind::forbidden_space);
  const std::string on_the_host =
      "extern \"C\" int run(const float* x, float* y, int n) { return (int)__cvta_generic_to_shared(x); }";
  EXPECT_EQ(Emulation(on_the_host).only_fault().kind, FaultKind::forbidden_space);
}

TEST(InlinePtxFaults, AddressesOfDynamicSharedMemory) {
  const std::string text = R"(
extern __shared__ float4 rows[];
__global__ void k(const float* x, float* y, int n) {
  rows[threadIdx.x] = make_float4(x[0], x[1], x[2], x[3]);
  __syncwarp();
  unsigned b = 0;
  const unsigned address = static_cast<unsigned int>(__cvta_generic_to_shared(&rows[threadIdx.x + n]));
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(b) : "r"(address));
  y[threadIdx.x] = __uint_as_float(b);
}
extern "C" cudaError_t run(const float* x, float* y, int n) { return launch(k, 1, 32, 32 * 16, x, y, n); }
)";
  Emulation right(text);
  EXPECT_EQ(right.run(0), 0);
  EXPECT_THAT(right.device.faults(), IsEmpty()) << right.device.describe_faults();
  EXPECT_EQ(right.y[2], 2.f);
  // Lanes 0 to 7 name the rows; of these the last is the first after the memory.
  const EmulationFault fault = Emulation(text).only_fault(25);
  EXPECT_EQ(fault.kind, FaultKind::out_of_bounds);
  EXPECT_EQ(fault.thread.x, 7u);
}

/// A kernel of one warp whose lanes copy 16 bytes to a row each, of which so many are there, and load a word of it.
std::string copying(const std::string& target, const std::string& source, const std::string& bytes,
                    const std::string& wait, const std::string& word) {
  return R"(
#include <cuda_pipeline_primitives.h>
__global__ void pieces(const float* x, float* y, int n) {
  __shared__ alignas(16) float tile[128];
  const int lane = threadIdx.x;
  const unsigned address = static_cast<unsigned int>(__cvta_generic_to_shared(tile)) + 16 * lane;
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" : : "r"()" +
         target + R"(), "l"()" + source + R"(), "r"()" + bytes + R"() : "memory");
  __pipeline_commit();
  )" + wait +
         R"(
  unsigned word = 0;
  asm volatile("ld.shared.b32 %0, [%1];" : "=r"(word) : "r"()" +
         word + R"());
  y[lane] = __uint_as_float(word);
}
extern "C" cudaError_t run(const float* x, float* y, int n) { return launch(pieces, 1, n, 0, x, y, n); }
)";
}

const std::string wait_for_all = "__pipeline_wait_prior(0);";

EmulationFault fault_of_a_copy(const std::string& target, const std::string& source, const std::string& bytes,
                               const std::string& wait, const std::string& word) {
  Emulation emulation(copying(target, source, bytes, wait, word));
  emulation.run(16);
  EXPECT_FALSE(emulation.device.faults().empty());
  return emulation.device.faults().empty() ? EmulationFault{} : emulation.device.faults().front();
}

/// Loads with a cache policy: `address` of lane `lane`, `policy` made as the text says.
std::string hinted(const std::string& policy, const std::string& address) {
  return R"(
__global__ void loads(const float* x, float* y, int n) {
  __shared__ float tile[1];
  const int lane = threadIdx.x;
  if (lane == 0) tile[0] = 1;
  unsigned long long policy = 7;
  )" + policy +
         R"(
  unsigned word = 0;
  asm volatile("ld.global.nc.L2::cache_hint.b32 %0, [%1], %2;" : "=r"(word) : "l"()" +
         address + R"(), "l"(policy));
  y[lane] = __uint_as_float(word);
}
extern "C" cudaError_t run(const float* x, float* y, int n) { return launch(loads, 1, n, 0, x, y, n); }
)";
}

const std::string evict_last = "asm(\"createpolicy.fractional.L2::evict_last.b64 %0, 1.0;\" : \"=l\"(policy) :);";

TEST(InlinePtx, LoadsWithACachePolicyReadWhatIsThere) {
  const std::string evict_first = "asm(\"createpolicy.fractional.L2::evict_first.b64 %0, 1.0;\" : \"=l\"(policy) :);";
  for (const std::string& policy : {evict_first, evict_last}) {
    Emulation emulation(hinted(policy, "x + 4 * lane"));
    emulation.run(3);
    EXPECT_THAT(emulation.device.faults(), IsEmpty()) << emulation.device.describe_faults();
    EXPECT_EQ(emulation.result(3), (std::vector<float>{emulation.x[0], emulation.x[4], emulation.x[8]}));
  }
}

TEST(InlinePtxFaults, LoadsWithACachePolicy) {
  const auto fault = [](const std::string& policy, const std::string& address) {
    Emulation emulation(hinted(policy, address));
    emulation.run(1);
    EXPECT_FALSE(emulation.device.faults().empty());
    return emulation.device.faults().empty() ? EmulationFault{} : emulation.device.faults().front();
  };
  const EmulationFault unmade = fault("", "x");
  EXPECT_EQ(unmade.kind, FaultKind::bad_operand);
  EXPECT_THAT(unmade.message, HasSubstr("cache hint 0x7, which createpolicy has not made"));
  EXPECT_EQ(fault(evict_last, "tile").kind, FaultKind::forbidden_space);
  EXPECT_EQ(fault(evict_last, "x + 100000").kind, FaultKind::out_of_bounds);
}

TEST(InlinePtxFaults, NoneOfCopiedPieces) {
  // Where nothing is there, nothing is read: the source may be anywhere.
  Emulation emulation(copying("address", "lane == 0 ? x + 1000 : x + 4 * lane", "lane < 2 ? 4 * lane : 16",
                              wait_for_all, "address + 4 * (lane % 2)"));
  emulation.run(16);
  EXPECT_THAT(emulation.device.faults(), IsEmpty()) << emulation.device.describe_faults();
  EXPECT_EQ(emulation.result(4), (std::vector<float>{0, 0, 8, 13}));
}

TEST(InlinePtxFaults, WordsThatWereNotWritten) {
  const EmulationFault early = fault_of_a_copy("address", "x + 4 * lane", "16", "", "address");
  EXPECT_EQ(early.kind, FaultKind::uninitialised);
  EXPECT_THAT(early.message, HasSubstr("whose asynchronous copy has not been waited for"));
  const EmulationFault never = fault_of_a_copy("address", "x + 4 * lane", "16", wait_for_all, "address + 16 * 16");
  EXPECT_EQ(never.kind, FaultKind::uninitialised);
  EXPECT_THAT(never.message, HasSubstr("thread (0,0,0): read of 4 bytes at offset 256 of shared memory 'tile'"));
}

TEST(InlinePtxFaults, WordsElsewhere) {
  EXPECT_EQ(fault_of_a_copy("address", "x + 4 * lane", "16", wait_for_all, "address + 2").kind, FaultKind::misaligned);
  const EmulationFault behind = fault_of_a_copy("address", "x + 4 * lane", "16", wait_for_all, "address + 4 * 128");
  EXPECT_EQ(behind.kind, FaultKind::out_of_bounds);
  const EmulationFault outside = fault_of_a_copy("address", "x + 4 * lane", "16", wait_for_all, "4 * lane");
  EXPECT_EQ(outside.kind, FaultKind::out_of_bounds);
  EXPECT_THAT(outside.message, HasSubstr(", which is not in shared memory"));
}

TEST(InlinePtxFaults, WordsOfOtherLanesWithoutABarrier) {
  const EmulationFault fault =
      fault_of_a_copy("address", "x + 4 * lane", "16", wait_for_all, "lane % 2 == 0 ? address + 16 : address - 16");
  EXPECT_THAT(fault.message, HasSubstr("shared memory 'tile'"));
  Emulation right(copying("address", "x + 4 * lane", "16", wait_for_all + " __syncwarp();",
                          "lane % 2 == 0 ? address + 16 : address - 16"));
  right.run(32 / 2);
  EXPECT_THAT(right.device.faults(), IsEmpty()) << right.device.describe_faults();
}

TEST(InlinePtxFaults, PiecesThatAreNone) {
  const EmulationFault longer = fault_of_a_copy("address", "x + 4 * lane", "17", wait_for_all, "address");
  EXPECT_EQ(longer.kind, FaultKind::bad_operand);
  EXPECT_THAT(longer.message, HasSubstr("cp.async of 17 of 16 bytes: PTX does not promise what happens"));
  const EmulationFault target = fault_of_a_copy("address + 4", "x + 4 * lane", "16", wait_for_all, "address + 4");
  EXPECT_EQ(target.kind, FaultKind::misaligned);
  EXPECT_THAT(target.message, HasSubstr("shared memory 'tile'"));
  const EmulationFault source = fault_of_a_copy("address", "x + 4 * lane + 1", "16", wait_for_all, "address");
  EXPECT_EQ(source.kind, FaultKind::misaligned);
  EXPECT_THAT(source.message, HasSubstr("buffer 'x'"));
  EXPECT_EQ(fault_of_a_copy("address + 16 * 112", "x + 4 * lane", "16", wait_for_all, "address").kind,
            FaultKind::out_of_bounds);
  EXPECT_EQ(fault_of_a_copy("address", "x + 4 * (lane + 1)", "16", wait_for_all, "address").kind,
            FaultKind::out_of_bounds);
}

/// A sparse product of zeros with metadata.
std::string multiplying(const std::string& instruction, const std::string& metadata) {
  return R"(
__global__ void k(const float* x, float* y, int n) {
  float c[4] = {};
  const unsigned metadata = )" +
         metadata + R"(;
  asm volatile(")" +
         instruction + R"( {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9, %10, %11}, {%0, %1, %2, %3}, %12, 0x0;"
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
               : "r"(0), "r"(0), "r"(0), "r"(0), "r"(0), "r"(0), "r"(0), "r"(0), "r"(metadata));
  y[threadIdx.x] = c[0];
}
extern "C" cudaError_t run(const float* x, float* y, int n) { return launch(k, 1, 32, 0, x, y, n); }
)";
}

TEST(InlinePtxFaults, MetadataWithoutAMeaning) {
  const std::string ordered = "mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32";
  const std::string any_order = "mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32";
  const std::string tf32 = "mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f32.tf32.tf32.f32";
  const auto verdict = [](const std::string& instruction, const std::string& metadata) {
    Emulation emulation(multiplying(instruction, metadata));
    emulation.run();
    return emulation.device.describe_faults();
  };
  EXPECT_EQ(verdict(ordered, "threadIdx.x % 4 < 2 ? 0x44e9c8d4u : 0u"), "") << "indices in order, junk elsewhere";
  for (const char* nibble : {"0", "5", "a", "f", "1", "2", "6", "3", "7", "b"}) {
    EXPECT_THAT(
        verdict(ordered, std::string("threadIdx.x == 13 ? 0x444") + nibble + "4444u : 0x44444444u"),
        AllOf(HasSubstr("bad operand: kernel 'k' at kernel.cu:5:3"), HasSubstr("PTX does not promise what happens"),
              HasSubstr("for row 11, group 4 of A, in lane 13")))
        << nibble;
  }
  EXPECT_EQ(verdict(any_order, "0x12344444u"), "");
  EXPECT_THAT(verdict(any_order, "0x44444454u"), HasSubstr("the metadata 0b0101 for row 0, group 1 of A, in lane 0"));
  EXPECT_EQ(verdict(tf32, "0x4e4e44eeu"), "");
  EXPECT_THAT(verdict(tf32, "0x4e4e84eeu"), HasSubstr("the metadata 0b1000 for row 0, group 3 of A, in lane 0"));
}

// Which texts are refused.

std::string refusal_with(const std::string& statement) {
  return test::refusal_of([&] {
    compile("__global__ void k(unsigned* p, float* q, unsigned long long wide) {\n  unsigned d = 0;\n" + statement +
            "\n  p[0] = d;\n}\n");
  });
}

constexpr const char* load_x1 = "\"ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];\"";

TEST(InlinePtxText, KnownInstructionsMayBeWrittenInSeveralWays) {
  const std::string known = load_x1;
  for (const std::string& statement :
       std::vector<std::string>{"asm volatile(" + known + " : \"=r\"(d) : \"r\"(p[1]));",
                                "asm volatile ( " + known + ":\"=r\"(d):\"r\"(p[1]) : \"memory\" ) ;",
                                "asm volatile(\n  \"ldmatrix.sync.aligned.m8n8.x1.shared.b16 \"\n  \"{%0},  "
                                "[%1];\\n\\t\"\n  : \"=r\"(d)  // to\n  : \"r\"((d, p[1])));",
                                "asm volatile(\"ldmatrix.sync.aligned.m8n8.x1.shared.b16\\t{%0}, [%1];\" : "
                                "\"=r\"(p[2]) : \"r\"((int)d));"}) {
    EXPECT_EQ(refusal_with(statement), "accepted") << statement;
  }
}

TEST(InlinePtxText, InstructionsWithoutResultsMayBeWrittenInSeveralWays) {
  for (const char* statement :
       {"asm volatile(\"mbarrier.init.shared::cta.b64 [%0], %1;\" :: \"r\"(d), \"r\"(1) : \"memory\");",
        "asm volatile(\"mbarrier.init.shared::cta.b64 [%0], %1;\" : : \"r\"(d), \"r\"(1) : \"memory\");",
        "asm volatile(\"fence.proxy.async.shared::cta;\" ::: \"memory\");",
        "asm volatile(\"fence.mbarrier_init.release.cluster;\" : : : \"memory\");",
        "asm volatile(\"bar.sync %0, %1;\" : : \"r\"(d + 1), \"r\"(64) : \"memory\");",
        "asm volatile(\"bar.arrive %0, %1;\" : : \"r\"(d + 1), \"r\"(64) : \"memory\");",
        "asm volatile(\"wgmma.fence.sync.aligned;\" ::: \"memory\");",
        "asm volatile(\"wgmma.wait_group.sync.aligned 0;\\n\" : : : \"memory\");",
        "asm volatile(\"wgmma.wait_group.sync.aligned %0;\" : : \"n\"(1) : \"memory\");",
        "asm volatile(\"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];\"\n"
        "  :: \"r\"(d), \"l\"(p), \"r\"(16), \"r\"(d) : \"memory\");",
        "asm volatile(\"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];\"\n"
        "  :: \"r\"(d), \"l\"(wide), \"r\"(16), \"r\"(d) : \"memory\");"}) {
    EXPECT_EQ(refusal_with(statement), "accepted") << statement;
  }
}

TEST(InlinePtxText, WhatDependsOnItsOperandsAloneMayBeLeftOut) {
  for (const char* statement : {"asm(\"cvt.rn.f16x2.f32 %0, %1, %2;\" : \"=r\"(d) : \"f\"(q[0]), \"f\"(1.f));",
                                "asm(\"prmt.b32 %0, %1, 0, %2;\" : \"=r\"(d) : \"r\"(d), \"r\"(1));",
                                "asm(\"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, "
                                "%6, %7}, {%8, %9}, {%0, %1, %2, %3};\""
                                " : \"+f\"(q[0]), \"+f\"(q[1]), \"+f\"(q[2]), \"+f\"(q[3]) : \"r\"(d), \"r\"(d), "
                                "\"r\"(d), \"r\"(d), \"r\"(d), \"r\"(d));"}) {
    EXPECT_EQ(refusal_with(statement), "accepted") << statement;
  }
}

/// A product of a warpgroup; `form` is "k8.f32.tf32.tf32", `immediates` what follows the predicate.
std::string warpgroup_product(int columns, const std::string& form, const std::string& immediates) {
  const int sums = columns / 2;
  const auto listed = [](int count, const std::string& before, int first, const std::string& behind) {
    std::string list;
    for (int number = first; number < first + count; ++number) {
      list += (list.empty() ? "" : ", ") + before + std::to_string(number) + behind;
    }
    return list;
  };
  return "asm volatile(\"{\\n.reg .pred adds;\\nsetp.ne.b32 adds, %" + std::to_string(sums + 5) +
         ", 0;\\n\"\n\"wgmma.mma_async.sync.aligned.m64n" + std::to_string(columns) + form + " {" +
         listed(sums, "%", 0, "") + "}, {" + listed(4, "%", sums, "") + "}, %" + std::to_string(sums + 4) + ", adds, " +
         immediates + ";\\n}\" : " + listed(sums, "\"+f\"(q[", 0, "])") +
         " : \"r\"(d), \"r\"(d), \"r\"(d), \"r\"(d), \"l\"(wide), \"r\"(1));";
}

TEST(InlinePtxText, ProductsOfWarpgroupsHaveUpTo256Columns) {
  constexpr const char* tf32 = "k8.f32.tf32.tf32";
  constexpr const char* float16 = "k16.f32.f16.f16";
  constexpr const char* bfloat16 = "k16.f32.bf16.bf16";
  for (int columns = 8; columns <= 256; columns += 8) {
    EXPECT_THAT(translate_inline_ptx(warpgroup_product(columns, tf32, "1, 1"), "a.cu"), StartsWith("__esc_wgmma<"))
        << columns;
    for (const char* form : {float16, bfloat16}) {
      for (const char* immediates : {"1, 1, 0", "1, 1, 1"}) {
        EXPECT_THAT(translate_inline_ptx(warpgroup_product(columns, form, immediates), "a.cu"),
                    StartsWith("__esc_wgmma<"))
            << columns;
      }
    }
  }
  EXPECT_EQ(refusal_with(warpgroup_product(8, float16, "1, 1, 0")), "accepted");
  EXPECT_EQ(refusal_with(warpgroup_product(256, float16, "1, 1, 0")), "accepted");
  EXPECT_EQ(refusal_with(warpgroup_product(64, float16, "1, 1, 1")), "accepted");
  EXPECT_EQ(refusal_with(warpgroup_product(64, bfloat16, "1, 1, 0")), "accepted");
  for (const std::string& statement :
       {warpgroup_product(264, float16, "1, 1, 0"), warpgroup_product(64, float16, "1, 1, 2"),
        warpgroup_product(64, float16, "1, 1"), warpgroup_product(64, float16, "1, -1, 0"),
        warpgroup_product(64, "k8.f32.f16.f16", "1, 1, 0"), warpgroup_product(64, "k8.f32.bf16.bf16", "1, 1, 0"),
        warpgroup_product(64, tf32, "1, 1, 0"), warpgroup_product(64, "k16.f32.bf16.f16", "1, 1, 0")}) {
    EXPECT_THAT(refusal_with(statement),
                StartsWith("kernel.cu:3: inline PTX that the emulator does not know: \"{ .reg .pred adds;"))
        << statement;
  }
}

TEST(InlinePtxText, OperandsStayInTheirPlaces) {
  const std::string text =
      "  asm volatile(" + std::string(load_x1) + "\n    : \"=r\"(d)\n    : \"r\"(p[1]));\nint behind;\n";
  const std::string translated = translate_inline_ptx(text, "a.cu");
  EXPECT_EQ(std::count(translated.begin(), translated.end(), '\n'), std::count(text.begin(), text.end(), '\n'));
  for (const char* piece : {"(d)", "(p[1])", "int behind;"}) {
    EXPECT_EQ(translated.find(piece), text.find(piece)) << piece;
  }
  EXPECT_EQ(translated.find("asm"), translated.npos);
  EXPECT_EQ(translate_inline_ptx("// asm\nconst char* s = \"asm\";\n", "a.cu"), "// asm\nconst char* s = \"asm\";\n");
}

TEST(InlinePtxText, UnknownOnesAreRefusedWithTheirLine) {
  const std::string known = load_x1;
  const auto expect_refusal = [](const std::string& statement, const std::string& words) {
    EXPECT_THAT(refusal_with(statement),
                AllOf(StartsWith("kernel.cu:3: inline PTX that the emulator does not know: "), HasSubstr(words)))
        << statement;
  };
  expect_refusal("asm volatile(\"nop;\");", "\"nop;\"");
  expect_refusal("asm volatile(\"ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1]; trap;\" : \"=r\"(d) : \"r\"(d));",
                 "trap;");
  expect_refusal("asm volatile(\"ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%1}, [%0];\" : \"=r\"(d) : \"r\"(d));",
                 "{%1}, [%0];");
  expect_refusal("asm volatile(\"ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];\\x20\" : \"=r\"(d) : \"r\"(d));",
                 "with escapes");
  expect_refusal("asm volatile(R\"(ldmatrix)\" : \"=r\"(d) : \"r\"(d));", "with escapes");
  expect_refusal("asm volatile(\"\" : \"=r\"(d) : : \"memory\");", "with the constraints =r : , where it has +f : ");
  expect_refusal("asm(" + known + " : \"=r\"(d) : \"r\"(d));", "of another form than asm volatile");
  expect_refusal("asm goto volatile(" + known + " : \"=r\"(d) : \"r\"(d));", "of another form");
  expect_refusal("asm volatile(" + known + ");", "of another form");
  expect_refusal("asm volatile(" + known + " :: \"r\"(d));", "of another form");
  expect_refusal("asm volatile(" + known + " : \"=r\"(d) : \"r\"(d)) , d = 1;", "of another form");
  expect_refusal("asm volatile(" + known + " : [name] \"=r\"(d) : \"r\"(d));", "of another form");
  expect_refusal("asm volatile(" + known + " : \"=r\"(d) : \"r\"(d;", "operands without an end");
  expect_refusal("asm volatile(" + known + " : \"=r\"(d) : \"r\"(d) : \"cc\");", "another clobber than \"memory\"");
  expect_refusal("asm volatile(" + known + " : \"+r\"(d) : \"r\"(d));",
                 "with the constraints +r : r, where it has =r : r");
  expect_refusal("asm volatile(" + known + " : \"=r\"(d) : \"l\"(wide));",
                 "with the constraints =r : l, where it has =r : r");
  expect_refusal("asm volatile(" + known + " : \"=r\"(d) : \"r\"(d), \"r\"(d));", "with the constraints =r : r, r");
  const std::string arrive = "asm volatile(\"mbarrier.arrive.shared::cta.b64 _, [%0];\"";
  expect_refusal(arrive + " :: \"r\"(d));", "without the clobber \"memory\"");
  expect_refusal(arrive + " :: \"l\"(wide) : \"memory\");", "with the constraints  : l, where it has  : r");
  expect_refusal(arrive + " : \"=r\"(d) : \"r\"(d) : \"memory\");", "with the constraints =r : r, where it has  : r");
  expect_refusal("asm volatile(\"fence.proxy.async.shared::cta;\");", "of another form");
  expect_refusal("asm volatile(\"fence.proxy.async.shared::cta;\" : : \"memory\");", "of another form");
  expect_refusal(
      "asm volatile(\"mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\" :: \"r\"(d), \"r\"(0) : \"memory\");",
      "mbarrier.try_wait");
  expect_refusal("asm volatile(\"bar.sync %0, %1;\" :: \"r\"(1), \"r\"(64));", "without the clobber \"memory\"");
  expect_refusal("asm volatile(\"bar.sync %0;\" :: \"r\"(1) : \"memory\");", "bar.sync %0;");
  expect_refusal("asm volatile(\"wgmma.commit_group.sync.aligned;\" : : );", "without the clobber \"memory\"");
  expect_refusal("asm volatile(\"wgmma.wait_group.sync.aligned 1;\" ::: \"memory\");",
                 "wgmma.wait_group.sync.aligned 1;");
  expect_refusal("asm volatile(\"wgmma.wait_group.sync.aligned %0;\" : : \"r\"(d) : \"memory\");",
                 "with the constraints  : r, where it has  : n");
  expect_refusal("asm volatile(\"barrier.sync %0, %1;\" :: \"r\"(1), \"r\"(64) : \"memory\");", "barrier.sync");
  expect_refusal("asm(\"cvt.rz.f16x2.f32 %0, %1, %2;\" : \"=r\"(d) : \"f\"(q[0]), \"f\"(q[1]));", "cvt.rz");
  expect_refusal("asm(\"cvt.rn.f16x2.f32 %0, %1, %2;\" : \"=r\"(d) : \"r\"(d), \"r\"(d));",
                 "with the constraints =r : r, r, where it has =r : f, f");
  expect_refusal("#define RUN asm volatile(\"nop;\")", "\"asm\" in a directive");
  expect_refusal("if (false) { asm volatile(\"syscall\"); }", "\"syscall\"");
  expect_refusal("as\\\nm volatile(\"syscall\");", "\"syscall\"");
  expect_refusal("asm", "of another form");
}

TEST(InlinePtxText, OperandsMustHaveTheSizeOfTheirConstraint) {
  const std::string known = load_x1;
  EXPECT_THAT(refusal_with("asm volatile(" + known + " : \"=r\"(d) : \"r\"(wide));"), HasSubstr("kernel.cu:3"));
  EXPECT_THAT(refusal_with("asm volatile(" + known + " : \"=r\"(d) : \"r\"(p));"), HasSubstr("kernel.cu:3"));
  EXPECT_THAT(refusal_with("asm volatile(" + known + " : \"=r\"(d) : \"r\"(q[0]));"), HasSubstr("kernel.cu:3"));
  EXPECT_THAT(refusal_with("asm volatile(" + known + " : \"=r\"(wide) : \"r\"(d));"), HasSubstr("kernel.cu:3"));
  EXPECT_THAT(refusal_with("asm volatile(" + known + " : \"=r\"(q[0]) : \"r\"(d));"), HasSubstr("kernel.cu:3"));
  for (const char* address : {"d", "(int)d", "q[0]"}) {
    EXPECT_THAT(
        refusal_with(
            "asm volatile(\"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];\""
            " :: \"r\"(d), \"l\"(" +
            std::string(address) + "), \"r\"(16), \"r\"(d) : \"memory\");"),
        HasSubstr("kernel.cu:3"))
        << address;
  }
  EXPECT_THAT(refusal_with("asm volatile(" + known + " : \"=r\"(d + 1) : \"r\"(d));"), HasSubstr("kernel.cu:3"));
  for (const char* number : {"d", "1", "1.0", "wide"}) {
    EXPECT_THAT(refusal_with("asm(\"cvt.rn.f16x2.f32 %0, %1, %2;\" : \"=r\"(d) : \"f\"(q[0]), \"f\"(" +
                             std::string(number) + "));"),
                HasSubstr("kernel.cu:3"))
        << number;
  }
}

TEST(InlinePtxText, WhatHidesFromTheTranslationReachesNoCompiler) {
  for (const char* statement :
       {"__asm__ volatile(\"nop\");", "__asm(\"nop\");", "#define JOIN(a, b) a##b\n  JOIN(as, m) volatile(\"nop\");"}) {
    EXPECT_THAT(refusal_with(statement),
                AllOf(HasSubstr("kernel.cu:"), HasSubstr("inline assembly cannot be run on the host")))
        << statement;
  }
}

}  // namespace
}  // namespace esc::testing

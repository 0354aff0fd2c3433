// SPDX-License-Identifier: Apache-2.0
// Whether a GPU makes of async_instructions.cuh what the emulator takes for true: where tensor copies put the elements
// of a box with each swizzle, zeros outside of the matrix and the bytes that a phase counts, what a wait for a parity
// passes, that teams of warps meet without each other at named barriers, and which maps the driver refuses.
//
//     nvcc -std=c++17 -arch=sm_90 -O2 -I . tests/device/async_copies.cu -o async-copies && ./async-copies
//
// Needs compute capability 9.0. Status 0: all as expected; 1: not; 3: there is no such GPU. A wait that never passes is
// ended by the device's clock, and counts as wrong.

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

#include "tests/device/async_instructions.cuh"

namespace {

constexpr int kThreads = 64;
constexpr int kMostBytes = 256 * 128;
constexpr long long kPatience = 200'000'000;  // cycles

bool succeeded(cudaError_t error) {
  if (error != cudaSuccess) {
    std::printf("CUDA: %s\n", cudaGetErrorString(error));
  }
  return error == cudaSuccess;
}

bool all_right = true;

void expect(bool right, const char* what) {
  std::printf("%-88s %s\n", what, right ? "as expected" : "WRONG");
  all_right = all_right && right;
}

/// Whether the phase of this parity is complete, asked once.
__device__ bool passes(Barrier* barrier, unsigned parity) {
  unsigned done = 0;
  asm volatile(
      "{\n"
      ".reg .pred done;\n"
      "mbarrier.test_wait.parity.shared::cta.b64 done, [%1], %2;\n"
      "selp.u32 %0, 1, 0, done;\n"
      "}"
      : "=r"(done)
      : "r"(shared_address(barrier)), "r"(parity)
      : "memory");
  return done != 0;
}

__device__ bool passes_in_time(Barrier* barrier, unsigned parity) {
  for (const long long begin = clock64(); clock64() - begin < kPatience;) {
    if (passes(barrier, parity)) {
      return true;
    }
  }
  return false;
}

// Boxes.

struct Box {
  int columns;
  int rows;
  int x;
  int y;
  CUtensorMapSwizzle swizzle;
};

constexpr int kColumns = 200;
constexpr int kRows = 300;
constexpr int kStride = 208;

/// Fills shared memory with ones, copies a box over it, and stores all. `passed`: whether the box's `bytes` completed a
/// phase that expected so many, and no other.
__global__ void fetch(const __grid_constant__ CUtensorMap map, std::uint16_t* out, int* passed, int bytes, int x,
                      int y) {
  extern __shared__ __align__(1024) unsigned char box[];
  Barrier& full = *reinterpret_cast<Barrier*>(box + kMostBytes);
  for (int at = threadIdx.x; at < kMostBytes / 4; at += kThreads) {
    reinterpret_cast<unsigned*>(box)[at] = 0xffffffffu;
  }
  if (threadIdx.x == 0) {
    initialise(&full, 1);
  }
  fence_copies();
  __syncthreads();
  if (threadIdx.x == 0) {
    arrive_expecting(&full, bytes);
    copy_box(box, map, x, y, &full);
    *passed = passes_in_time(&full, 0) && !passes(&full, 1);
  }
  __syncthreads();
  if (*reinterpret_cast<volatile int*>(passed)) {
    wait_for(&full, 0);
  }
  for (int at = threadIdx.x; at < kMostBytes / 2; at += kThreads) {
    out[at] = reinterpret_cast<std::uint16_t*>(box)[at];
  }
}

std::size_t placed(std::size_t byte, CUtensorMapSwizzle swizzle) {
  const std::size_t bits = (std::size_t{1} << static_cast<int>(swizzle)) - 1;
  return byte ^ ((byte / 128 & bits) * 16);
}

struct Driver {
  PFN_cuTensorMapEncodeTiled_v12000 encode = nullptr;
  std::uint16_t* matrix = nullptr;
  std::uint16_t* out = nullptr;
  int* passed = nullptr;
};

void check_box(const Driver& driver, const Box& box) {
  CUtensorMap map;
  const cuuint64_t sizes[2] = {kColumns, kRows};
  const cuuint64_t strides[1] = {2 * kStride};
  const cuuint32_t extents[2] = {static_cast<cuuint32_t>(box.columns), static_cast<cuuint32_t>(box.rows)};
  const cuuint32_t steps[2] = {1, 1};
  char what[160];
  std::snprintf(what, sizeof(what), "box of %d x %d at (%d, %d), swizzle of %d bytes", box.columns, box.rows, box.x,
                box.y, box.swizzle == 0 ? 0 : 16 << static_cast<int>(box.swizzle));
  if (driver.encode(&map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, driver.matrix, sizes, strides, extents, steps,
                    CU_TENSOR_MAP_INTERLEAVE_NONE, box.swizzle, CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
                    CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) != CUDA_SUCCESS) {
    expect(false, what);
    return;
  }
  const int bytes = 2 * box.columns * box.rows;
  fetch<<<1, kThreads, kMostBytes + sizeof(Barrier)>>>(map, driver.out, driver.passed, bytes, box.x, box.y);
  std::vector<std::uint16_t> found(kMostBytes / 2);
  int passed = 0;
  if (!succeeded(cudaMemcpy(found.data(), driver.out, kMostBytes, cudaMemcpyDeviceToHost)) ||
      !succeeded(cudaMemcpy(&passed, driver.passed, sizeof(passed), cudaMemcpyDeviceToHost))) {
    expect(false, what);
    return;
  }
  std::vector<std::uint16_t> wanted(kMostBytes / 2, 0xffff);
  for (int row = 0; row < box.rows; ++row) {
    for (int column = 0; column < box.columns; ++column) {
      const int x = box.x + column;
      const int y = box.y + row;
      const bool inside = x >= 0 && y >= 0 && x < kColumns && y < kRows;
      wanted[placed(2 * static_cast<std::size_t>(row * box.columns + column), box.swizzle) / 2] =
          static_cast<std::uint16_t>(inside ? y * kStride + x + 1 : 0);
    }
  }
  const bool right = passed != 0 && wanted == found;
  expect(right, what);
  for (std::size_t at = 0, shown = 0; !right && at < found.size() && shown < 4; ++at) {
    if (wanted[at] != found[at]) {
      ++shown;
      std::printf("  byte %zu: expected %04x, found %04x%s\n", 2 * at, wanted[at], found[at],
                  passed ? "" : ", not waited for");
    }
  }
}

void check_boxes(const Driver& driver) {
  for (int swizzle = 0; swizzle <= 3; ++swizzle) {
    const auto kind = static_cast<CUtensorMapSwizzle>(swizzle);
    const int columns = swizzle == 0 ? 64 : 8 << swizzle;
    check_box(driver, {columns, 256, 0, 0, kind});
    check_box(driver, {columns, 32, 24, 17, kind});
    check_box(driver, {columns, 32, kColumns - 8, kRows - 9, kind});
    check_box(driver, {columns, 32, -8, -7, kind});
    check_box(driver, {columns, 32, kColumns, 0, kind});
  }
}

// Barriers.

/// What a barrier of two arrivals says along its life, a bit for each question, in order from bit 0.
__global__ void live(const uint4* source, unsigned* answers) {
  __shared__ alignas(128) uint4 slot[4];
  __shared__ Barrier barrier;
  unsigned bit = 0;
  unsigned found = 0;
  const auto note = [&](bool answer) { found |= (answer ? 1u : 0u) << bit++; };
  initialise(&barrier, 2);
  fence_initialisation();
  note(passes(&barrier, 0));  // no: phase 0 is not complete
  note(passes(&barrier, 1));  // yes: the one before it counts as complete
  arrive(&barrier);
  note(passes(&barrier, 0));  // no: an arrival is missing
  arrive(&barrier);
  note(passes(&barrier, 0));  // yes
  note(passes(&barrier, 1));  // no: phase 1
  // The bytes come first, then the arrival that expects them, then the other.
  copy_bulk(slot, source, 32, &barrier);
  copy_bulk(slot + 2, source + 2, 32, &barrier);
  arrive_expecting(&barrier, 64);
  note(passes(&barrier, 1));  // no: an arrival is missing
  arrive(&barrier);
  note(passes_in_time(&barrier, 1));                           // yes
  note(passes(&barrier, 0));                                   // no: phase 2
  note(slot[0].x == source[0].x && slot[3].w == source[3].w);  // yes
  // Both arrivals are there, 16 bytes are not.
  arrive_expecting(&barrier, 48);
  arrive(&barrier);
  copy_bulk(slot, source, 32, &barrier);
  const long long begin = clock64();
  while (clock64() - begin < 1'000'000) {
  }
  note(passes(&barrier, 0));  // no
  copy_bulk(slot + 2, source, 16, &barrier);
  note(passes_in_time(&barrier, 0));  // yes
  *answers = found;
}

void check_barriers(const Driver& driver) {
  const std::vector<unsigned> values(16, 0x1234u);
  unsigned* source = nullptr;
  unsigned* answers = nullptr;
  unsigned found = 0;
  if (!succeeded(cudaMalloc(&source, 64)) || !succeeded(cudaMalloc(&answers, 4)) ||
      !succeeded(cudaMemcpy(source, values.data(), 64, cudaMemcpyHostToDevice))) {
    all_right = false;
    return;
  }
  live<<<1, 1>>>(reinterpret_cast<const uint4*>(source), answers);
  if (!succeeded(cudaMemcpy(&found, answers, 4, cudaMemcpyDeviceToHost))) {
    all_right = false;
    return;
  }
  const char* const questions[] = {
      "parity 0 of a fresh barrier does not pass",
      "parity 1 of a fresh barrier passes",
      "parity 0 with an arrival missing does not pass",
      "parity 0 of a complete phase passes",
      "parity 1 does not pass then",
      "bytes that come before they are expected do not complete a phase",
      "a phase with all arrivals and bytes is complete",
      "the parity two phases after does not pass",
      "the bytes are there after the wait",
      "a phase with bytes missing is not complete",
      "it is when they have come",
  };
  constexpr unsigned kExpected = 0b10101001010;
  for (unsigned bit = 0; bit < sizeof(questions) / sizeof(*questions); ++bit) {
    expect((found >> bit & 1) == (kExpected >> bit & 1), questions[bit]);
  }
}

// Named barriers.

constexpr int kTeams = 3;
constexpr int kTeamThreads = 64;
constexpr int kRounds = 100;

/// In each round a thread adds what another one of its team had in the round before. The last team begins when the
/// others have ended, which so cannot have waited for it.
__global__ void go_round(unsigned* sums) {
  __shared__ unsigned values[kTeams][2][kTeamThreads];
  __shared__ volatile int ended;
  const int team = threadIdx.x / kTeamThreads;
  const int i = threadIdx.x % kTeamThreads;
  if (threadIdx.x == 0) {
    ended = 0;
  }
  __syncthreads();
  const long long begin = clock64();
  while (team == kTeams - 1 && ended < (kTeams - 1) * kTeamThreads && clock64() - begin < kPatience) {
  }
  __syncwarp();
  unsigned sum = threadIdx.x;
  for (int round = 0; round < kRounds / (team + 1); ++round) {
    values[team][round % 2][i] = sum;
    sync_consumer_group(team + 1, kTeamThreads);
    sum = 3 * sum + values[team][round % 2][(i + 33) % kTeamThreads];
  }
  if (team != kTeams - 1) {
    atomicAdd(const_cast<int*>(&ended), 1);
  }
  sums[threadIdx.x] = clock64() - begin < kPatience ? sum : 0;
}

void check_teams() {
  std::vector<unsigned> wanted(kTeams * kTeamThreads);
  for (int team = 0; team < kTeams; ++team) {
    unsigned* const sums = &wanted[team * kTeamThreads];
    for (int i = 0; i < kTeamThreads; ++i) {
      sums[i] = team * kTeamThreads + i;
    }
    for (int round = 0; round < kRounds / (team + 1); ++round) {
      const std::vector<unsigned> values(sums, sums + kTeamThreads);
      for (int i = 0; i < kTeamThreads; ++i) {
        sums[i] = 3 * values[i] + values[(i + 33) % kTeamThreads];
      }
    }
  }
  unsigned* sums = nullptr;
  std::vector<unsigned> found(wanted.size());
  if (!succeeded(cudaMalloc(&sums, 4 * found.size()))) {
    all_right = false;
    return;
  }
  go_round<<<1, kTeams * kTeamThreads>>>(sums);
  expect(succeeded(cudaMemcpy(found.data(), sums, 4 * found.size(), cudaMemcpyDeviceToHost)) && found == wanted,
         "teams of two warps meet at named barriers while another team waits for them");
}

/// Two warps write what two others read, in two places in turn, and go on where they arrive.
__global__ void two_places(unsigned* sums) {
  __shared__ unsigned values[2][64];
  const int i = threadIdx.x % 64;
  unsigned sum = 0;
  for (int round = 0; round < kRounds; ++round) {
    const int place = round % 2;
    if (threadIdx.x < 64) {
      if (round > 1) {
        sync_consumer_group(3 + place, 128);
      }
      values[place][i] = 64 * round + i;
      arrive_at(1 + place, 128);
    } else {
      sync_consumer_group(1 + place, 128);
      sum = 3 * sum + values[place][63 - i];
      if (round < kRounds - 2) {
        arrive_at(3 + place, 128);
      }
    }
  }
  if (threadIdx.x >= 64) {
    sums[i] = sum;
  }
}

void check_arrivals() {
  std::vector<unsigned> wanted(64);
  for (int round = 0; round < kRounds; ++round) {
    for (int i = 0; i < 64; ++i) {
      wanted[i] = 3 * wanted[i] + 64 * round + 63 - i;
    }
  }
  unsigned* sums = nullptr;
  std::vector<unsigned> found(wanted.size());
  if (!succeeded(cudaMalloc(&sums, 4 * found.size()))) {
    all_right = false;
    return;
  }
  two_places<<<1, 128>>>(sums);
  expect(succeeded(cudaMemcpy(found.data(), sums, 4 * found.size(), cudaMemcpyDeviceToHost)) && found == wanted,
         "who arrives goes on, and who waits finds what those who arrived have written");
}

// Maps.

void check_map(const Driver& driver, const char* what, bool accepted, std::size_t shift, cuuint64_t columns,
               cuuint64_t stride, cuuint32_t box_columns, cuuint32_t box_rows, CUtensorMapSwizzle swizzle) {
  CUtensorMap map;
  const cuuint64_t sizes[2] = {columns, 64};
  const cuuint64_t strides[1] = {stride};
  const cuuint32_t extents[2] = {box_columns, box_rows};
  const cuuint32_t steps[2] = {1, 1};
  const CUresult result =
      driver.encode(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, reinterpret_cast<unsigned char*>(driver.matrix) + shift,
                    sizes, strides, extents, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle,
                    CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  expect(result == (accepted ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE), what);
}

void check_maps(const Driver& driver) {
  const auto none = CU_TENSOR_MAP_SWIZZLE_NONE;
  check_map(driver, "a map of 100 columns in rows of 208 bytes is accepted", true, 0, 100, 208, 64, 32,
            CU_TENSOR_MAP_SWIZZLE_128B);
  check_map(driver, "a box of 256 x 256 is accepted", true, 0, 100, 208, 256, 256, none);
  check_map(driver, "a base at 8 bytes is refused", false, 8, 100, 208, 64, 32, none);
  check_map(driver, "no columns are refused", false, 0, 0, 208, 64, 32, none);
  check_map(driver, "rows of 200 bytes are refused", false, 0, 100, 200, 64, 32, none);
  check_map(driver, "rows of 2^40 bytes are refused", false, 0, 100, cuuint64_t{1} << 40, 64, 32, none);
  check_map(driver, "a box of 257 rows is refused", false, 0, 100, 208, 64, 257, none);
  check_map(driver, "a box of 0 rows is refused", false, 0, 100, 208, 64, 0, none);
  check_map(driver, "a box of 60 columns is refused", false, 0, 100, 208, 60, 32, none);
  check_map(driver, "a box of 72 columns is refused with a swizzle of 128 bytes", false, 0, 100, 208, 72, 32,
            CU_TENSOR_MAP_SWIZZLE_128B);
  check_map(driver, "a box of 40 columns is refused with a swizzle of 64 bytes", false, 0, 100, 208, 40, 32,
            CU_TENSOR_MAP_SWIZZLE_64B);
  check_map(driver, "a box of 24 columns is refused with a swizzle of 32 bytes", false, 0, 100, 208, 24, 32,
            CU_TENSOR_MAP_SWIZZLE_32B);
}

}  // namespace

int main() {
  int devices = 0;
  int major = 0;
  if (!succeeded(cudaGetDeviceCount(&devices)) || devices == 0 ||
      !succeeded(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0)) || major < 9) {
    std::printf("no GPU of compute capability 9.0\n");
    return 3;
  }
  Driver driver;
  void* entry = nullptr;
  cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
  std::vector<std::uint16_t> matrix(kRows * kStride);
  for (std::size_t at = 0; at < matrix.size(); ++at) {
    matrix[at] = static_cast<std::uint16_t>(at + 1);
  }
  if (!succeeded(
          cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &entry, 12000, cudaEnableDefault, &found)) ||
      found != cudaDriverEntryPointSuccess || !succeeded(cudaMalloc(&driver.matrix, 2 * matrix.size())) ||
      !succeeded(cudaMalloc(&driver.out, kMostBytes)) || !succeeded(cudaMalloc(&driver.passed, sizeof(int))) ||
      !succeeded(cudaMemcpy(driver.matrix, matrix.data(), 2 * matrix.size(), cudaMemcpyHostToDevice))) {
    std::printf("the driver has no tensor maps, or no memory\n");
    return 3;
  }
  driver.encode = reinterpret_cast<PFN_cuTensorMapEncodeTiled_v12000>(entry);
  check_boxes(driver);
  check_barriers(driver);
  check_teams();
  check_arrivals();
  check_maps(driver);
  std::printf("%s\n", all_right ? "all as expected" : "some are wrong");
  return all_right ? 0 : 1;
}

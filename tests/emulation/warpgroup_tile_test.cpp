// SPDX-License-Identifier: Apache-2.0
// Products of warpgroups on the emulated grid whose B lies in lines of 128 bytes, or of 64, of which pieces are
// exchanged: what they compute, what they read, and that wrong places and descriptors are found.

#include <fmt/format.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "tests/emulation/warpgroup_fixture.h"
#include "tests/support/warpgroup_product_cases.h"

namespace esc::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string with_tile_instructions(const std::string& text) {
  return with_warpgroup_instructions(text, {"warpgroup_instructions.cuh", "warpgroup_tiles.cuh"});
}

/// Of which elements tiles are, and which way they lie.
struct TileKind {
  const char* name;
  const char* elements;  ///< as a text has them
  ChainFactors factors;
  bool transposed;

  std::vector<int> columns() const {
    return factors == ChainFactors::tensor_float32 ? std::vector<int>{64}
           : transposed                            ? std::vector<int>{32, 64, 128, 256}
                                                   : std::vector<int>{64, 128, 256};
  }
};

void PrintTo(const TileKind& kind, std::ostream* out) { *out << kind.name; }

/// A run of multiply_tile. What the descriptor says of the tile is where it lies, but for a mistake.
struct TileRun {
  int groups;
  int columns;
  TileDistances place;
  unsigned exchanged = 7;
  TileDistances named;
  unsigned start = 0;
  unsigned wrong_bits = 0;

  static TileRun of(int groups, int columns, TileDistances place) {
    return {.groups = groups, .columns = columns, .place = place, .named = place};
  }
  std::size_t sums() const { return static_cast<std::size_t>(64 * groups * columns); }
};

std::string text_of(const TileKind& kind, const std::vector<TileRun>& runs) {
  std::string text = "extern \"C\" cudaError_t run(const float* x, float* y, int n) {\n  switch (n) {\n";
  for (std::size_t number = 0; number < runs.size(); ++number) {
    const TileRun& run = runs[number];
    const unsigned bytes = tile_bytes(run.columns, kind.transposed, run.place);
    text += fmt::format(
        "    case {}: return launch(tile_kernel<TileElements::{}, {}>({}, {}), 1, {}, {}, x, y, "
        "TilePlace{{{}, {}, {}}}, NamedPlace{{{}, {}, {}, {}u}});\n",
        number, kind.elements, kind.transposed, run.columns, bytes, 128 * run.groups, bytes, run.place.leading,
        run.place.stride, run.exchanged, run.named.leading, run.named.stride, run.start, run.wrong_bits);
  }
  return with_tile_instructions(text + "  }\n  return cudaErrorInvalidValue;\n}\n");
}

/// A device on which they are run.
class TileRuns {
 public:
  TileRuns(const TileKind& kind, const std::vector<TileRun>& runs)
      : kind_(kind),
        runs_(runs),
        emulation_(text_of(kind, runs), (128 + kMostTileColumns) * kTileWords, 128 * kMostTileColumns) {}

  /// How many sums of a run are not what they should be.
  int wrong_sums(std::size_t number, ChainValues values, std::uint32_t seed) {
    const TileRun& run = runs_[number];
    const std::vector<std::uint32_t> x = draw_tile(run.groups, run.columns, kind_.factors, values, seed);
    std::memcpy(emulation_.x, x.data(), x.size() * sizeof(float));
    emulation_.device.forget_faults();
    emulation_.run(static_cast<int>(number));
    int wrong = 0;
    for (std::size_t at = 0; at < run.sums(); ++at) {
      const float expected = tile_sum(x, run.groups, run.columns, kind_.factors, static_cast<int>(at)).sum;
      wrong += emulation_.y[at] == expected ? 0 : 1;
    }
    return wrong;
  }
  const std::vector<EmulationFault>& faults() const { return emulation_.device.faults(); }

  void run_in_order(std::optional<std::uint64_t> order) {
    EmulationOptions options;
    options.shuffle_seed = order;
    emulation_.device.set_options(options);
  }

 private:
  TileKind kind_;
  std::vector<TileRun> runs_;
  Emulation emulation_;
};

class WarpgroupTiles : public ::testing::TestWithParam<TileKind> {};

INSTANTIATE_TEST_SUITE_P(All, WarpgroupTiles,
                         ::testing::Values(TileKind{"float16", "float16", ChainFactors::float16, false},
                                           TileKind{"float16_transposed", "float16", ChainFactors::float16, true},
                                           TileKind{"bfloat16", "bfloat16", ChainFactors::bfloat16, false},
                                           TileKind{"bfloat16_transposed", "bfloat16", ChainFactors::bfloat16, true},
                                           TileKind{"tf32", "tensor_float32", ChainFactors::tensor_float32, false}),
                         [](const auto& test) { return std::string(test.param.name); });

TEST_P(WarpgroupTiles, AreMultipliedWhereverTheirLinesLie) {
  std::vector<TileRun> runs;
  for (const int columns : GetParam().columns()) {
    for (const TileDistances place : tile_distances(columns, GetParam().transposed)) {
      runs.push_back(TileRun::of(1, columns, place));
    }
    runs.push_back(TileRun::of(2, columns, runs.back().place));
  }
  TileRuns tiles(GetParam(), runs);
  for (std::size_t number = 0; number < runs.size(); ++number) {
    const auto seed = static_cast<std::uint32_t>(number);
    tiles.run_in_order(kOrders[number % kOrders.size()]);
    for (const ChainValues values : {ChainValues::integers, ChainValues::fractions}) {
      EXPECT_EQ(tiles.wrong_sums(number, values, seed), 0)
          << runs[number].columns << " columns, " << runs[number].place.leading << ", " << runs[number].place.stride;
      ASSERT_THAT(messages_of(tiles.faults()), IsEmpty());
    }
  }
}

TEST_P(WarpgroupTiles, SumsAreOthersWhereLinesLieElsewhere) {
  const int columns = GetParam().columns().back();
  std::vector<TileRun> runs;
  for (const int mistake : {0, 1}) {
    const TileDistances around{1024, static_cast<unsigned>(columns / 64 * 1024)};
    TileRun run = TileRun::of(1, columns, GetParam().transposed ? around : TileDistances{16, 1024});
    if (mistake == 0) {
      run.exchanged = 0;
    } else {
      run.named = GetParam().transposed ? TileDistances{2 * around.leading, around.leading} : TileDistances{16, 0};
    }
    runs.push_back(run);
  }
  TileRuns tiles(GetParam(), runs);
  for (std::size_t number = 0; number < runs.size(); ++number) {
    EXPECT_GT(tiles.wrong_sums(number, ChainValues::fractions, 1), static_cast<int>(runs[number].sums() / 2)) << number;
    EXPECT_THAT(messages_of(tiles.faults()), IsEmpty()) << number;
  }
}

/// A wrong run, and what is said of it.
struct WrongTile {
  TileRun run;
  FaultKind kind;
  const char* words;
};

TEST_P(WarpgroupTiles, WrongPlacesAndDescriptorsAreFaults) {
  const bool transposed = GetParam().transposed;
  const char* const lines = "lines that do not begin at a multiple of eight of them or are read beyond their end";
  const char* const swizzle = "asks for a base offset or a swizzle but those of 64 and 128 bytes";
  const auto right = TileRun::of(1, 64, {8192, 1024});
  const auto with = [&](const auto& mistake) {
    TileRun run = right;
    mistake(run);
    return run;
  };
  std::vector<WrongTile> wrong{
      {with([](TileRun& run) { run.named.stride = 512; }), FaultKind::bad_operand, lines},
      {with([](TileRun& run) { run.named.stride = 1040; }), FaultKind::bad_operand, lines},
      {with([](TileRun& run) { run.start = 128; }), FaultKind::bad_operand, lines},
      {with([](TileRun& run) { run.start = 512; }), FaultKind::bad_operand, lines},
      {with([](TileRun& run) { run.wrong_bits = 1u << 17; }), FaultKind::bad_operand, swizzle},
      {with([](TileRun& run) { run.wrong_bits = 7u << 17; }), FaultKind::bad_operand, swizzle},
      {with([](TileRun& run) { run.wrong_bits = 2u << 30; }), FaultKind::bad_operand, swizzle},
      {with([](TileRun& run) { run.wrong_bits = 1u << 20; }), FaultKind::bad_operand, "bits that mean nothing"},
      {with([](TileRun& run) { run.start = 1024; }), FaultKind::out_of_bounds, "past the end of dynamic shared memory"},
      {with([](TileRun& run) { run.named.stride = 2048; }), FaultKind::out_of_bounds,
       "past the end of dynamic shared memory"},
      {with([](TileRun& run) { run.place.stride = 2048; }), FaultKind::uninitialised, "shared memory"},
      {with([](TileRun& run) { run.named.stride = 0x3fc00; }), FaultKind::out_of_bounds, ""}};
  if (transposed) {
    // Without a swizzle lines of columns are of another length.
    wrong.push_back({with([](TileRun& run) { run.wrong_bits = 1u << 30; }), FaultKind::bad_operand, lines});
    wrong.push_back({with([](TileRun& run) { run.start = 32; }), FaultKind::bad_operand, lines});
    wrong.push_back({with([](TileRun& run) { run.named.leading = 512; }), FaultKind::bad_operand, lines});
    // Lines of 64 bytes have their eight in 512.
    const auto narrow = TileRun::of(1, 32, {4096, 512});
    TileRun shifted = narrow, apart = narrow;
    shifted.start = 256;
    apart.named.stride = 768;
    wrong.push_back({shifted, FaultKind::bad_operand, lines});
    wrong.push_back({apart, FaultKind::bad_operand, lines});
  } else {
    // As lines of 64 bytes the third step would begin at their end.
    wrong.push_back({with([](TileRun& run) { run.wrong_bits = 3u << 30; }), FaultKind::bad_operand, lines});
    // Of the last step a piece, or both, would be in the next line.
    wrong.push_back({with([](TileRun& run) { run.start = 16; }), FaultKind::bad_operand, lines});
    wrong.push_back({with([](TileRun& run) { run.start = 32; }), FaultKind::bad_operand, lines});
  }
  std::vector<TileRun> runs;
  for (const WrongTile& one : wrong) {
    runs.push_back(one.run);
  }
  TileRuns tiles(GetParam(), runs);
  for (std::size_t number = 0; number < wrong.size(); ++number) {
    tiles.wrong_sums(number, ChainValues::integers, 1);
    ASSERT_FALSE(tiles.faults().empty()) << number;
    EXPECT_EQ(tiles.faults().front().kind, wrong[number].kind) << number << tiles.faults().front().message;
    EXPECT_THAT(tiles.faults().front().message, HasSubstr(wrong[number].words)) << number;
  }
}

/// Two steps of a tile of 64 columns of ones are asked for, each as a group. When the first one is done, a thread
/// stores two halves `n` bytes into the tile, while the second one is under way.
constexpr const char* kStoreBetweenGroups = R"(
__global__ void k(float* y, int n) {
  __shared__ alignas(1024) unsigned char tile[8192];
  for (int at = threadIdx.x; at < 2048; at += 128) reinterpret_cast<unsigned*>(tile)[at] = 0x3c003c00u;
  fence_stores();
  __syncthreads();
  const unsigned a[4] = {0x3c003c00u, 0x3c003c00u, 0x3c003c00u, 0x3c003c00u};
  float d[32];
  float e[32];
  fence_products();
  multiply_tile_async<64, TileElements::float16, TRANSPOSED>(d, a, swizzled_at(tile, 16384, 1024), 0);
  commit_products();
  multiply_tile_async<64, TileElements::float16, TRANSPOSED>(e, a, swizzled_at(tile + NEXT, 16384, 1024), 0);
  commit_products();
  wait_for_products_but<1>();
  __syncthreads();
  if (threadIdx.x == 9) *reinterpret_cast<unsigned*>(tile + n) = 0;
  wait_for_products();
  y[threadIdx.x] = d[0] + e[0];
}
extern "C" cudaError_t run(const float* x, float* y, int n) { return launch(k, 1, 128, 0, y, n); }
)";

TEST(WarpgroupTileReads, AreOfTheStepsUnderWayAlone) {
  const auto text = [](const char* next, const char* transposed) {
    return with_tile_instructions(std::string("#define NEXT ") + next + "\n#define TRANSPOSED " + transposed +
                                  kStoreBetweenGroups);
  };
  const auto expect_races = [](Emulation& emulation, int place, bool races) {
    emulation.device.forget_faults();
    emulation.run(place);
    const std::vector<EmulationFault>& faults = emulation.device.faults();
    EXPECT_EQ(faults.empty(), !races) << place;
    if (races && !faults.empty()) {
      EXPECT_EQ(faults.front().kind, FaultKind::race);
      EXPECT_THAT(faults.front().message, HasSubstr("shared memory 'tile'"));
    }
  };
  // The pieces of a line of k: the second step reads pieces 2 and 3, which are 1 and 0 of line 3.
  Emulation columns(text("32", "false"), 1, 128);
  for (int piece = 0; piece < 8; ++piece) {
    expect_races(columns, 3 * 128 + piece * 16, (piece ^ 3) / 2 == 1);
    expect_races(columns, 7 * 1024 + 3 * 128 + piece * 16, (piece ^ 3) / 2 == 1);
  }
  // Lines of columns: the second step reads lines 16 to 31.
  Emulation transposed(text("2048", "true"), 1, 128);
  for (const int line : {0, 8, 15, 16, 24, 31, 32, 63}) {
    expect_races(transposed, line * 128 + 16, line / 16 == 1);
  }
}

}  // namespace
}  // namespace esc::testing

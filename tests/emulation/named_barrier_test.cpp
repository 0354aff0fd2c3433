// SPDX-License-Identifier: Apache-2.0
// Named barriers, at which some warps of a block wait for each other: what they order and what they do not, beside all
// other barriers.

#include <fmt/format.h>

#include "tests/emulation/async_fixture.h"

namespace esc::testing {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

void expect_sum(const std::string& text, float first) {
  for (const auto& order : kOrders) {
    float found = 0;
    EXPECT_THAT(messages_of(testing::faults_of(text, order, &found)), IsEmpty());
    EXPECT_EQ(found, first);
  }
}

/// In every order of the threads.
void expect_race(const std::string& text, const std::string& words) {
  for (const auto& order : kOrders) {
    const EmulationFault fault = first_fault(text, order);
    EXPECT_EQ(fault.kind, FaultKind::race) << fault.message;
    EXPECT_THAT(fault.message, HasSubstr(words));
  }
}

// Teams of two warps, each with values of its own, that go round without each other.

struct Teams {
  std::string barrier = "team + 1";
  std::string rounds = "4 + 3 * team";
  std::string write = "values[team][i] = x[i] + round;";
  std::string meet = "sync_consumer_group(barrier, 64);";
  std::string read = "sum += values[team][63 - i];";
  std::string meet_again = "sync_consumer_group(barrier, 64);";
};

std::string teams_text(const Teams& teams) {
  return fmt::format(R"(
__global__ void k(const float* x, float* y) {{
  __shared__ float values[2][64];
  const int team = threadIdx.x / 64, i = threadIdx.x % 64;
  const int barrier = {};
  values[team][i] = 0;
  __syncthreads();
  float sum = 0;
  for (int round = 0; round < {}; ++round) {{
    {}
    {}
    {}
    {}
  }}
  y[threadIdx.x] = sum;
}}
extern "C" cudaError_t run(const float* x, float* y, int n) {{ return launch(k, 1, 128, 0, x, y); }}
)",
                     teams.barrier, teams.rounds, teams.write, teams.meet, teams.read, teams.meet_again);
}

/// That of the first thread: 63 + round in each of the first team's four rounds.
constexpr float kSumOfRounds = 4 * 63 + 0 + 1 + 2 + 3;

TEST(NamedBarriers, TeamsGoRoundApart) {
  expect_sum(teams_text({}), kSumOfRounds);
  expect_sum(teams_text({.barrier = "15 - team"}), kSumOfRounds);
}

TEST(NamedBarriers, TheBlockMayMeetInBetween) {
  expect_sum(teams_text({.rounds = "4", .meet = "__syncthreads();"}), kSumOfRounds);
  expect_sum(teams_text({.rounds = "4", .meet_again = "__syncthreads();"}), kSumOfRounds);
  expect_sum(teams_text({.barrier = "1",
                         .rounds = "4",
                         .meet = "if (team == round % 2) sync_consumer_group(1, 64);",
                         .read = "if (team == round % 2) sum += values[team][63 - i];",
                         .meet_again = "__syncthreads();"}),
             63 + 65);
}

TEST(NamedBarriers, BothSidesOfAReadNeedOne) {
  expect_race(teams_text({.meet = ""}), "of shared memory 'values'");
  expect_race(teams_text({.meet_again = ""}), "of shared memory 'values'");
  expect_race(teams_text({.meet = "__syncwarp();"}), "of shared memory 'values'");
}

// Two warps that write what two others read, in two places in turn; who has written or read a place goes on.

struct TwoPlaces {
  std::string free = "if (round > 1) sync_consumer_group(3 + round % 2, 128);";
  std::string written = "arrive_at(1 + round % 2, 128);";
  std::string full = "sync_consumer_group(1 + round % 2, 128);";
  std::string read = "if (round < 2) arrive_at(3 + round % 2, 128);";
};

std::string two_places_text(const TwoPlaces& places) {
  return fmt::format(R"(
__global__ void k(const float* x, float* y) {{
  __shared__ float values[2][64];
  const int i = threadIdx.x % 64;
  float sum = 0;
  for (int round = 0; round < 4; ++round) {{
    if (threadIdx.x < 64) {{
      {}
      values[round % 2][i] = x[i] + round;
      {}
    }} else {{
      {}
      sum += values[round % 2][63 - i];
      {}
    }}
  }}
  y[(threadIdx.x + 64) % 128] = sum;
}}
extern "C" cudaError_t run(const float* x, float* y, int n) {{ return launch(k, 1, 128, 0, x, y); }}
)",
                     places.free, places.written, places.full, places.read);
}

TEST(NamedBarriers, WhoArrivesGoesOn) { expect_sum(two_places_text({}), kSumOfRounds); }

TEST(NamedBarriers, WhoArrivesIsBehindNobody) {
  expect_race(
      two_places_text({.full = "sync_consumer_group(1 + round % 2, 128); if (round < 2) arrive_at(3 + round % 2, 128);",
                       .read = ""}),
      "no barrier orders the two");
  expect_race(two_places_text(
                  {.written = "sync_consumer_group(1 + round % 2, 128);", .full = "arrive_at(1 + round % 2, 128);"}),
              "no barrier orders the two");
}

TEST(NamedBarriers, DoNotOrderTeamsWithEachOther) {
  expect_race(teams_text({.read = "sum += values[1 - team][i];"}), "no barrier orders the two");
  expect_race(teams_text({.read = "if (team == 0) values[1][i] = 1;"}), "no barrier orders the two");
  expect_race(teams_text({.rounds = "1",
                          .write = "if (team == 0) values[0][i] = 1;",
                          .read = "",
                          .meet_again = "if (team == 1) sum = values[0][i];"}),
              "no barrier orders the two");
}

TEST(NamedBarriers, OrderWhatThoseWhoMetHaveOfOthers) {
  // The second warp hands on, to the third and fourth, what it has of the first.
  const std::string chain = R"(
__global__ void k(const float* x, float* y) {
  __shared__ float values[32];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  if (warp == 0) values[lane] = x[lane] + 5;
  if (warp <= 1) sync_consumer_group(7, 64);
  if (warp >= FROM) sync_consumer_group(3, 32 * (4 - FROM));
  if (warp == 3) y[lane] = values[31 - lane];
}
extern "C" cudaError_t run(const float* x, float* y, int n) { return launch(k, 1, 128, 0, x, y); }
)";
  expect_sum("#define FROM 1\n" + chain, 36);
  for (const auto& order : kOrders) {
    EXPECT_THAT(first_fault("#define FROM 2\n" + chain, order).kind, AnyOf(FaultKind::race, FaultKind::uninitialised));
  }
}

TEST(NamedBarriers, ANumberIsFreeForThoseWhoKnowThatItsRoundIsOver) {
  const std::string handed_on = R"(
__global__ void k(const float* x, float* y) {
  const int warp = threadIdx.x / 32;
  if (warp <= 1) sync_consumer_group(1, 64);
  if (warp >= 1) HAND_ON;
  if (warp >= 2) sync_consumer_group(1, 64);
  y[threadIdx.x] = 9;
}
extern "C" cudaError_t run(const float* x, float* y, int n) { return launch(k, 1, 128, 0, x, y); }
)";
  expect_sum("#define HAND_ON sync_consumer_group(2, 96)\n" + handed_on, 9);
  for (const auto& order : kOrders) {
    const EmulationFault fault = first_fault("#define HAND_ON\n" + handed_on, order);
    EXPECT_EQ(fault.kind, FaultKind::race) << fault.message;
    EXPECT_THAT(fault.message, HasSubstr("arrives at barrier 1, where others have met whom nothing orders it with: it "
                                         "could have been one of them"));
  }
}

// Rings: one warp of a team fills slots, and the other one uses a slot while the next is filled.

struct TeamRing {
  int slots = 2;
  std::string fill = "ring[team][slot][lane] = x[64 * step + lane];";
  std::string use = "sum += ring[team][slot][31 - lane];";
  std::string barrier = "team + 1";
};

std::string team_ring_text(const TeamRing& ring) {
  return fmt::format(R"(
__global__ void k(const float* x, float* y) {{
  constexpr int slots = {};
  __shared__ float ring[3][slots][32];
  const int team = threadIdx.x / 64, lane = threadIdx.x % 32;
  const bool fills = threadIdx.x / 32 % 2 == 1;
  float sum = 0;
  for (int step = 0; step < 20 - team; ++step) {{
    const int slot = step % slots;
    if (fills) {}
    sync_consumer_group({}, 64);
    if (!fills) {}
  }}
  y[threadIdx.x] = sum;
}}
extern "C" cudaError_t run(const float* x, float* y, int n) {{ return launch(k, 1, 192, 0, x, y); }}
)",
                     ring.slots, ring.fill, ring.barrier, ring.use);
}

TEST(TeamRing, IsRight) {
  for (const int slots : {2, 3, 5}) {
    expect_sum(team_ring_text({.slots = slots}), 20 * 31 + 64 * (19 * 20 / 2));
  }
}

TEST(TeamRing, OfOneSlotIsFilledTooEarly) { expect_race(team_ring_text({.slots = 1}), "of shared memory 'ring'"); }

TEST(TeamRing, SlotsOfAnotherTeamAreNotHandedOn) {
  for (const auto& order : kOrders) {
    const EmulationFault fault = first_fault(team_ring_text({.fill = "ring[(team + 1) % 3][slot][lane] = 1;"}), order);
    EXPECT_THAT(fault.kind, AnyOf(FaultKind::race, FaultKind::uninitialised)) << fault.message;
  }
}

// All barriers in one kernel: a warp fetches, teams of two warps use each slot together and hand it back.

struct FetchedRing {
  std::string fetched = "wait_for(&full[slot], step / slots & 1);";
  std::string own = "halves[team][i] = __shfl_xor_sync(~0u, ring[slot][i], 1);";
  std::string meet = "sync_consumer_group(team + 4, 64);";
  std::string release = "if (i == 0) arrive(&empty[slot]);";
  std::string use = "sum += halves[team][63 - i];";
  std::string meet_again = "sync_consumer_group(team + 4, 64);";
};

std::string fetched_ring_text(const FetchedRing& ring) {
  return fmt::format(R"(
__global__ void k(const float* x, float* y) {{
  constexpr int slots = 3, steps = 20;
  __shared__ alignas(128) float ring[slots][64];
  __shared__ float halves[2][64];
  __shared__ Barrier full[slots];
  __shared__ Barrier empty[slots];
  const int team = threadIdx.x / 64, i = threadIdx.x % 64;
  if (threadIdx.x == 0) {{
    for (int slot = 0; slot < slots; ++slot) {{
      initialise(&full[slot], 1);
      initialise(&empty[slot], 2);
    }}
    fence_initialisation();
  }}
  __syncthreads();
  if (team == 2) {{
    for (int step = 0; i == 0 && step < steps; ++step) {{
      const int slot = step % slots;
      wait_for(&empty[slot], (step / slots & 1) ^ 1);
      arrive_expecting(&full[slot], 256);
      copy_bulk(ring[slot], x + 64 * step, 256, &full[slot]);
    }}
    return;
  }}
  float sum = 0;
  for (int step = 0; step < steps; ++step) {{
    const int slot = step % slots;
    {}
    {}
    {}
    {}
    {}
    {}
  }}
  y[threadIdx.x] = sum;
}}
extern "C" cudaError_t run(const float* x, float* y, int n) {{ return launch(k, 1, 160, 0, x, y); }}
)",
                     ring.fetched, ring.own, ring.meet, ring.release, ring.use, ring.meet_again);
}

TEST(FetchedRing, IsRight) {
  constexpr float kSum = 20 * 62 + 64 * (19 * 20 / 2);
  expect_sum(fetched_ring_text({}), kSum);
  expect_sum(
      fetched_ring_text(
          {.fetched = "if (i == 0) wait_for(&full[slot], step / slots & 1); sync_consumer_group(team + 4, 64);"}),
      kSum);
}

TEST(FetchedRing, SlotHandedBackBeforeTheTeamHasMet) {
  expect_race(fetched_ring_text(
                  {.meet = "if (i == 0) arrive(&empty[slot]); sync_consumer_group(team + 4, 64);", .release = ""}),
              "of shared memory 'ring'");
}

TEST(FetchedRing, FetchedForAnotherTeam) {
  for (const auto& order : kOrders) {
    const EmulationFault fault = first_fault(
        fetched_ring_text(
            {.fetched =
                 "if (threadIdx.x == 0) wait_for(&full[slot], step / slots & 1); sync_consumer_group(team + 4, 64);"}),
        order);
    EXPECT_THAT(fault.kind, AnyOf(FaultKind::race, FaultKind::uninitialised)) << fault.message;
  }
}

}  // namespace
}  // namespace esc::testing

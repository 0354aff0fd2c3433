// SPDX-License-Identifier: Apache-2.0
// What the interpreter checks of loops that are mapped to the GPU, and of what every block has of its own.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "generator/ir/interpret.h"
#include "generator/ir/print.h"
#include "generator/ir/rewrite.h"
#include "generator/support/error.h"

namespace esc {
namespace {

using testing::HasSubstr;

std::string defect_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Defect& defect) {
    return defect.what();
  }
  return "nothing was thrown";
}

Access at(const std::string& array, const Affine& position) { return {array, {{"", position}}}; }
Access at(const std::string& array, const Affine& row, const Affine& position) {
  return {array, {{"", row}, {"", position}}};
}
Node store(const Access& target, const Expression& value) { return Node{Statement{{}, Store{target, value}}}; }
Node add(const Access& target, const Expression& value, bool atomic) {
  return Node{Statement{{}, Update{target, value, atomic}}};
}
Node loop(const std::string& iterator, std::int64_t count, Mapping mapping, Block body) {
  return Node{Loop{iterator, 0, count, 1, Role::none, mapping, std::move(body)}};
}
Node lanes(Block body) { return loop("lane", 2, Mapping::lane_digit, std::move(body)); }

/// Two blocks with what is in them; every block has S[2] of its own, and there is C[4].
LoopNest blocks(Block body) {
  LoopNest nest;
  nest.arrays = {{"S", {2}, ArrayRole::shared}};
  nest.body = {loop("block", 2, Mapping::grid, std::move(body))};
  return nest;
}

std::vector<double> run(const LoopNest& nest) {
  const Memory memory{{{"N", 6}}, {{"C", {{4}, {9, 9, 9, 9}}}}};
  return interpret(nest, memory).arrays.at("C").elements;
}

const Affine lane = Affine::of("lane");
const Affine other = Affine(1) - lane;
const Access of_thread = at("C", Affine::of("block", 2) + lane);

TEST(InterpretBlocks, StoresWhateverWasThere) {
  EXPECT_EQ(run(blocks({lanes({store(of_thread, 5.0)})})), (std::vector<double>{5, 5, 5, 5}));
}

TEST(InterpretBlocks, ReadsBehindABarrierWhatAnotherLaneWrote) {
  const LoopNest nest = blocks(
      {lanes({store(at("S", lane), 1.0), add(at("S", lane), 2.0, false)}), lanes({store(of_thread, at("S", other))})});
  EXPECT_EQ(run(nest), (std::vector<double>{3, 3, 3, 3}));
}

TEST(InterpretBlocks, FindsAReadWithoutABarrier) {
  const LoopNest nest = blocks(
      {lanes({store(at("S", lane), 1.0)}), lanes({store(at("S", lane), 2.0), store(of_thread, at("S", other))})});
  EXPECT_THAT(defect_of([&] { run(nest); }), HasSubstr("race: two parallel iterations"));
}

TEST(InterpretBlocks, FindsAWriteOverWhatAnotherLaneReads) {
  const LoopNest nest =
      blocks({lanes({store(at("S", lane), 1.0)}), lanes({Node{Statement{{less(lane, 1)}, Store{of_thread, at("S", 1)}}},
                                                         Node{Statement{{less(0, lane)}, Store{at("S", 1), 2.0}}}})});
  EXPECT_THAT(defect_of([&] { run(nest); }), HasSubstr("read and write S[1]"));
}

TEST(InterpretBlocks, FindsAWriteOverWhatSeveralLanesRead) {
  const LoopNest nest =
      blocks({lanes({store(at("S", lane), 1.0)}),
              lanes({store(of_thread, at("S", 1)), Node{Statement{{less(0, lane)}, Store{at("S", 1), 2.0}}}})});
  EXPECT_THAT(defect_of([&] { run(nest); }), HasSubstr("read and write S[1]"));
}

TEST(InterpretBlocks, FindsTwoLanesThatWriteOneElement) {
  const LoopNest nest = blocks({lanes({store(at("S", 0), 1.0)})});
  EXPECT_THAT(defect_of([&] { run(nest); }), HasSubstr("two parallel iterations write S[0]"));
}

TEST(InterpretBlocks, TakesNoBarrierForAnOrderOfWhatAllBlocksShare) {
  const Block twice{lanes({store(of_thread, 1.0)}), lanes({store(at("C", Affine::of("block", 2) + other), 1.0)})};
  EXPECT_THAT(defect_of([&] { run(blocks(twice)); }), HasSubstr("two parallel iterations write C["));
}

TEST(InterpretBlocks, FindsAnElementThatNobodyWrote) {
  const LoopNest nest = blocks({lanes({store(of_thread, at("S", lane))})});
  EXPECT_THAT(defect_of([&] { run(nest); }), HasSubstr("S[lane] is read before it is written"));
}

TEST(InterpretBlocks, FindsAnElementThatOnlyTheBlockBeforeWrote) {
  const Node first_block{Statement{{less(index("block"), 1)}, Store{at("S", lane), 1.0}}};
  const LoopNest nest = blocks({lanes({first_block, store(of_thread, at("S", lane))})});
  EXPECT_THAT(defect_of([&] { run(nest); }), HasSubstr("S[lane] is read before it is written"));
}

TEST(InterpretBlocks, FindsAnAtomicAddToWhatNobodyWrote) {
  const LoopNest nest = blocks({lanes({add(at("S", 0), 1.0, true)})});
  EXPECT_THAT(defect_of([&] { run(nest); }), HasSubstr("S[0] is added to before it is written"));
}

TEST(InterpretBlocks, AcceptsAtomicAddsBehindABarrier) {
  const LoopNest nest = blocks(
      {lanes({store(at("S", lane), 1.0)}), lanes({add(at("S", 0), 2.0, true)}), lanes({store(of_thread, at("S", 0))})});
  EXPECT_EQ(run(nest), (std::vector<double>{5, 5, 5, 5}));
}

TEST(InterpretBlocks, FindsAScalarOfAnotherThread) {
  const Node define{Statement{{}, Define{ScalarType::f32, "x", 1.0}}};
  EXPECT_THAT(defect_of([&] { run(blocks({lanes({define}), lanes({store(of_thread, Name{"x"})})})); }),
              HasSubstr("no value for x"));
}

TEST(InterpretBlocks, FindsAnIndexVariableOfALoopBefore) {
  const Node define{Statement{{}, Define{ScalarType::i32, "x", 1}}};
  EXPECT_THAT(defect_of([&] { run(blocks({lanes({define}), lanes({store(at("C", Affine::of("x")), 1.0)})})); }),
              HasSubstr("no value for x"));
}

// What one body of threads does, with barriers inside of it.

Node barrier(Scope scope) { return Node{Barrier{scope}}; }

TEST(InterpretThreads, WaitsAtABarrierOfTheBlock) {
  const Block body{store(at("S", lane), 1.0), add(at("S", lane), 2.0, false), barrier(Scope::block),
                   store(of_thread, at("S", other))};
  EXPECT_EQ(run(blocks({lanes(body)})), (std::vector<double>{3, 3, 3, 3}));
}

TEST(InterpretThreads, KeepsWhatAThreadDefinedAcrossABarrier) {
  const Block body{Node{Statement{{}, Define{ScalarType::i32, "x", lane + 5}}}, barrier(Scope::block),
                   store(of_thread, index("x"))};
  EXPECT_EQ(run(blocks({lanes(body)})), (std::vector<double>{5, 6, 5, 6}));
}

TEST(InterpretThreads, TakesABarrierOfTheWarpForAnOrderWithinIt) {
  const Block body{store(at("S", lane), 1.0), barrier(Scope::warp), store(of_thread, at("S", other))};
  EXPECT_EQ(run(blocks({lanes(body)})), (std::vector<double>{1, 1, 1, 1}));
  const Node warps{Loop{"lane", 0, 2, 1, Role::none, Mapping::warp_digit, body}};
  EXPECT_THAT(defect_of([&] { run(blocks({warps})); }), HasSubstr("race: two parallel iterations write and read S["));
}

/// Two consumer groups of two lanes, of one warp in all, where each lane leaves something and reads what is at a place.
LoopNest consumer_groups(Scope scope, const Affine& place) {
  const Affine own = Affine::of("consumer_group", 2) + lane;
  const Block body{store(at("T", own), 1.0 + Expression(own)), barrier(scope), store(at("C", own), at("T", place))};
  LoopNest nest = blocks({loop("consumer_group", 2, Mapping::warp_digit, {lanes(body)})});
  std::get<Loop>(nest.body.front().content).upper = 1;
  nest.arrays.push_back({"T", {4}, ArrayRole::shared});
  nest.consumer_group = "consumer_group";
  return nest;
}

TEST(InterpretThreads, TakesABarrierOfTheTeamForAnOrderWithinIt) {
  EXPECT_EQ(run(consumer_groups(Scope::consumer_group, Affine::of("consumer_group", 2) + other)),
            (std::vector<double>{2, 1, 4, 3}));
  EXPECT_THAT(defect_of([&] {
                run(consumer_groups(Scope::consumer_group, Affine(3) - Affine::of("consumer_group", 2) - lane));
              }),
              HasSubstr("race: two parallel iterations write and read T["));
  EXPECT_EQ(run(consumer_groups(Scope::block, Affine(3) - Affine::of("consumer_group", 2) - lane)),
            (std::vector<double>{4, 3, 2, 1}));
}

TEST(InterpretThreads, FindsABarrierOfTeamsWhereThereAreNone) {
  LoopNest nest = consumer_groups(Scope::consumer_group, Affine::of("consumer_group", 2) + lane);
  nest.consumer_group.clear();
  EXPECT_THAT(defect_of([&] { run(nest); }), HasSubstr("a barrier of consumer groups in a nest that has some"));
}

TEST(InterpretThreads, FindsABarrierThatNotAllReach) {
  const Node some{Branch{less(lane, 1), {barrier(Scope::block)}, {}}};
  EXPECT_THAT(defect_of([&] { run(blocks({lanes({some})})); }),
              HasSubstr("all threads of the block reach the barrier"));
}

// Blocks of a cluster, each with one S[2] of its own and one L[2] that others may write.

LoopNest clusters(Block body) {
  LoopNest nest = blocks({loop("rank", 2, Mapping::cluster, {lanes(std::move(body))})});
  nest.arrays.push_back({"L", {2, 2}, ArrayRole::cluster});
  return nest;
}

const Affine rank = Affine::of("rank");
Node leave(const Expression& value) { return Node{Statement{{less(0, rank)}, Store{at("L", 0, lane), value}}}; }
Node take(const Access& from) { return Node{Statement{{less(rank, 1)}, Store{of_thread, from}}}; }

TEST(InterpretClusters, FindsBehindABarrierWhatAnotherBlockLeft) {
  EXPECT_EQ(run(clusters({barrier(Scope::cluster), leave(index("block") + lane + 3), barrier(Scope::cluster),
                          take(at("L", 0, other))})),
            (std::vector<double>{4, 3, 5, 4}));
}

TEST(InterpretClusters, FindsWhatEachBlockHasStoredForTheOther) {
  LoopNest nest =
      clusters({barrier(Scope::cluster), store(at("L", Affine(1) - rank, lane), rank * 10 + lane + 3),
                barrier(Scope::cluster), store(at("C", Affine::of("rank", 2) + lane), at("L", rank, other))});
  nest.body = {loop("block", 1, Mapping::grid, std::get<Loop>(nest.body.front().content).body)};
  EXPECT_EQ(run(nest), (std::vector<double>{14, 13, 4, 3}));
}

TEST(InterpretClusters, FindsABarrierThatOneBlockMayReachAlone) {
  const Node some{Branch{less(0, rank), {barrier(Scope::cluster)}, {}}};
  EXPECT_THAT(defect_of([&] { run(clusters({some})); }), HasSubstr("all blocks of the cluster reach the barrier"));
}

TEST(InterpretClusters, FindsABlockThatMayNotHaveBegun) {
  EXPECT_THAT(defect_of([] { run(clusters({leave(1.0), barrier(Scope::cluster), take(at("L", 0, lane))})); }),
              HasSubstr("L[0][lane] is touched before a barrier of the cluster"));
}

TEST(InterpretClusters, FindsAReadWithoutABarrierOfTheCluster) {
  EXPECT_THAT(defect_of([] {
                run(clusters({barrier(Scope::cluster), leave(1.0), barrier(Scope::block), take(at("L", 0, lane))}));
              }),
              HasSubstr("race: two parallel iterations write and read L[0][lane]"));
}

TEST(InterpretClusters, FindsAReadOfTheFirstBlockInFrontOfTheBarrierThatOrdersIt) {
  const Node late{Statement{{less(0, rank)}, Store{at("L", 0, lane), 2.0}}};
  EXPECT_THAT(
      defect_of([&] {
        run(clusters({barrier(Scope::cluster), leave(1.0), barrier(Scope::cluster), take(at("L", 0, lane)), late}));
      }),
      HasSubstr("race: two parallel iterations read and write L[0][lane]"));
}

TEST(InterpretClusters, FindsWhatOnlyTheClusterBeforeLeft) {
  const Node of_first{Statement{{less(0, rank), less(index("block"), 1)}, Store{at("L", 0, lane), 1.0}}};
  EXPECT_THAT(defect_of([&] {
                run(clusters({barrier(Scope::cluster), of_first, barrier(Scope::cluster), take(at("L", 0, lane))}));
              }),
              HasSubstr("L[0][lane] is read before it is written"));
}

TEST(InterpretClusters, GivesEachBlockSharedMemoryOfItsOwn) {
  EXPECT_EQ(run(clusters({store(at("S", lane), rank + 7), barrier(Scope::cluster), take(at("S", other))})),
            (std::vector<double>{7, 7, 7, 7}));
}

TEST(InterpretThreads, GivesEachThreadRegistersOfItsOwn) {
  LoopNest nest =
      blocks({lanes({Node{Declare{"R", true}}, add(at("R", 0), lane + 1, false), store(of_thread, at("R", 0))})});
  nest.arrays.push_back({"R", {1}, ArrayRole::registers});
  EXPECT_EQ(run(nest), (std::vector<double>{1, 2, 1, 2}));
}

TEST(InterpretThreads, FindsARegisterThatNobodyWrote) {
  LoopNest nest = blocks({lanes({Node{Declare{"R"}}, store(of_thread, at("R", 0))})});
  nest.arrays.push_back({"R", {1}, ArrayRole::registers});
  EXPECT_THAT(defect_of([&] { run(nest); }), HasSubstr("R[0] is read before it is written"));
}

TEST(InterpretThreads, LooksAtTheChosenValueAlone) {
  const Expression far = at("S", 7);
  const Block body{store(of_thread, choose(less(lane, 2), 4, far))};
  EXPECT_EQ(run(blocks({lanes(body)})), (std::vector<double>{4, 4, 4, 4}));
}

TEST(PrintBlocks, ShowsWhatABlockHas) {
  LoopNest nest = blocks({lanes({store(of_thread, at("S", lane))})});
  nest.body.push_back(Node{Loop{"s", 0, Affine::of("N"), 4, Role::none, Mapping::sequential, {}}});
  EXPECT_EQ(print(nest),
            "// S[2]: shared memory of a block\n"
            "grid (block = 0; block < 2; block++)  // block = blockIdx.x\n"
            "  lanes (lane = 0; lane < 2; lane++)  // lane = a digit of threadIdx.x % 32\n"
            "    C[2*block + lane] = S[lane];\n"
            "for (s = 0; s < N; s += 4) {\n"
            "}\n");
}

TEST(RewriteBlocks, ChangesStores) {
  Block block{Node{Loop{
      "s", 0, 8, 4, Role::none, Mapping::sequential, {store(at("C", Affine::of("x")), at("S", Affine::of("x")))}}}};
  const Block changed = substitute(block, "x", 3);
  EXPECT_THAT(print(changed), HasSubstr("C[3] = S[3];"));
}

}  // namespace
}  // namespace esc

// SPDX-License-Identifier: Apache-2.0
#include "generator/lower/cluster_sums.h"

#include <utility>

#include "generator/ir/build.h"
#include "generator/ir/rewrite.h"
#include "generator/lower/lane_sums.h"
#include "generator/schedule/bitmap_schedule.h"

namespace esc {
namespace {

constexpr int sums_of_product = 4;

bool are_dealt(const LoopNest& nest) { return nest.has_constant("own_products"); }

std::int64_t own_products(const LoopNest& nest, int blocks) { return nest.constant("lane_products") / blocks; }

Node each_owner(Block body) { return unrolled_loop("owner", "cluster_blocks", Role::none, std::move(body)); }

Node each_own(Node node) { return unrolled_loop("t", "own_products", Role::none, {std::move(node)}); }

/// Four sums of a lane are beside those of the other lanes.
Access left_for_owner(const Affine& owner, const Affine& from) {
  return element("cluster_sums", {owner, from, Affine::of("own_place") + Affine::of("t", 128)});
}

Node store_four(const Access& to, const Access& from, const Expression& rank) {
  return perform("store_to_cluster", {to, from, sums_of_product, rank});
}

/// A lane's own sums become its first ones.
Node move_own_sums(const LoopNest& nest, int blocks) {
  const std::int64_t sums = own_products(nest, blocks) * sums_of_product;
  const Node move = statement(
      Store{element("sums", {Affine::of("e")}), element("sums", {Affine::of("e") + Affine::of("owner", sums)})});
  Loop each = mapped_loop(
      Mapping::unrolled, "owner", Affine::of("cluster_blocks"), Role::none,
      {Node{Branch{equals(index("owner"), index("rank")), {unrolled_loop("e", "own_sums", Role::none, {move})}, {}}}});
  each.lower = 1;
  return Node{std::move(each)};
}

}  // namespace

bool deals_sums(const LoopNest& nest, int blocks) {
  return nest.packed.has_packed_tiles() && BitmapSchedule::deals_sums(nest.constant("tile_columns"), blocks);
}

Block define_place_for_owners(const LoopNest& nest, int blocks, bool has_place_of_lane) {
  if (deals_sums(nest, blocks)) {
    return {define("own_place", index("place") * index("own_products") * 128 + lane_of_warp(nest) * 4)};
  }
  return has_place_of_lane ? Block{} : Block{define_place_of_lane(nest)};
}

Block store_to_owners(const LoopNest& nest, int blocks) {
  if (!deals_sums(nest, blocks)) {
    const Access left = element("cluster_sums", {0, Affine::of("rank") - 1, place_of_four()});
    return {Node{Branch{less(0, index("rank")), {each_four(store_four(left, four_sums(), 0))}, {}}}};
  }
  const std::int64_t sums = own_products(nest, blocks) * sums_of_product;
  const Access of_owner = element("sums", {Affine::of("owner", sums) + Affine::of("t", sums_of_product)});
  const Access left = left_for_owner(Affine::of("owner"), Affine::of("rank"));
  return {each_owner({Node{
      Branch{differs(index("owner"), index("rank")), {each_own(store_four(left, of_owner, index("owner")))}, {}}}})};
}

Expression owns_sums(const LoopNest& nest, int blocks) {
  const Expression adds = less(number_of_warp(nest), 1);
  return deals_sums(nest, blocks) ? adds : all_of({adds, less(index("rank"), 1)});
}

Block add_as_owner(const LoopNest& nest, int blocks, const Node& store) {
  if (!deals_sums(nest, blocks)) {
    const Access left = element("cluster_sums", {0, Affine::of("other"), place_of_four()});
    return {unrolled_loop("other", "other_blocks", Role::none,
                          {each_four(perform("add_vector", {four_sums(), left, sums_of_product}))}),
            store};
  }
  const Access left = left_for_owner(Affine::of("rank"), Affine::of("owner"));
  const Block own = substitute(
      substitute(substitute({store}, "tile", Affine::of("own_tile")), "tile_columns", Affine::of("own_columns")),
      "row_vectors", Affine::of("own_vectors"));
  Block result{move_own_sums(nest, blocks),
               each_owner({Node{Branch{differs(index("owner"), index("rank")),
                                       {each_own(perform("add_vector", {four_sums(), left, sums_of_product}))},
                                       {}}}}),
               define("own_tile", index("tile") * index("cluster_blocks") + index("rank"), ScalarType::u32)};
  append(result, own);
  return result;
}

void declare_cluster_sums(LoopNest& nest, int blocks) {
  const bool dealt = deals_sums(nest, blocks);
  declare_block_sums(nest);
  if (dealt) {
    const auto part_of = [](const char* all) { return quotient(index(all), index("cluster_blocks")); };
    nest.constants.push_back(
        {"own_columns", part_of("tile_columns"), "that a block of the cluster adds up and stores"});
    nest.constants.push_back({"own_products", part_of("lane_products"), ""});
    nest.constants.push_back({"own_sums", part_of("lane_sums"), ""});
    nest.constants.push_back({"own_vectors", part_of("row_vectors"), ""});
    nest.constants.push_back({"left_sums", part_of("block_sums"), "of a block, for each of the others"});
  } else {
    nest.constants.push_back({"other_blocks", index("cluster_blocks") - 1, "of a cluster"});
  }
  const Affine owners = dealt ? Affine::of("cluster_blocks") : Affine(1);
  nest.arrays.push_back(
      {"cluster_sums",
       {owners, Affine::of(dealt ? "cluster_blocks" : "other_blocks"), Affine::of(dealt ? "left_sums" : "block_sums")},
       ArrayRole::cluster,
       nest.sum()});
}

Expression stored_tile(const LoopNest& nest) { return index(are_dealt(nest) ? "own_tile" : "tile"); }
const char* stored_columns(const LoopNest& nest) { return are_dealt(nest) ? "own_columns" : "tile_columns"; }
const char* stored_products(const LoopNest& nest) { return are_dealt(nest) ? "own_products" : "lane_products"; }

}  // namespace esc

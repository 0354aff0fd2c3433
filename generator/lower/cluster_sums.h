// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "generator/ir/loop_nest.h"

namespace esc {

// How the blocks of a cluster, each of which has a part of every sum, add them up. A block owns columns of C: the
// others store their parts to its shared memory, and it adds and stores the sums of its columns. One block owns all
// columns where the tiles of 16 columns that are stored whole cannot be dealt evenly.

/// Whether each of so many blocks owns as many columns. Only the sums of bitmaps are dealt.
bool deals_sums(const LoopNest& nest, int blocks);

/// Defines where a lane's sums are among those that a block stores to another one's memory, unless that is known.
Block define_place_for_owners(const LoopNest& nest, int blocks, bool has_place_of_lane);

/// What a thread with sums does before the second barrier of the cluster: it stores those of columns that other blocks
/// own.
Block store_to_owners(const LoopNest& nest, int blocks);

/// What it does after it, in a block that owns columns: it adds what others have stored, and then does `store`, which
/// stores all sums of a lane, for those of its columns.
Block add_as_owner(const LoopNest& nest, int blocks, const Node& store);

/// The threads that do the latter, of those that have sums.
Expression owns_sums(const LoopNest& nest, int blocks);

/// Declares the shared memory that sums are stored to, and the constants of both.
void declare_cluster_sums(LoopNest& nest, int blocks);

/// The columns of C that a block stores, `stored_columns` from `stored_tile` times as many on, and how many groups of
/// four sums its lanes have of them: those of its tile, unless sums are dealt.
Expression stored_tile(const LoopNest& nest);
const char* stored_columns(const LoopNest& nest);
const char* stored_products(const LoopNest& nest);

}  // namespace esc

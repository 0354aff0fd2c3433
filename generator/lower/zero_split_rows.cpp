// SPDX-License-Identifier: Apache-2.0
#include "generator/lower/zero_split_rows.h"

#include "generator/ir/build.h"

namespace esc {
namespace {

constexpr std::int64_t zeroing_threads = 128;  ///< of a block
constexpr std::int64_t row_threads = 32;       ///< beside each other that have a row

}  // namespace

LoopNest zero_split_rows(const LoopNest& nest) {
  const Expression present = less(index("number"), index("split_rows"));
  const Access row = element("SplitRows", {Affine::of("number")});
  const Access zeroed = element("C", {Affine::of("row"), Affine::of("column")});
  const Expression rows_of_block = quotient(index("zeroing_threads"), index("row_threads"));
  const Expression row_of_block = quotient(index("thread"), index("row_threads"));
  const Node columns = sequential_loop("column", Affine::of("first_column"), Affine::of("N"), Affine::of("row_threads"),
                                       Role::column, {statement(Store{zeroed, 0.0})});
  const Block body{define("number", index("block") * rows_of_block + row_of_block, ScalarType::u32),
                   Node{Statement{{present}, Define{ScalarType::u32, "row", row}}},
                   define("first_column", remainder(index("thread"), index("row_threads")), ScalarType::u32),
                   Node{Branch{present, {columns}, {}}}};
  const Loop threads = mapped_loop(Mapping::threads, "thread", Affine::of("zeroing_threads"), Role::none, body);
  LoopNest zeroing;
  zeroing.arrays = {nest.array(ArrayRole::output),
                    {"SplitRows", {Affine::of("split_rows")}, ArrayRole::packed_index, ScalarType::u32}};
  zeroing.constants = {{"zeroing_threads", zeroing_threads, "of a block"},
                       {"row_threads", row_threads, "that have a row"}};
  zeroing.derived_sizes = {{"blocks", Affine::of("split_rows"), zeroing_threads / row_threads}};
  zeroing.packed = nest.packed;
  zeroing.body = {Node{mapped_loop(Mapping::grid, "block", Affine::of("blocks"), Role::row, {Node{threads}})}};
  return zeroing;
}

}  // namespace esc

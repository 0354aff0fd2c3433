#include "generator/lower/zero_split_rows.h"

#include "generator/lower/mapped_nest.h"

namespace esc {
namespace {

constexpr std::int64_t zeroing_threads = 128;  ///< of a block
constexpr std::int64_t row_threads = 32;       ///< beside each other that have a row

}  // namespace

LoopNest zero_split_rows(const LoopNest& nest) {
  const Expression present = less(index("number"), index("split_rows"));
  const Loop columns{"column",
                     Affine::of("first_column"),
                     Affine::of("N"),
                     Affine::of("row_threads"),
                     Role::column,
                     Mapping::sequential,
                     {Node{Statement{{}, Store{{"C", {{"", Affine::of("row")}, {"", Affine::of("column")}}}, 0.0}}}}};
  const Block body{define("number",
                          index("block") * quotient(index("zeroing_threads"), index("row_threads")) +
                              quotient(index("thread"), index("row_threads")),
                          ScalarType::u32),
                   Node{Statement{{present}, Define{ScalarType::u32, "row", Access{"SplitRows", {{"", Affine::of("number")}}}}}},
                   define("first_column", remainder(index("thread"), index("row_threads")), ScalarType::u32),
                   Node{Branch{present, {Node{columns}}}}};
  LoopNest zeroing;
  zeroing.arrays = {nest.array(ArrayRole::output),
                    {"SplitRows", {Affine::of("split_rows")}, ArrayRole::packed_index, ScalarType::u32}};
  zeroing.constants = {{"zeroing_threads", zeroing_threads, "of a block"}, {"row_threads", row_threads, "that have a row"}};
  zeroing.derived_sizes = {{"blocks", Affine::of("split_rows"), zeroing_threads / row_threads}};
  zeroing.packed = nest.packed;
  zeroing.body = {Node{Loop{"block",
                            0,
                            Affine::of("blocks"),
                            1,
                            Role::row,
                            Mapping::grid,
                            {Node{Loop{"thread", 0, Affine::of("zeroing_threads"), 1, Role::none, Mapping::threads, body}}}}}};
  return zeroing;
}

}  // namespace esc

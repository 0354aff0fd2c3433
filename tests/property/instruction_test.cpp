// SPDX-License-Identifier: Apache-2.0
// What an instruction means against what its text does: each example is a kernel around one or a few instructions,
// interpreted as a nest and run on the emulated grid as text, on random operands and a packed random matrix.

#include "generator/ir/instruction.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "generator/ir/performed_instructions.h"
#include "tests/property/instruction_comparison.h"
#include "tests/property/instruction_example.h"
#include "tests/support/run_size.h"

namespace esc {
namespace {

using tests::InstructionExample;

bool performs(const InstructionExample& example, const std::string& instruction) {
  return esc::performs(example.nest, instruction);
}

TEST(InstructionExamples, ThereIsOneForEachInstruction) {
  for (const Instruction& one : all_instructions()) {
    EXPECT_TRUE(std::ranges::any_of(tests::all_instruction_examples(),
                                    [&](const InstructionExample& example) { return performs(example, one.name); }))
        << one.name << " has no example in tests/property/instruction_examples_*.cpp";
  }
}

class InstructionText : public testing::TestWithParam<InstructionExample> {};

TEST_P(InstructionText, DoesWhatTheInstructionMeans) {
  const std::string text = tests::text_of(GetParam());
  EXPECT_EQ(tests::difference(GetParam(), text), "") << text;
}

[[maybe_unused]] const bool instruction_text_is_sampled = tests::sample_suite("All/InstructionText", 36);

INSTANTIATE_TEST_SUITE_P(All, InstructionText, testing::ValuesIn(tests::all_instruction_examples()),
                         [](const auto& example) { return example.param.name; });

/// A text of an instruction that is no longer what it means.
struct Mistake {
  std::string instruction;
  std::string text;
  std::string mistaken;
};

void PrintTo(const Mistake& mistake, std::ostream* stream) { *stream << mistake.instruction; }

std::vector<Mistake> mistakes() {
  return {
      {"clamp_columns", "first + v < count ? first + v : count - 1", "first + v < count ? first + v : 0"},
      {"load_part", "part.at[v] = row[columns[v]]", "part.at[v] = row[columns[0]]"},
      {"load_part", "part.at[v] = loaded.at[v]", "part.at[v] = loaded.at[0]"},
      {"store_columns", "if (v < left) {\n        to[v] = sums[v]", "if (v <= left) {\n        to[v] = sums[v]"},
      {"store_columns", "if (left > 0)", "if (left > 4)"},
      {"add_columns", "atomicAdd(to + v, sums[v])", "atomicAdd(to + v, sums[0])"},
      {"epilogue_store", "if (shared)", "if (!shared)"},
      {"store_vector", "stored.at[v] = from[v]", "stored.at[v] = from[0]"},
      {"store_to_cluster", "left[v] = sums[v]", "left[v] = sums[0]"},
      {"store_to_cluster", "__float_as_uint(left[3])", "__float_as_uint(left[2])"},
      {"load_vector", "to[v] = loaded.at[v]", "to[v] = loaded.at[0]"},
      {"add_vector", "to[v] += loaded.at[v]", "to[v] = loaded.at[v]"},
      {"add_groups", "first += upper ? count : 0", "first += upper ? 0 : count"},
      {"row_tile_at", "[tile_slot];", "[tile_slot ^ 1];"},
      {"find_row_tile", "static_cast<int>(own.packets)", "static_cast<int>(own.packets) - 1"},
      {"find_row_tile", "own.origin + tile_slot * own.packets", "own.origin + (tile_slot + 1) * own.packets"},
      {"find_packet", "packed + values_at) + packet * row_tile_height", "packed + values_at) + packet"},
      {"clear_packet", "i < 4 * row_tile_height", "i < 3 * row_tile_height"},
      {"load_packet", "four.at[part]", "four.at[3 - part]"},
      {"load_packet", "result.columns = *place.columns", "result.columns = place.columns[1]"},
      {"load_packet", "min(4 * number + step, last_column)", "min(4 * number + step, 7u)"},
      {"load_cyclic_packet", "numbers[2 * sharing_groups]", "numbers[2]"},
      {"load_cyclic_packet", "first + step * sharing_groups", "first + step"},
      {"load_cyclic_packet", "round[place_of_part(step, group, i)]",
       "round[(group + step * sharing_groups) * column_parts + i]"},
      {"multiply_packet", "packet.values[step * row_tile_height + row]", "packet.values[row * 4 + step]"},
      {"stage_packets", "packet < left ? 0 : sizeof(Piece)", "0"},
      {"stage_packets", "packet < left ? packet : left - 1", "0"},
      {"wait_for_copies", "__pipeline_wait_prior(0);", ""},
      {"load_task", "words.z & ~split_bit", "words.z"},
      {"load_pairs", "place < length ? pair.value", "place <= length ? pair.value"},
      {"multiply_pairs", "rows[i].at[v]", "rows[0].at[v]"},
      {"find_rounds", "firsts[block + 1] - firsts[block]", "firsts[1] - firsts[0]"},
      {"k_tile_at", ")[round];", ")[first_round];"},
      {"stage_packed_tile", "from + at, 16", "from, 16"},
      {"stage_packed_tile", "its < rounds", "its + 1 < rounds"},
      {"stage_k_tiles", "const from = B + k * ldb + j", "const from = B + j"},
      {"stage_k_tiles", "v < columns ? from[v]", "v < columns ? from[0]"},
      {"stage_k_tiles", "inside ? N - j : 0", "N - j"},
      {"stage_k_tiles", "held[piece] = elements", "held[0] = elements"},
      {"store_held", "iteration * iteration_k_tiles + part < rounds",
       "iteration * iteration_k_tiles + part + 1 < rounds"},
      {"store_held", "held[piece];", "held[0];"},
      {"make_barriers", "vectors ? block_row_tiles + 1 : block_row_tiles", "block_row_tiles"},
      {"make_barriers", "barrier_of(memory, 0, barrier)", "barrier_of(memory, 0, 0)"},
      {"copy_packed_tile", "its < rounds && threadIdx.x % 32 == 0", "its + 1 < rounds && threadIdx.x % 32 == 0"},
      {"copy_packed_tile", "\"l\"(packed + packed_tiles_at + packed_tile * packed_tile_bytes)",
       "\"l\"(packed + packed_tiles_at)"},
      {"copy_packed_tile", "expect_bytes(barrier, packed_tile_bytes)", "expect_bytes(barrier, packed_tile_bytes - 16)"},
      {"copy_k_tiles", "its < rounds && thread == 0", "its + 1 < rounds && thread == 0"},
      {"copy_k_tiles", "\"r\"(tile * tile_columns)", "\"r\"(0)"},
      {"copy_k_tiles", "first_round) * k_tile_columns;", "first_round);"},
      {"wait_for_operands", "iteration / stages);", "iteration);"},
      {"row_at", ")[tile_slot];", ")[tile_slot ^ 1];"},
      {"make_ring_barriers", "vectors ? 2 : 33", "vectors ? 1 : 33"},
      {"make_ring_barriers", "vectors ? 2 : 33", "2"},
      {"copy_lists", "static_cast<size_t>(begin) * 16", "static_cast<size_t>(end) * 16"},
      {"copy_lists", "const unsigned int bytes = (end - begin) * 16",
       "const unsigned int bytes = (end - begin) * 16 - 16"},
      {"list_begin", "[list]", "[list + 1]"},
      {"copy_rows", "\"r\"(k_tile * k_tile_columns)", "\"r\"(0)"},
      {"copy_rows", "\"r\"(tile * tile_columns)", "\"r\"(0)"},
      {"copy_rows", "iteration == 0 ? 0 : iteration + 1", "iteration + 1"},
      {"copy_rows", "iteration + 2 < k_tiles ? iteration + 2 : k_tiles", "iteration + 1"},
      {"copy_rows", "    __pipeline_wait_prior(0);\n", ""},
      {"wait_for_iteration", "\"r\"(phase % 2)", "\"r\"((phase + 1) % 2)"},
      {"wait_for_iteration", "iteration / list_stages);", "iteration);"},
      {"wait_for_release", "release_of(iteration)", "release_of(iteration + 1)"},
      {"wait_for_release", "if (iteration >= list_stages) {", "if (iteration >= k_tiles) {"},
      {"release_iteration", "iteration + list_stages < k_tiles", "iteration + 3 < k_tiles"},
      {"multiply_gathered", "multiply(u, now.z, now.w);", ""},
      {"multiply_gathered", "entries += warp_rows;", ""},
      {"multiply_gathered", "+ begin + place", "+ begin"},
      {"multiply_gathered", "[set + 1] - begin", "[block_sets] - begin"},
      {"multiply_gathered", "rows + lane * 16", "rows"},
      {"multiply_gathered", "sums[e] += of_iteration[e];", "sums[e] = of_iteration[e];"},
      {"multiply_gathered", "(own + row)", "(own)"},
      {"multiply_split_steps", "step.rows >> (r * 8) & 255", "step.rows & 255"},
      {"multiply_split_steps", "metadata_at)[(step * m16_tiles + s) * 16 + lane / 4 * 2 + lane % 2]",
       "metadata_at)[lane / 4 * 2 + lane % 2]"},
      {"multiply_split_steps", "(packed_tile)[((first_step + link) * m16_tiles + m16_tile) * 32 + lane]",
       "(packed_tile)[(first_step + link) * m16_tiles * 32 + lane]"},
      {"multiply_split_steps", "number - __uint_as_float(leading & 0xffffe000)", "0"},
      {"multiply_split_steps", "add_step(rest_a[link][s], leading_b, own[link], s, products[s]);", ""},
      {"multiply_split_steps", "add_step(leading_a[link][s], rest_b, own[link], s, products[s]);", ""},
      {"multiply_split_steps", "first_step + link >= steps_end", "link > 0"},
      {"multiply_split_steps", "first <= t", "true"},
      {"multiply_split_dense_steps", "(first_step + link) * 8 + lane % 4", "(first_step + link) * 8"},
      {"multiply_split_dense_steps", "step.first_row + r * 4", "step.first_row + r"},
      {"multiply_split_dense_steps", "\"r\"(b[0]), \"r\"(b[1])", "\"r\"(b[1]), \"r\"(b[0])"},
      {"multiply_split_dense_steps", "add_step(rest_a[link][s], leading_b, own[link], s, products[s]);", ""},
      {"multiply_split_dense_steps", "first_step + link >= steps_end", "link > 2"},
      {"multiply_rounded_steps", "t < end", "t <= end"},
      {"multiply_rounded_steps", "first_step, link, n8_range", "first_step, 0, n8_range"},
      {"multiply_split_dense_steps", "(first_step / unrolled_steps * m16_tiles + m16_tile)",
       "(first_step / unrolled_steps + m16_tile)"},
      {"multiply_split_dense_steps", "* row_sets + lane / 4;", "* row_sets;"},
      {"multiply_split_dense_steps", "0x4410 + lane % 4 * 0x22", "0x4410"},
      {"multiply_rounded_dense_steps", "packed_tile + begins_at)[four]", "packed_tile + begins_at)[0]"},
      {"multiply_rounded_dense_steps", "begin + __popc(bits.x & static_cast<unsigned int>(of_lanes_in_front))",
       "begin"},
      {"multiply_rounded_dense_steps", "of_lanes_in_front >> 32", "of_lanes_in_front"},
      {"multiply_split_dense_steps", "list.first + __popc(list.bits & ((1u << link * elements) - 1))", "list.first"},
      {"multiply_split_dense_steps", "is_listed ? *from : 0;", "*from;"},
      {"multiply_split_dense_steps", "!n8_range.has(t)", "false"},
      {"multiply_split_dense_steps", "link * 4 + r) & 1", "r) & 1"},
      {"multiply_split_dense_steps", "first_of_step(list, link, 4)", "list.first"},
      {"multiply_rounded_dense_steps", "from += is_listed ? 1 : 0", "from += 1"},
      {"multiply_rounded_dense_steps", "step.first_row + r * 4", "step.first_row"},
      {"multiply_rounded_dense_steps", "first_step + link < steps_end", "link < 3"},
      {"multiply_rounded_steps", "step.rows >> (r * 8) & 255", "step.rows & 255"},
      {"multiply_rounded_steps", "metadata_at)[(step * m16_tiles + s) * 16 + lane / 4 * 2 + lane % 2]",
       "metadata_at)[lane / 4 * 2 + lane % 2]"},
      {"multiply_rounded_steps", "0x1p-11f", "0x1p-10f"},
      {"multiply_rounded_steps", "sums + 4 * (t * m16_tiles + s)", "sums + 4 * t"},
      {"multiply_rounded_steps", "first_step + link < steps_end", "link < 1"},
      {"place_split_values",
       "*reinterpret_cast<uint4*>(to + member * share_bytes + byte + (byte < share_bytes ? 0 : table_bytes - "
       "share_bytes)) = make_uint4(0, 0, 0, 0);",
       ""},
      {"place_split_values", "byte < share_bytes ? 0 : table_bytes - share_bytes", "0"},
      {"place_split_values", "byte < share_bytes ? 0 : table_bytes - share_bytes",
       "byte < share_bytes ? 0 : table_bytes"},
      {"place_split_values", "at < tables * share_bytes; at", "at < share_bytes; at"},
      {"place_split_values", "  __syncwarp();\n#pragma unroll\n  for (int i", "#pragma unroll\n  for (int i"},
      {"place_split_values", "if constexpr (four_warps_multiply) {\n    asm volatile(\"fence.proxy",
       "if constexpr (false) {\n    asm volatile(\"fence.proxy"},
      {"place_split_values", "placed + row_tile * row_tile_bytes", "placed"},
      {"place_split_values", "tables * share_bytes % (32 * 16) == 0 || byte < tables * share_bytes", "true"},
      {"place_split_values", "to + (place >> 16)", "to + (place >> 16) + 4"},
      {"place_split_values", "two_halves(leading, scaled - leading)", "two_halves(scaled, scaled - leading)"},
      {"place_split_values", "two_halves(leading, scaled - leading)", "two_halves(leading, scaled)"},
      {"place_split_values", "two_halves(leading, scaled - leading)", "two_halves(scaled - leading, leading)"},
      {"place_split_values", "(parts >> 16)", "(parts)"},
      {"place_split_values", "(to + table_bytes)", "(to)"},
      {"place_split_values", "(to + table_bytes)", "(to + tile_bytes)"},
      {"place_split_values", "begins[1] / 2", "begins[0] / 2 + 32"},
      {"place_split_values", "begins[0] / 2 + lane", "lane"},
      {"place_split_values", "(packed_tile) + member", "(packed_tile)"},
      {"place_split_values", "firsts[block + 1] - firsts[block]", "1"},  // of several rounds
      {"place_rounded_values", "(buffer * iteration_k_tiles + part) * placed_bytes",
       "buffer * iteration_k_tiles * placed_bytes"},
      {"place_rounded_values", "(buffer * iteration_k_tiles + part) * placed_bytes", "part * placed_bytes"},
      {"place_rounded_values", "meet_those_who_place(part, iteration);", "meet_those_who_place(part, 0);"},
      {"place_rounded_values", "iteration % 2 * roles", "0 * roles"},
      {"place_rounded_values", "arrive_as(1, part, iteration);", ""},
      {"place_rounded_values", "wait_for_role(0, part, iteration);", ""},
      {"place_rounded_values", "(2 * roles * iteration_k_tiles + 1)", "(2 * roles * iteration_k_tiles)"},
      {"place_rounded_values", "iterations + 1", "iterations"},
      {"place_rounded_values", "early_stages = stages - 2", "early_stages = stages - 1"},
      {"place_rounded_values", "meet_multiplying();", ""},
      {"multiply_split_placed", "asm volatile(\"wgmma.fence.sync.aligned;\" : : : \"memory\");", ""},
      {"multiply_split_placed", "asm volatile(\"wgmma.commit_group.sync.aligned;\" : : : \"memory\");", ""},
      {"multiply_split_placed", "asm volatile(\"wgmma.wait_group.sync.aligned 0;\" : : : \"memory\");", ""},
      {"multiply_split_placed", "static_cast<unsigned long long>(bytes_of_rows >> 4) << 32",
       "static_cast<unsigned long long>(tile_bytes >> 4) << 32"},
      {"multiply_split_placed", "first / 8 * bytes_of_rows", "first / 8 * tile_bytes"},
      {"multiply_split_placed", "step * 2 * tile_bytes", "step * tile_bytes"},
      {"multiply_split_placed", "matrix_of(placed) + (at >> 4)", "matrix_of(placed)"},
      {"multiply_split_placed", "placed + at + e * bytes_of_rows", "placed + e * bytes_of_rows"},
      {"multiply_split_placed", "\"+f\"(sum[2]), \"+f\"(sum[1])", "\"+f\"(sum[1]), \"+f\"(sum[2])"},
      {"multiply_split_placed", "step > 0, lane", "true, lane"},
      {"multiply_split_placed", "products, rest[step]", "products, leading[step]"},
      {"multiply_split_placed", "placed, table_bytes + placed_step_at(step, first), true",
       "placed, table_bytes + placed_step_at(step, first), step > 0"},  // no rests of B
      {"multiply_split_placed",
       "add_product(products, leading[step], placed, table_bytes + placed_step_at(step, first), true, lane);", ""},
      {"multiply_split_placed",
       "add_product(products, leading[step], placed, placed_step_at(step, first), true, lane);", ""},
      {"multiply_split_placed", "leading[step], placed, table_bytes + placed_step_at",
       "leading[step], placed, placed_step_at"},
      {"multiply_split_placed", "leading[step], placed, placed_step_at",
       "leading[step], placed, table_bytes + placed_step_at"},
      {"multiply_split_placed", "rest[step], placed, placed_step_at",
       "rest[step], placed, table_bytes + placed_step_at"},
      {"multiply_split_placed", "table_bytes = placed_bytes / tables", "table_bytes = bytes_of_rows"},
      {"multiply_split_placed", "product_steps = packed_tile_steps / 2", "product_steps = packed_tile_steps / 4"},
      {"multiply_split_placed", "elements[2 * step + e / 2] + e % 2", "elements[step + e / 2 * 2] + e % 2"},
      {"multiply_split_placed", "elements[2 * step + e / 2] + e % 2", "elements[2 * step + e % 2] + e / 2"},
      {"multiply_split_placed", "of_column[0] * scale[e % 2]", "of_column[0] * scale[0]"},
      {"multiply_split_placed", "of_column[2] * scale[e % 2]", "of_column[0] * scale[e % 2]"},
      {"multiply_split_placed", "two_halves(leading_part(first), leading_part(second))",
       "two_halves(leading_part(second), leading_part(first))"},
      {"multiply_split_placed", "two_halves(leading_part(first), leading_part(second))", "two_halves(first, second)"},
      {"multiply_split_placed", "two_halves(first - leading_part(first), second - leading_part(second))",
       "two_halves(second - leading_part(second), first - leading_part(first))"},
      {"multiply_split_placed", "two_halves(first - leading_part(first), second", "two_halves(first, second"},
      {"multiply_split_placed", "lanes < 4; lanes *= 2", "lanes < 2; lanes *= 2"},
      {"multiply_split_placed", "exponent_of_packed_tile(packed_tiles + row_tile * packed_tile_bytes)",
       "exponent_of_packed_tile(packed_tiles)"},
      {"multiply_split_placed", "(first + i / 4 * 8) / row_tile_height", "0"},
      {"multiply_split_placed", "max(14, 156 - greatest_of_A)", "156 - greatest_of_A"},
      {"multiply_split_placed", "max(exponent, max(14, 156 - greatest_of_A))", "max(exponent, 14)"},
      {"multiply_split_placed", "max(greatest_of_A, exponent_of_A[row_tile])", "exponent_of_A[row_tile]"},
      {"multiply_split_placed", "exponent > -23 ? 1 << (22 + exponent) : 0", "0"},
      {"multiply_split_placed", "exponent_of_B - 155", "exponent_of_B - 154"},
      {"multiply_split_placed", "exponent[i % 2]), sum);", "exponent[i % 2]), 0);"},
      {"multiply_split_placed", "step * 8 + r * 4 + lane % 4", "step * 8 + r + lane % 4"},
      {"multiply_split_placed", "\"r\"(tiles[tile_bytes / 4])", "\"r\"(tiles[0])"},
      {"multiply_split_placed", "if (!adds)", "if (false)"},
      {"multiply_rounded_placed", "0x1p-11f", "0x1p-10f"},
      {"multiply_rounded_placed", "warp * warp_columns + lane / 4 * 2", "lane / 4 * 2"},
      {"multiply_rounded_placed", "b[step], placed, placed_step_at(step, first)",
       "b[step], placed, placed_step_at(0, first)"},
      {"multiply_rounded_placed", "end_products(sums);", ""},
      {"stage_columns", "K - k < vector_width ? K - k : vector_width", "vector_width"},
      {"stage_columns", "rows < vector_width ? nullptr", "rows < 1 ? nullptr"},
      {"stage_columns", "row_of_B(k, ldb).distance", "row_of_B(0, ldb).distance"},
      {"stage_columns", "element_of_B(row_of_B(k + r, ldb)", "element_of_B(row_of_B(k, ldb)"},
      {"stage_columns", "element_at(row, column), B", "element_at(column, row), B"},
      {"stage_elements", "k < K && j < N", "k < K - 1 && j < N"},
      {"stage_elements", "element_at(row, column), element", "element_at(column, row), element"},
      {"stage_elements", "element != nullptr ? 0 : bytes", "0"},
      {"stage_patches", "K - k < k_tile_columns ? K - k : k_tile_columns", "k_tile_columns"},
      {"stage_patches", "position_of_tap(there % channel_taps)", "position_of_tap(0)"},
      {"stage_patches", "there / channel_taps - first_channel", "0"},
      {"stage_patches", "position_of_column(there, item) - first_position", "position_of_column(there, item)"},
      {"stage_patches", "first_position + tap_positions + 1", "first_position + 1"},
      {"stage_patches", "inside ? 0 : sizeof(float)", "0"},
      {"find_packed_tile", "begins + number)", "begins)"},
      {"find_packed_tile", "begins + number + 1)", "begins + number) + 1"},
      {"make_packed_tile_barriers", "lane < packed_tile_stages", "lane < 1"},
      {"make_packed_tile_barriers", "memory, lane, copy)), \"r\"(1)", "memory, 0, copy)), \"r\"(1)"},
      {"copy_bitmap_packed_tile", "(packed_tile[1] - packed_tile[0]) * 32",
       "(packed_tile[1] - packed_tile[0]) * 32 - 32"},
      {"copy_bitmap_packed_tile", "static_cast<size_t>(packed_tile[0]) * 32", "0"},
      {"copy_bitmap_packed_tile", "at = lane * 16; at < bytes", "at = lane * 16; at + 16 < bytes"},
      {"copy_bitmap_packed_tile", "at += 512", "at += 1024"},
      {"copy_bitmap_packed_tile", "from + at, 16", "from, 16"},
      {"issue_packed_tile", "\"l\"(bytes_of_packed_tile(packed, packed_tile)), \"r\"(bytes)",
       "\"l\"(bytes_of_packed_tile(packed, packed_tile)), \"r\"(bytes - 16)"},
      {"wait_for_packed_tile", "iteration / packed_tile_stages);", "iteration);"},
      {"wait_for_packed_tile", "__pipeline_wait_prior(commits_behind_packed_tile);", ""},
      {"find_words", "first + lane * 4", "first"},
      {"find_words", "- 16 * 128", "- 15 * 128"},
      {"find_words", "place % 32 * 4", "lane * 4"},
      {"find_words", "(place & 32) != 0", "(place & 64) != 0"},
      {"find_words", "% 256", "% 16"},
      {"load_bits", "half * 32 + lane", "lane"},
      {"find_places", "bits >> 1 & ~bits & 0x55555555u", "bits >> 1 & 0x55555555u"},
      {"find_places", "~bits & 0x55555555u", "~bits & 0x11111111u"},
      {"find_places", "bits >> 2 * upper", "bits"},
      {"find_places", "codes >> 1 & ~codes & each_nibble", "codes >> 1 & each_nibble"},
      {"find_places", "nibbles * (each_nibble - 1)", "nibbles * each_nibble"},
      {"find_places", "sums_below(single) + singles * each_nibble", "sums_below(single)"},
      {"find_places", " + pairs * each_nibble", ""},
      {"find_places", "all_pairs * each_nibble + (before", "(before"},
      {"find_places", ">> 1 & 0x77777777u", ">> 1 & 0x33333333u"},
      {"find_places", "of_single & single * 15", "of_single & single * 7"},
      {"find_places", "~(single * 15)", "~single"},
      {"find_places", "direction > 0 ? rows : ~rows", "rows"},
      {"find_places", " | (before << 2 & 0x44444444u)", ""},
      {"find_places", "pairs += __popc(pair);", ""},
      {"find_places", "singles += __popc(single);", ""},
      {"find_places", "(singles + 1) / 2", "singles / 2"},
      {"find_places", "direction * 128", "128"},
      {"load_a", "places.codes[first / 8]", "places.codes[0]"},
      {"load_a", "upper_half(all_codes)", "all_codes"},
      {"load_a", "0x44101044u", "0x44441044u"},  // two
      {"load_a", "0x44101044u", "0x44104444u"},  // the first alone
      {"load_a", "0x44103244u", "0x44101044u"},  // the first alone, in the upper half
      {"load_a", "0x44103244u", "0x44443244u"},  // two where the next value of its own would be in the upper half
      {"load_a", "0x10324444u", "0x32324444u"},  // the second alone
      {"load_a", "0x10324444u", "0x10104444u"},  // two
      {"load_a", "0x32324444u", "0x10324444u"},  // the second alone, in the upper half
      {"load_a", "0x32324444u", "0x32104444u"},  // two, likewise
      {"load_a", "128u : 8u", "128u : 128u"},
      {"load_a", "<< p % 8 / 2 * 8", ""},
      {"load_a", "places.rows[p / 8]", "places.rows[0]"},
      {"load_a", "0xf0f0f0f0u", "0x0f0f0f0fu"},
      {"load_a", "address_of_word(places, first + r)", "address_of_word(places, r)"},
      {"load_a", "0x5140u + 0x1111u * r", "0x5140u"},
      {"load_a", "upper_half(digits)", "digits"},
      {"load_a", "0x5140u + 0x1111u * r", "0x1504u + 0x1111u * r"},
      {"store_a", "h * 8 + lane / 4", "lane / 4"},
      {"store_a", "h * 8 + lane / 4", "h * 8 + lane % 8"},
      {"store_a", "takes_four(A, lda) && ", ""},
      {"store_a", " && first_column + 16 <= columns", ""},
      {"store_a", "lane % 2 * 8 + lane % 4 / 2 * 4", "lane % 4 * 4"},
      {"store_a", "1, lane, i < rows", "1, lane, true"},
      {"store_a", "e / 2 * 8 + lane % 4 * 2 + e % 2", "e / 2 * 8 + lane % 4 + e % 2"},
      {"store_a", "i < rows && first_column", "first_column"},
      {"store_a", "first_column + k < columns", "k < columns"},
      {"store_a", ">> 16 * (e % 2)", ""},
      {"store_tile", "first_row + lane / 4", "first_row + lane % 8"},
      {"store_tile", "lane % 2 * 8 + lane % 4 / 2 * 4", "lane % 4 * 4"},
      {"store_tile", "(i + 8 * h) * ldc", "i * ldc"},
      {"store_tile", "i + 8 * h < rows", "i < rows"},
      {"store_tile", "narrow_pair(sums + 4 + 2 * h)", "narrow_pair(sums + 4)"},
      {"store_tile", "? 0x5410 : 0x3276", "? 0x5410 : 0x7632"},
      {"store_tile", "lane / 8 % 2 * 8 + lane / 16 * 4", "lane / 8 * 4"},
      {"store_tile", "lane % 4 * 2 + lane / 4 % 2", "lane % 4 * 2"},
      {"store_tile", "(j + 8 * e) * ldc", "j * ldc"},
      {"store_tile", "j + 8 * e < columns", "j < columns"},
      {"store_tile", "? first : second, distance", "? second : first, distance"},
      {"store_tile", "has_second ? other : first", "first"},
      {"takes_tiles", "static_cast<size_t>(ldc) * sizeof(__half)) %", "0u) %"},
      {"store_words", "r % 2 * 8 + lane / 4", "r % 2 * 8"},
      {"store_words", "r / 2 * 8 + lane % 4 * 2", "lane % 4 * 2"},
      {"store_words", "r / 2 * 8 + lane % 4 * 2", "r / 2 * 8 + lane % 4"},
      {"store_words", "places.codes[first / 8]", "places.codes[0]"},
      {"store_words", ">> (first + r) % 8 * 4 & 3;", "& 3;"},
      {"store_words", "distance = address_of_word(places, first + r)", "distance = address_of_word(places, first)"},
      {"store_words", "code % 4 == 2", "code == 2"},
      {"store_words", "code % 4 != 0", "true"},
      {"store_words", "to[code / 4 % 2]", "to[0]"},
      {"store_words", "values[r] >> code % 4 / 2 * 16", "values[r]"},
      {"store_words", "from[1]) << 16", "from[0]) << 16"},
      {"place_packed_tile", "number * packed_tile_pieces", "0"},
      {"place_packed_tile", "packed_tile[0] + packed_tile_pieces", "packed_tile[0]"},
      {"copy_sparse24_packed_tile", "static_cast<size_t>(packed_tile[0]) * 32", "0"},
      {"copy_sparse24_packed_tile", "(packed_tile[1] - packed_tile[0]) * 32",
       "(packed_tile[1] - packed_tile[0]) * 32 - 32"},
      {"load_sparse_a", "(block * 2 + group) * 32 + lane", "(block * 2 + group) * 32"},
      {"load_sparse_a", "(block * 2 + group) * 32 + lane", "block * 64 + lane"},
      {"load_sparse_a", "(block * 2 + group) * 32 + lane", "group * 32 + lane"},
      {"load_sparse_a", "packed_tile + values_at", "packed_tile"},
      {"load_sparse_a", "a[1] = registers.y", "a[1] = registers.z"},
      {"mma_sp", "group == 0", "group == 1"},
      {"mma_sp", "group == 0", "true"},
      {"mma_sp", "\"r\"(a[1]), \"r\"(a[2])", "\"r\"(a[2]), \"r\"(a[1])"},
      {"mma_sp", "\"r\"(b[0][1]), \"r\"(b[1][0])", "\"r\"(b[1][0]), \"r\"(b[0][1])"},
      {"mma_sp", "\"+f\"(sums[1]), \"+f\"(sums[2])", "\"+f\"(sums[2]), \"+f\"(sums[1])"},
      {"store_sparse_a", "lane / 4 * 4 + group * 2 + r / 2", "lane / 4 * 4 + group * 2"},
      {"store_sparse_a", "lane / 4 * 4 + group * 2 + r / 2", "lane / 4 * 4 + r / 2"},
      {"store_sparse_a", "(block / 2 * 32 + owner) * 2 + block % 2", "owner * 2 + block % 2"},
      {"store_sparse_a", "(block / 2 * 32 + owner) * 2 + block % 2", "(block / 2 * 32 + owner) * 2"},
      {"store_sparse_a", "r % 2 * 16 + lane % 4 * 4", "lane % 4 * 4"},
      {"store_sparse_a", "r % 2 * 16 + lane % 4 * 4", "r % 2 * 16"},
      {"store_sparse_a", "a[r] >> 16", "a[r] & 0xffff"},
      {"store_sparse_a", "places % 4 * 16", "0"},
      {"store_sparse_a", "places / 4 * 16", "places % 4 * 16"},
      {"store_sparse_a", "first_row + r % 2 * 8 + lane / 4", "first_row + lane / 4"},
      {"store_sparse_a", "(r / 2 * 4 + lane % 4) * 4", "lane % 4 * 4"},
      {"store_sparse_a", "k + e < columns", "true"},
      {"store_sparse_a", "four >> 16 * e", "four"},
      {"store_sparse_words", "places % 4 < columns ? from[places % 4]", "places % 4 < columns ? from[0]"},
      {"store_sparse_words", "from[places / 4]) << 16", "from[places % 4]) << 16"},
      {"store_sparse_words", "(block * 2 + group) * 32 + lane] = ", "block * 64 + lane] = "},
      {"store_sparse_words", "make_uint4(words[0], words[1]", "make_uint4(words[1], words[0]"},
      {"load_b", "piece_at(row + lane, n8_tile)", "piece_at(row + lane, 0)"},
      {"load_b", "piece_at(row + lane, n8_tile)", "piece_at(lane, n8_tile)"},
      {"load_b", "^ row / 8 * 16", ""},
      {"load_b", " + piece_at(n8_tile * 8, 0)", ""},
      {"load_b", "\"=r\"(b[0][1]), \"=r\"(b[1][0])", "\"=r\"(b[1][0]), \"=r\"(b[0][1])"},
      {"load_b", ".x4.trans", ".x4"},
      {"mma", "\"r\"(b[0]), \"r\"(b[1])", "\"r\"(b[1]), \"r\"(b[0])"},
      {"mma", "\"r\"(a[1]), \"r\"(a[2])", "\"r\"(a[2]), \"r\"(a[1])"},
      {"mma", "\"+f\"(sums[1]), \"+f\"(sums[2])", "\"+f\"(sums[2]), \"+f\"(sums[1])"},
      {"copy_tile_rows", "inside ? 16 : 0", "inside ? 8 : 0"},
      {"copy_tile_rows", "(inside ? k : 0) * ldb", "0"},
      {"copy_tile_rows", "k < K) && j < N", "k < K - 1) && j < N"},
      {"copy_tile_rows", "k = first_row + row", "k = row"},
      {"copy_tile_rows", "j = tile * tile_columns + piece * vector_width", "j = piece * vector_width"},
      {"copy_tile_rows", "tile_columns + piece * vector_width", "tile_columns"},
      {"copy_tile_rows", "turn * consumer_group_threads", "2 * turn * consumer_group_threads"},
      {"copy_tile_rows", "inside && j + v < N ? B[k * ldb + j + v]", "inside ? B[k * ldb + j + v]"},
      {"copy_tile_rows", "? B[k * ldb + j + v]", "? B[k * ldb + j]"},
      {"copy_tile_columns", "K - k < vector_width ? K - k : vector_width", "vector_width"},
      {"copy_tile_columns", "is_column ? rows : 0", "rows"},
      {"copy_tile_columns", "(j < N ? j : 0) * ldb + (k < K ? k : 0)", "(j < N ? j : 0) * ldb"},
      {"copy_tile_columns", "(j < N ? j : 0) * ldb + (k < K ? k : 0)", "(k < K ? k : 0)"},
      {"copy_tile_columns", "rows * static_cast<unsigned int>", "rows / 2 * static_cast<unsigned int>"},
      {"copy_tile_columns", "first_row + piece * vector_width", "piece * vector_width"},
      {"copy_tile_columns", "j = tile * tile_columns + column;", "j = column;"},
      {"copy_tile_columns", "r < rows_of_piece(k, j < N)", "r + 1 < rows_of_piece(k, j < N)"},
      {"copy_tile_columns", "row_of_B(k + r, ldb)", "row_of_B(k, ldb)"},
      {"uses_boxes", "static_cast<size_t>(ldb) * sizeof(", "0 * sizeof("},
      {"make_stage_barriers", "i < tile_stages * iteration_k_tiles", "i < 1"},
      {"make_stage_barriers", "barrier_of_tile(memory, 0, i), 1)", "barrier_of_tile(memory, 0, 0), 1)"},
      {"issue_packed_tile", "(packed_tile[1] - packed_tile[0]) * 32, barrier",
       "(packed_tile[1] - packed_tile[0]) * 32 - 32, barrier"},
      {"issue_packed_tile", "barrier_of_packed_tile(memory, stage, copy);", "barrier_of_packed_tile(memory, 0, copy);"},
      {"issue_packed_tile", "packed_tile_at(memory, packed_tile_room, stage, copy)",
       "packed_tile_at(memory, packed_tile_room, 0, copy)"},
      {"copy_tile_box", "expect_bytes(barrier, tile_bytes)", "expect_bytes(barrier, tile_bytes - 16)"},
      {"copy_tile_box", "box * tile_rows * 128", "0"},
      {"copy_tile_box", "tile_at(memory, stage, part)), barrier", "tile_at(memory, 0, part)), barrier"},
      {"copy_tile_box", "barrier_of_tile(memory, stage, part);", "barrier_of_tile(memory, 0, part);"},
      {"copy_tile_box", "if (thread == 0)", "if (thread <= 1)"},
      {"wait_for_tile", "number / tile_stages);", "number);"},
      {"wait_for_tile", "wait_for_phase(barrier_of_tile(memory, stage, part), number / tile_stages);", ""},
      {"fence_proxy_async",
       "asm volatile(\"fence.proxy.async.shared::cta;\" : : : \"memory\");\n  }\n}\n\n// Before products",
       "}\n}\n\n// Before products"},
      {"warpgroup_arrive", "asm volatile(\"wgmma.fence.sync.aligned;\" : : : \"memory\");", ""},
      {"warpgroup_commit", "asm volatile(\"wgmma.commit_group.sync.aligned;\" : : : \"memory\");", ""},
      {"warpgroup_wait", "\"n\"(pending)", "\"n\"(pending + 1)"},
      {"warpgroup_wait_all", "warpgroup_wait<0>();", ""},
      {"wgmma", "static_cast<unsigned long long>(8 * ", "static_cast<unsigned long long>(4 * "},
      {"wgmma", "1ull << 62", "2ull << 62"},
      {"wgmma", "row / 16 * ", "0 * "},
      {"wgmma", "sums + 4 * n8_tile", "sums"},
      {"wgmma", "row / 32 * 32", "0"},
      {"wgmma", "row / 16 % 2", "0"},
      {"add_residuals", "(place >> 8) == r ? value : 0", "true ? value : 0"},
      {"add_residuals", "(place >> 8) == r ? value : 0", "(place >> 8 & 1) == r ? value : 0"},
      {"add_residuals", "is_there && (place", "(place"},
      {"add_residuals", "is_there ? first + i : first", "first"},
      {"add_residuals", "place = residual.y", "place = 0"},
      {"find_residuals", "row_set == 0 ? 0 : ends[row_set - 1]", "0"},
      {"wait_for_stage", "__pipeline_wait_prior(early_stages - 1);", ""},
      {"take_registers", "setmaxnreg.inc", "setmaxnreg.dec"},
      {"leave_registers", "setmaxnreg.dec", "setmaxnreg.inc"},
      {"leave_registers", "asm volatile(\"setmaxnreg.dec.sync.aligned.u32 %0;\" : : \"n\"(registers) : \"memory\");",
       ""},
      {"commit_copies", "__pipeline_commit();", ""}};
}

class InstructionMistake : public testing::TestWithParam<Mistake> {};

/// The examples of small matrices first: the largest take up to seven seconds each.
std::vector<InstructionExample> small_ones_first() {
  constexpr std::int64_t small = 16000;  // elements
  std::vector<InstructionExample> examples = tests::all_instruction_examples();
  std::ranges::stable_partition(examples, [](const InstructionExample& example) {
    return example.matrix.rows * example.matrix.columns <= small;
  });
  return examples;
}

/// That the comparison above can fail: it does, in an example of the instruction, for a mistake in its text.
TEST_P(InstructionMistake, IsFound) {
  const Mistake& mistake = GetParam();
  std::vector<InstructionExample> examples = small_ones_first();
  std::erase_if(examples, [&](const InstructionExample& example) { return !performs(example, mistake.instruction); });
  // Nearly all mistakes show in the first product of an example.
  for (const bool is_first_try : {true, false}) {
    for (InstructionExample example : examples) {
      std::string text = tests::text_of(example);
      if (const auto at = text.find(mistake.text); at != text.npos) {
        text.replace(at, mistake.text.size(), mistake.mistaken);
        example.products = is_first_try ? 1 : example.products;
        if (const std::string found = tests::difference(example, text); !found.empty()) {
          RecordProperty("found", found);
          return;
        }
      }
    }
  }
  FAIL() << mistake.instruction << " with '" << mistake.mistaken << "' does in all examples what it means";
}

[[maybe_unused]] const bool instruction_mistake_is_sampled = tests::sample_suite("All/InstructionMistake", 44);

INSTANTIATE_TEST_SUITE_P(All, InstructionMistake, testing::ValuesIn(mistakes()), [](const auto& mistake) {
  return fmt::format("{}_{}", mistake.param.instruction, mistake.index);
});

/// An instruction without a meaning orders memory alone.
TEST(InstructionMistakes, ThereIsOneForEachMeaning) {
  const std::vector<Mistake> all = mistakes();
  for (const Instruction& one : all_instructions()) {
    EXPECT_TRUE(one.meaning.empty() || std::ranges::count(all, one.name, &Mistake::instruction) > 0) << one.name;
  }
}

}  // namespace
}  // namespace esc

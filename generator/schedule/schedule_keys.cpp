// SPDX-License-Identifier: Apache-2.0
#include "generator/schedule/schedule_keys.h"

#include <algorithm>

#include "generator/support/error.h"

namespace esc {
namespace {

constexpr ScheduleKey pdl{"pdl", "on|off",
                          "programmatic dependent launch: weights are read before the kernel before has ended", "pdl"};

}  // namespace

const std::vector<ScheduleFamily>& schedule_families() {
  static const std::vector<ScheduleFamily> families{
      {"panel",
       "a block owns row tiles; CUDA cores, explicit zeros where a row of a tile lacks a column",
       {{"tile", "MxN", "rows and columns of C of a block", "panels ufi columns"},
        {"thread", "MxN", "rows and columns of C of a lane; the rows are a row tile", "ufi vector"},
        {"split_k", "NUMBER", "warps that divide the columns of A of a row tile between them", "warps"},
        {"lane_groups", "NUMBER", "lane groups of a warp that do so, too", "groups"},
        {"unroll_k", "NUMBER", "columns of A that a lane group loads at once", "ufk"},
        {"stage_a", "on|off", "a warp copies its part of A to shared memory first", "stage"},
        pdl}},
      {"rows",
       "rows cut into tasks, longest first; only rows that were cut are added atomically",
       {{"tile", "1xN", "columns of C of a block, for one row at a time", "columns"},
        {"thread", "1xN", "columns of C of a lane", "vector"},
        {"unroll_k", "NUMBER", "non-zeros that a lane group loads at once", "unroll"},
        {"task", "NUMBER", "most non-zeros of a task", "task"},
        {"light", "NUMBER", "most non-zeros of a task that one lane group takes; a warp takes others", "light"},
        {"warps", "NUMBER", "warps of a block", "warps"},
        pdl}},
      {"stream",
       "weights stream from memory through the sparse tensor cores (mma.sp)",
       {{"tile", "MxKxN",
         "rows of C, columns of A of a K tile and columns of C of a block; K is 256, which stand for 128 columns, or "
         "32 with format=decompress",
         "panels rows columns"},
        {"warp_m", "NUMBER", "rows of C of a warp (default: all of the tile up to 32, else 16)", "rows"},
        {"warps", "NUMBER", "warps of a block; those with the same rows take K tiles in turn (split-K)", "warps"},
        {"stages", "NUMBER", "main-loop iterations whose operands are in shared memory or on their way", "stages"},
        {"copy", "cp_async|bulk_a|tma",
         "who copies to shared memory: lanes, the bulk engine for A and lanes for B, or the engine for both (TMA)",
         "copies"},
        {"split_k", "NUMBER", "warps that divide a K tile between them", "share"},
        {"cluster", "NUMBER", "blocks of a cluster that take K tiles in turn", "cluster"},
        {"warp_specialized", "on|off", "as many warps again copy and decompress, an iteration ahead", "ahead"},
        {"format", "sparse24|dense|bitmap|decompress",
         "A in shared memory: one of two columns, all of them, a bit for each, or non-zeros that warps decompress",
         "dense"},
        pdl}},
      {"gather",
       "each row has a list of its own and gathers rows of B from shared memory",
       {{"tile", "MxKxN", "rows of C, columns of A at a time (256) and columns of C (32) of a block", "warps sets"},
        {"warps", "NUMBER", "warps of a block that multiply, each four rows at once", "warps"},
        pdl}},
      {"bitmap",
       "a bit for each weight; 16 bits, one packed matrix for every N, dense tensor cores",
       {{"tile", "MxKxN", "rows of C, columns of A at a time (256) and columns of C of a block", "panels columns"},
        {"warps", "NUMBER", "warps of a block; those with the same 16 rows take K tiles in turn (split-K)", "warps"},
        {"stages", "NUMBER", "K steps of B that a warp has in shared memory or on their way", "stages"},
        {"stages_a", "NUMBER", "packed A tiles, likewise", "units"},
        {"step", "NUMBER", "columns of A of a K step, where each warp multiplies by itself: 128 or 256", "step"},
        {"mma", "mma|wgmma", "who multiplies at once: a warp, or four of them (sm_90a)", "mma"},
        {"cluster", "NUMBER", "blocks of a cluster that take K tiles in turn", "cluster"},
        {"format", "bitmap|sparse24",
         "A: a bit for each weight, or two of each four for the sparse tensor core (mma.sp)", "format"},
        pdl}},
      {"atomic",
       "the paper's kernel: a block for each pattern of a row tile, atomic adds",
       {{"thread", "MxN", "rows of a row tile, and columns of C of a thread (UFi and WarpTile)", "ufi warptile"},
        {"unroll_k", "NUMBER", "enumerated columns of A per iteration (UFk)", "ufk"},
        {"threads", "NUMBER", "threads of a block (ThreadBlockSize)", "threads"},
        {"compaction", "on|off", "one body for each number of rows in place of one for each pattern", "compaction"}}}};
  return families;
}

const ScheduleFamily& schedule_family(std::string_view name) {
  const auto found = std::ranges::find(schedule_families(), name, &ScheduleFamily::name);
  ESC_CHECK(found != schedule_families().end(), "a family of the table");
  return *found;
}

std::vector<std::string> schedule_family_names() {
  std::vector<std::string> names;
  for (const ScheduleFamily& family : schedule_families()) {
    names.emplace_back(family.name);
  }
  return names;
}

std::vector<std::string> words_of(const ScheduleKey& key) {
  std::vector<std::string> words;
  for (std::string_view rest = key.form; rest.find('|') != rest.npos || !words.empty();) {
    const std::size_t end = rest.find('|');
    words.emplace_back(rest.substr(0, end));
    if (end == rest.npos) {
      break;
    }
    rest.remove_prefix(end + 1);
  }
  return words;
}

}  // namespace esc

// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "generator/ir/loop_nest.h"
#include "generator/schedule/fitted_schedule.h"
#include "generator/schedule/schedule_choice.h"
#include "generator/schedule/scheduler.h"
#include "tests/fuzz/harness.h"
#include "tests/fuzz/tiny_layer.h"

namespace esc::fuzz {
namespace {

constexpr std::array<long long, 7> bcols{1, 4, 31, 32, 64, 100, 257};

/// What is legal has directives that are read back, and what is not has a legal schedule beside it.
void check_for(const Schedule& schedule, long long bcol) {
  if (is_accepted([&] { check_legal(schedule, bcol); })) {
    const std::vector<Directive> directives = expand(schedule);
    expect(parse_script(print(directives)) == directives,
           "directives that are printed as others: " + print(directives));
  }
  try {
    check_legal(fitted(schedule, bcol), bcol);
  } catch (const ScheduleError& refusal) {
    throw Finding(std::string("what is brought to a number of columns is not legal for it: ") + refusal.what());
  }
}

bool judge_schedule(std::string_view input) {
  Schedule schedule;
  if (!is_accepted([&] { schedule = parse_schedule(input); })) {
    return false;
  }
  expect(parse_schedule(print(schedule)) == schedule, "a schedule that is printed as another one: " + print(schedule));
  for (const long long bcol : bcols) {
    check_for(schedule, bcol);
  }
  return true;
}

bool judge_script(std::string_view input) {
  std::vector<Directive> script;
  if (!is_accepted([&] { script = parse_script(input); })) {
    return false;
  }
  expect(parse_script(print(script)) == script, "a script that is printed as another one: " + print(script));
  ScheduleChoice choice;
  choice.source = "user";
  choice.script = script;
  const ScalarType element = input.size() % 2 == 0 ? ScalarType::f32 : ScalarType::f64;
  const SparseMatrix matrix = tiny_matrix(element);
  bool accepted = false;
  for (const std::int64_t bcol : {1, 32}) {
    const bool for_this = is_accepted([&] { make_tiny_layer(spmm_nest(element), matrix, bcol, choice); });
    accepted = accepted || for_this;
  }
  return accepted;
}

}  // namespace

Harness schedule_harness() {
  return {
      .kind = "schedule",
      .judge = judge_schedule,
      .seeds = {"4-7-1-32", "3-8-2-64", "atomic:ufi=4,ufk=7,warptile=1,threads=32,compaction=off", "atomic:threads=64",
                "panel:ufi=2,columns=32,vector=4,groups=2,warps=8,panels=2,ufk=8,stage=off,pdl=on",
                "panel:ufi=4,columns=4,vector=1,groups=4,warps=2,panels=4,ufk=8,stage=on,pdl=off", "panel:warps=1",
                "rows:columns=32,vector=4,unroll=2,task=128,light=16,warps=4,pdl=on", "rows:task=64"},
      .words = {"atomic:",     "panel:",  "rows:",   "ufi=",   "ufk=",    "warptile=", "threads=",   "compaction=",
                "columns=",    "vector=", "groups=", "warps=", "panels=", "stage=",    "pdl=",       "unroll=",
                "task=",       "light=",  "on",      "off",    ",",       ":",         "=",          "-",
                "0",           "1",       "2",       "3",      "8",       "16",        "32",         "64",
                "128",         "512",     "1024",    "65536",  "-1",      "+1",        "2147483647", "2147483648",
                "-2147483648", " ",       "\n"},
      .mutants = 5300};
}

Harness script_harness() {
  Harness harness{.kind = "script",
                  .judge = judge_script,
                  .words = {"i",
                            "j",
                            "k",
                            "A",
                            "B",
                            "C",
                            "task",
                            "block",
                            "set",
                            "place",
                            "part",
                            "group",
                            "lane",
                            "tile",
                            "grid",
                            "lanes",
                            "lists",
                            "regions",
                            "tasks",
                            "columns=",
                            "threads=",
                            "panels=",
                            "warp=",
                            "vector=",
                            "warps=",
                            "groups=",
                            "unroll(i, 2);",
                            "unroll(i, 8);",
                            "enumerate();",
                            "merge();",
                            "accumulate();",
                            "shuffle();",
                            "reduce_warps();",
                            "compact();",
                            "pdl();",
                            "prefetch(A);",
                            "stage(A);",
                            "vectorize(j);",
                            "unroll_k(k, 4);",
                            "split_rows(k, 8);",
                            "coarsen(k, 2);",
                            "map(i, grid);",
                            "transform(A, lists);",
                            "(",
                            ")",
                            ",",
                            ";",
                            "=",
                            "#",
                            "\n",
                            "0",
                            "1",
                            "2",
                            "3",
                            "4",
                            "8",
                            "32",
                            "33",
                            "64",
                            "1024",
                            "65536",
                            "-1",
                            "2147483647",
                            "2147483648"},
                  .mutants = 1300};
  for (const char* text :
       {"2-3-1-32", "atomic:ufi=4,ufk=2,compaction=off",
        "panel:ufi=2,columns=1,vector=1,groups=4,warps=2,panels=8,ufk=4",
        "panel:ufi=4,columns=1,vector=1,groups=8,warps=1,panels=4,stage=on,pdl=off",
        "panel:ufi=1,columns=32,vector=4,groups=4,warps=2,panels=2", "rows:columns=1,vector=1,task=8,light=2,warps=2",
        "rows:columns=32,vector=2,task=64,pdl=off"}) {
    harness.seeds.push_back(print(expand(parse_schedule(text))));
  }
  harness.seeds.emplace_back(
      "# the paper's kernel\nunroll( i , 2 )\nenumerate()  # a case for each pattern\nmap(i, grid);map(j, lanes, "
      "columns=32, threads=32)\ncoarsen(k, 4)\ntransform(A, lists)\n");
  harness.seeds.emplace_back(
      "unroll(i, 1); unroll(i, 2); enumerate(); map(i, grid); map(j, lanes, columns=32, threads=32); coarsen(k, 4); "
      "transform(A, lists)");
  return harness;
}

}  // namespace esc::fuzz

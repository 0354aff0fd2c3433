// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/binding_limit.h"

#include <algorithm>
#include <array>

namespace esc::tuning {
namespace {

struct Part {
  double Cost::* microseconds;
  const char* name;
};

/// The first one of equal parts is the one that binds.
constexpr std::array every_part{
    Part{&Cost::launch, "the launch floor"},
    Part{&Cost::waiting, "loads that wait for each other"},
    Part{&Cost::traffic, "the bandwidth of the L2 cache"},
    Part{&Cost::loads, "the load/store unit"},
    Part{&Cost::arithmetic, "arithmetic"},
    Part{&Cost::reduction, "reduction"},
};

}  // namespace

Table cost_table(const Cost& cost) {
  Table table{"Where the time goes by the cost model, whose constants are those of an H200 and an H100. Parts overlap.",
              {text_column("part"), {"us"}},
              {}};
  for (const Part& part : every_part) {
    table.rows.push_back({part.name, with_digits(cost.*part.microseconds)});
  }
  table.rows.push_back({"predicted whole", with_digits(cost.microseconds)});
  return table;
}

std::string binding_limit(const Cost& cost) {
  return std::ranges::max_element(every_part, {}, [&](const Part& part) { return cost.*part.microseconds; })->name;
}

}  // namespace esc::tuning

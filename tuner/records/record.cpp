// SPDX-License-Identifier: Apache-2.0
#include "tuner/records/record.h"

#include <fmt/format.h>

namespace esc::tuning {

ItemKey key_of(const WorkItem& item) {
  return {item.device, item.dtype, item.cache, item.bcol, item.layer.pattern, item.nest.layout, item.nest.digest};
}

std::string nest_suffix(const NestFacts& nest) {
  if (nest == NestFacts()) {
    return {};
  }
  return fmt::format(" {}{}{}", nest.layout, nest.is_plain() ? "" : " ", nest.digest);
}

std::string describe(const WorkItem& item) {
  const std::string suffix = nest_suffix(item.nest);
  return fmt::format("{}, bCol {}{}{}{}", item.layer.file, item.bcol, item.dtype == "f32" ? "" : ", " + item.dtype,
                     suffix.empty() ? "" : ",", suffix);
}

LayerShape shape_of(const WorkItem& item) {
  return {.bcol = item.product().count,
          .rows = item.layer.rows,
          .columns = item.layer.columns,
          .nonzeros = item.layer.nonzeros,
          .longest_row = item.layer.longest_row,
          .row_variation = item.layer.row_variation,
          .pattern = item.layer.pattern,
          .layout = item.nest.layout,
          .contiguous = item.nest.contiguous,
          .dtype = item.dtype,
          .sparse24 = item.layer.sparse24,
          .cache = item.cache};
}

const WorkItem& item_of(const Record& record) {
  return std::visit([](const auto& kind) -> const WorkItem& { return kind.item; }, record);
}

const Environment& environment_of(const Record& record) {
  return std::visit([](const auto& kind) -> const Environment& { return kind.environment; }, record);
}

std::string print(Outcome outcome) {
  switch (outcome) {
    case Outcome::ok:
      return "ok";
    case Outcome::compile_failed:
      return "compile-failed";
    case Outcome::launch_failed:
      return "launch-failed";
    case Outcome::wrong_result:
      return "wrong-result";
    case Outcome::timed_out:
      return "timed-out";
    case Outcome::skipped_by_limit:
      break;
  }
  return "skipped-by-limit";
}

std::string print(Verdict verdict) {
  switch (verdict) {
    case Verdict::better:
      return "BETTER";
    case Verdict::worse:
      return "WORSE";
    case Verdict::same:
      return "SAME";
    case Verdict::unsure:
      break;
  }
  return "UNSURE";
}

}  // namespace esc::tuning

// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/layer_table.h"

#include <fmt/format.h>

#include "generator/schedule/gone_schedules.h"
#include "generator/schedule/settings.h"
#include "generator/support/page_text.h"
#include "tuner/report/binding_limit.h"
#include "tuner/report/candidate_table.h"
#include "tuner/report/coarsening_map.h"
#include "tuner/report/group_summary.h"
#include "tuner/report/roofline.h"
#include "tuner/space/item_cost.h"

namespace esc::tuning {
namespace {

constexpr std::size_t shown_candidates = 10;

std::string layer_line(const ItemSummary& item) {
  const LayerFacts& layer = item.item.layer;
  return labelled(
      "layer", fmt::format("{}: {} x {}, {} non-zeros ({} % zeros), N = {}; {}", label(item), layer.rows, layer.columns,
                           layer.nonzeros, percent(layer.sparsity(), 1), item.item.bcol, print(setting_of(item))));
}

/// Who is faster, in a sentence; nothing where one of both was not measured.
std::string compared(const ItemSummary& item, Rival rival, const std::string& library, const std::string& kind,
                     const std::string& advice) {
  const std::optional<double> ratio = speed_up(item, rival);
  if (!ratio) {
    return "";
  }
  return labelled(
      "speed", *ratio >= 1 ? fmt::format("{:.2f} x as fast as {}, {}; measured with this layer", *ratio, library, kind)
                           : fmt::format("{}, {}, is {:.2f} x as fast{}", library, kind, 1 / *ratio, advice));
}

/// What is faster for this layer, by how much, and by what schedule.
std::string answer(const ItemSummary& item) {
  const std::optional<double> exact = time_of(item, Rival::best_exact);
  if (!item.microseconds) {
    return labelled("winner",
                    exact ? fmt::format("no candidate was right: use {}, {:.2f} us", best_exact_name(item), *exact)
                          : "no candidate was right");
  }
  const std::string in_chain =
      item.chain_microseconds ? fmt::format(", {:.2f} us in launches that overlap", *item.chain_microseconds) : "";
  const std::string verdict =
      item.verdict ? fmt::format("; beside the schedule that held before it is {}", print(*item.verdict)) : "";
  return labelled("winner", fmt::format("{:.2f} us{}{}", *item.microseconds, in_chain, verdict)) +
         (exact ? compared(item, Rival::best_exact, best_exact_name(item), "the fastest exact library",
                           ": use it for this layer")
                : labelled("speed", "not compared with an exact library")) +
         compared(item, Rival::cublas_tf32, print(Rival::cublas_tf32, item.item.dtype), "which is less exact", "") +
         labelled("schedule", item.winner);
}

/// The bytes of the operands, each once.
Table byte_table(const ItemSummary& item) {
  Table table{"What is moved at least.", {text_column("operand"), {"bytes"}}, {}};
  if (item.kernel) {
    table.rows.push_back({"packed A", std::to_string(item.kernel->packed_bytes)});
  }
  table.rows.push_back({"B", with_digits(bytes_of_b(item.item), 0)});
  table.rows.push_back({"C", with_digits(bytes_of_c(item.item), 0)});
  return table;
}

/// What binds the winner by the cost model; nothing where this version does not have the schedule or know the device.
std::string limits(const ItemSummary& item) {
  if (!item.kernel || warps_on(item.item.device, *item.kernel).value_or(0) == 0 ||
      is_gone(item.winner, item.item.dtype) || !is_accepted([&] { parse_schedule(item.winner); })) {
    return "";
  }
  const Cost cost = predicted_cost(parse_schedule(item.winner), item.item, item.kernel);
  return fmt::format("\n{}\nWhat binds by this model: {}.\n", markdown(cost_table(cost)), binding_limit(cost));
}

}  // namespace

std::string layer_answer(const ItemResults& results) {
  const ItemSummary item = summarise({{key_of(results.item), results}}).front();
  return layer_line(item) + answer(item);
}

std::string layer_tables(const ItemResults& results) {
  const ItemSummary item = summarise({{key_of(results.item), results}}).front();
  return markdown(candidate_table(results, shown_candidates)) + "\n" + markdown(library_table(results)) + "\n" +
         markdown(byte_table(item)) + limits(item);
}

}  // namespace esc::tuning

// SPDX-License-Identifier: Apache-2.0
#include "tuner/device/device_protocol.h"

#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>

#include "generator/ir/nest_json.h"
#include "generator/support/error.h"
#include "tuner/records/record_json.h"

namespace esc::tuning {
namespace {

using nlohmann::json;

std::string text_of(const json& head) { return head.dump(-1, ' ', false, json::error_handler_t::replace); }

/// Both ends are processes of one machine and one program: arrays travel as they are in memory.
template <typename Value>
std::string bytes_of(const std::vector<Value>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(Value)};
}

template <typename Value>
std::vector<Value> values_in(const std::string& bytes) {
  std::vector<Value> values(bytes.size() / sizeof(Value));
  std::memcpy(values.data(), bytes.data(), values.size() * sizeof(Value));
  return values;
}

json to_json(const StopRule& rule) {
  return {{"least", rule.least},
          {"most", rule.most},
          {"spread", rule.spread},
          {"hopeless", rule.hopeless},
          {"budget", rule.budget}};
}

StopRule rule_from(const json& rule) {
  return {.least = rule.at("least"),
          .most = rule.at("most"),
          .spread = rule.at("spread"),
          .hopeless = rule.at("hopeless"),
          .budget = rule.at("budget")};
}

json to_json(const LaunchPlan& plan) {
  json result{{"kernel", plan.kernel},      {"grid_x", plan.grid_x},       {"grid_y", plan.grid_y},
              {"threads", plan.threads},    {"shared", plan.shared_bytes}, {"zeroes_c", plan.zeroes_c},
              {"chain", plan.programmatic}, {"sizes", plan.sizes}};
  if (plan.zeroing) {
    result["zeroing"] = {{"kernel", plan.zeroing->kernel},
                         {"grid_x", plan.zeroing->grid_x},
                         {"threads", plan.zeroing->threads},
                         {"sizes", plan.zeroing->sizes}};
  }
  if (plan.boxes) {
    result["boxes"] = {{"rows_of_b", plan.boxes->rows_of_b},   {"rows", plan.boxes->rows},
                       {"columns", plan.boxes->columns},       {"element_bytes", plan.boxes->element_bytes},
                       {"of_columns", plan.boxes->of_columns}, {"copied", plan.boxes->are_copied}};
  }
  return result;
}

LaunchPlan plan_from(const json& plan) {
  LaunchPlan result{.kernel = plan.at("kernel"),
                    .grid_x = plan.at("grid_x"),
                    .grid_y = plan.at("grid_y"),
                    .threads = plan.at("threads"),
                    .shared_bytes = plan.at("shared"),
                    .zeroes_c = plan.at("zeroes_c"),
                    .programmatic = plan.at("chain"),
                    .sizes = plan.at("sizes")};
  if (plan.contains("zeroing")) {
    const json& zeroing = plan.at("zeroing");
    result.zeroing = LaunchPlan::Zeroing{.kernel = zeroing.at("kernel"),
                                         .grid_x = zeroing.at("grid_x"),
                                         .threads = zeroing.at("threads"),
                                         .sizes = zeroing.at("sizes")};
  }
  if (plan.contains("boxes")) {
    const json& boxes = plan.at("boxes");
    result.boxes = LaunchPlan::Boxes{.rows_of_b = boxes.at("rows_of_b"),
                                     .rows = boxes.at("rows"),
                                     .columns = boxes.at("columns"),
                                     .element_bytes = boxes.at("element_bytes"),
                                     .of_columns = boxes.at("of_columns"),
                                     .are_copied = boxes.at("copied")};
  }
  return result;
}

Message kernel_message(json head, const KernelQuestion& kernel) {
  head["schedule"] = kernel.schedule;
  head["plan"] = to_json(kernel.plan);
  head["symbols"] = kernel.cubin.symbols;
  return {.head = text_of(head), .pieces = {kernel.packed, {kernel.cubin.image.begin(), kernel.cubin.image.end()}}};
}

KernelQuestion kernel_in(const json& head, Message& message) {
  const std::string& image = message.pieces.at(1);
  return {.schedule = head.at("schedule"),
          .plan = plan_from(head.at("plan")),
          .cubin = {.image = {image.begin(), image.end()}, .symbols = head.at("symbols")},
          .packed = std::move(message.pieces.at(0))};
}

/// A measurement travels as the record that it becomes, which is of no item yet.
json to_json(const Measurement& measurement) {
  return tuning::to_json(record_of(measurement, {}, {}, Stage::search, Edge::plain));
}

Measurement measurement_from(const json& record) { return measurement_of(candidate_from(record)); }

ProductQuestion product_in(const json& head, const Message& message) {
  ProductQuestion question{.matrix = {.rows = head.at("rows"),
                                      .columns = head.at("columns"),
                                      .offsets = values_in<std::int64_t>(message.pieces.at(0)),
                                      .column_of = values_in<std::int32_t>(message.pieces.at(1)),
                                      .values = values_in<double>(message.pieces.at(2))},
                           .bcol = head.at("bcol"),
                           .cache = head.at("cold").get<bool>() ? CacheState::cold : CacheState::warm,
                           .nest = parse_nest_json(message.pieces.at(3), "the loop nest")};
  question.matrix.element = question.nest.element();
  return question;
}

json description_of(const DeviceDescription& description) {
  CandidateRecord record;
  record.environment = description.environment;
  record.item.device = description.key;
  return tuning::to_json(record);
}

json answer_to(Message& question, MeasuringDevice& device) {
  const json head = json::parse(question.head);
  const std::string what = head.at("ask");
  if (what == "describe") {
    return {{"device", description_of(device.describe())}};
  }
  if (what == "rates") {
    return {{"rates", tuning::to_json(device.measure_rates())}};
  }
  if (what == "open") {
    device.open(product_in(head, question));
    return {{"opened", true}};
  }
  if (what == "peers") {
    json measurements = json::array();
    for (const Measurement& measurement : device.measure_peers()) {
      measurements.push_back(to_json(measurement));
    }
    return {{"measurements", measurements}};
  }
  if (what == "measure") {
    return {
        {"measurement", to_json(device.measure(kernel_in(head, question), rule_from(head.at("rule")),
                                               head.at("cuts").get<bool>() ? OccupancyCuts::on : OccupancyCuts::off))}};
  }
  if (what == "finalist") {
    return {{"measurement", to_json(device.add_finalist(kernel_in(head, question)))}};
  }
  ESC_CHECK(what == "round", "the question is one of this protocol");
  return {{"times", device.run_round(head.at("chain").get<bool>() ? Edge::chain : Edge::plain)}};
}

/// The answer's head, unless it says that the device cannot be used.
json head_of(const Message& answer) {
  const json head = json::parse(answer.head);
  if (head.contains("refused")) {
    throw UserError("", head.at("refused").get<std::string>(), {}, ExitStatus::missing_tool);
  }
  if (head.contains("broken")) {
    throw UserError("the device", "cannot be used: " + head.at("broken").get<std::string>(), {},
                    ExitStatus::check_failed);
  }
  return head;
}

}  // namespace

Message describe_question() { return {.head = text_of({{"ask", "describe"}})}; }

Message rates_question() { return {.head = text_of({{"ask", "rates"}})}; }

Message open_question(const ProductQuestion& product) {
  return {.head = text_of({{"ask", "open"},
                           {"rows", product.matrix.rows},
                           {"columns", product.matrix.columns},
                           {"bcol", product.bcol},
                           {"cold", product.cache == CacheState::cold}}),
          .pieces = {bytes_of(product.matrix.offsets), bytes_of(product.matrix.column_of),
                     bytes_of(product.matrix.values), nest_json(product.nest)}};
}

Message peers_question() { return {.head = text_of({{"ask", "peers"}})}; }

Message measure_question(const KernelQuestion& kernel, const StopRule& rule, OccupancyCuts cuts) {
  return kernel_message({{"ask", "measure"}, {"rule", to_json(rule)}, {"cuts", cuts == OccupancyCuts::on}}, kernel);
}

Message finalist_question(const KernelQuestion& kernel) { return kernel_message({{"ask", "finalist"}}, kernel); }

Message round_question(Edge edge) { return {.head = text_of({{"ask", "round"}, {"chain", edge == Edge::chain}})}; }

DeviceDescription description_in(const Message& answer) {
  const CandidateRecord record = candidate_from(head_of(answer).at("device"));
  return {record.item.device, record.environment};
}

DeviceRates rates_in(const Message& answer) { return device_rates_from(head_of(answer).at("rates")); }

void check_opened(const Message& answer) { static_cast<void>(head_of(answer)); }

std::vector<Measurement> measurements_in(const Message& answer) {
  std::vector<Measurement> measurements;
  const json head = head_of(answer);
  for (const json& record : head.at("measurements")) {
    measurements.push_back(measurement_from(record));
  }
  return measurements;
}

Measurement measurement_in(const Message& answer) { return measurement_from(head_of(answer).at("measurement")); }

std::vector<double> times_in(const Message& answer) { return head_of(answer).at("times"); }

bool is_last(const Message& answer) { return json::parse(answer.head).contains("last"); }

std::optional<std::string> breakdown_in(const Message& answer) {
  const json head = json::parse(answer.head);
  return head.contains("broken") ? std::optional(head.at("broken").get<std::string>()) : std::nullopt;
}

void serve_measurements(int socket, MeasuringDevice& device) {
  Message question;
  bool goes_on = true;
  while (goes_on && receive(socket, question) == Reception::complete) {
    json head;
    try {
      head = answer_to(question, device);
    } catch (const std::exception& problem) {
      head = {{"broken", problem.what()}};
    }
    goes_on = device.works() && !head.contains("broken");
    if (!goes_on) {
      head["last"] = true;
    }
    goes_on = send(socket, {.head = text_of(head)}) && goes_on;
  }
}

void serve_refusal(int socket, const std::string& reason) {
  if (Message question; receive(socket, question) == Reception::complete) {
    static_cast<void>(send(socket, {.head = text_of({{"refused", reason}, {"last", true}})}));
  }
}

}  // namespace esc::tuning

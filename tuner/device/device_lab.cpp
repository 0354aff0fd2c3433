// SPDX-License-Identifier: Apache-2.0
#include "tuner/device/device_lab.h"

#include <fmt/format.h>

#include <utility>

#include "generator/support/error.h"
#include "tuner/build/nvcc_build.h"

namespace esc::tuning {
namespace {

/// Workers that may fail to take up a product one after the other before the device is given up.
constexpr int most_attempts = 3;

NamedBuilder stored(const Compiler& compiler, Builder builder, const ObjectCache* cache) {
  const auto store =
      std::make_shared<CubinStore>(cached(std::move(builder), compiler.name + '\n' + compiler.setup, cache));
  return {compiler.name, [store](const KernelText& text) { return store->get(text); }};
}

}  // namespace

Builders make_builders(BuildPool& pool, const ObjectCache* cache, const Compiler& compiler) {
  Builders builders{.search = stored(
                        compiler, [&pool](const KernelText& text) { return pool.build(text); }, cache),
                    .final = std::nullopt};
  if (const std::optional<Compiler> nvcc = installed_nvcc()) {
    const auto search = builders.search.build;
    builders.final =
        stored(*nvcc, [search](const KernelText& text) { return build_with_nvcc(text, search(text)->symbols); }, cache);
  }
  return builders;
}

DeviceLab::DeviceLab(WorkerCommand worker, Builders builders, std::size_t preparing_threads, Patience patience,
                     OccupancyCuts cuts)
    : command_(std::move(worker)),
      builders_(std::move(builders)),
      preparing_threads_(preparing_threads),
      patience_(patience),
      cuts_(cuts) {
  start();
}

void DeviceLab::start() {
  has_product_ = false;
  worker_ = std::make_unique<WorkerProcess>(command_);
  const Answer answer = worker_->ask(describe_question(), patience_.start);
  if (answer.reception != Reception::complete) {
    worker_.reset();
    throw UserError("the process with the GPU",
                    answer.reception == Reception::late ? "does not answer" : "has ended with " + answer.end,
                    "look whether nvidia-smi works, then run the command again", ExitStatus::missing_tool);
  }
  description_ = description_in(answer.message);
}

void DeviceLab::make_ready() {
  for (int attempt = 1; !has_product_; ++attempt) {
    if (worker_ == nullptr) {
      start();
    }
    const Answer answer =
        worker_->ask(open_question({*product_.matrix, item_.bcol, item_.cache, *product_.nest}), patience_.product);
    has_product_ = answer.reception == Reception::complete && !is_last(answer.message);
    if (!has_product_) {
      worker_.reset();
      if (answer.reception == Reception::complete) {
        check_opened(answer.message);
      }
      if (attempt == most_attempts) {
        throw UserError(
            "the GPU",
            fmt::format("cannot take up {}: {} processes in a row have failed at it", describe(item_), most_attempts),
            "look whether the device has memory left, then run the command again", ExitStatus::check_failed);
      }
    }
  }
}

void DeviceLab::drop_worker() {
  worker_.reset();
  has_product_ = false;
}

DeviceLab::Reply DeviceLab::ask(const Message& question, std::chrono::milliseconds patience) {
  make_ready();
  Answer answer = worker_->ask(question, patience);
  switch (answer.reception) {
    case Reception::complete:
      if (is_last(answer.message)) {
        drop_worker();
      }
      if (const std::optional<std::string> problem = breakdown_in(answer.message)) {
        return {.message = {},
                .outcome = Outcome::launch_failed,
                .detail = "the device could not be used any more: " + *problem};
      }
      return {.message = std::move(answer.message)};
    case Reception::late:
      drop_worker();
      return {.message = {},
              .outcome = Outcome::timed_out,
              .detail = fmt::format("no answer within {} ms; the process was killed", patience.count())};
    case Reception::closed:
      break;
  }
  drop_worker();
  return {.message = {}, .outcome = Outcome::launch_failed, .detail = "the process has ended with " + answer.end};
}

PreparationSubject DeviceLab::subject() const {
  return {product_.matrix, item_.bcol, description_.key.capability, *product_.nest, fragments_};
}

void DeviceLab::open(const WorkItem& item, const ItemProduct& product, const std::vector<Schedule>& candidates) {
  item_ = item;
  fragments_ = product.matrix == product_.matrix ? fragments_ : std::make_shared<PackingCache>();
  product_ = product;
  has_product_ = false;
  preparation_.emplace(subject(), candidates, builders_.search, 2 * preparing_threads_);
}

DeviceRates DeviceLab::measure_rates() {
  has_product_ = false;
  if (worker_ == nullptr) {
    start();
  }
  const Answer answer = worker_->ask(rates_question(), patience_.rates);
  if (answer.reception == Reception::complete && !is_last(answer.message)) {
    return rates_in(answer.message);
  }
  drop_worker();
  const std::string why = answer.reception == Reception::late ? "do not come to an end"
                          : answer.reception == Reception::closed
                              ? "ended with " + answer.end
                              : "failed: " + breakdown_in(answer.message).value_or("the device works no more");
  throw UserError("the microbenchmarks", why, "look whether nvidia-smi works, then run the command again",
                  ExitStatus::check_failed);
}

std::vector<Measurement> DeviceLab::measure_peers() {
  Reply reply = ask(peers_question(), patience_.peers);
  if (reply.message) {
    return measurements_in(*reply.message);
  }
  return {{.candidate = "peers", .outcome = reply.outcome, .detail = reply.detail}};
}

Measurement DeviceLab::measured(const PreparedCandidate& prepared, const Message& question) {
  Measurement result = prepared.measurement;
  const Reply reply = ask(question, patience_.candidate);
  if (!reply.message) {
    result.outcome = reply.outcome;
    result.detail = reply.detail;
    return result;
  }
  Measurement of_device = measurement_in(*reply.message);
  of_device.candidate = result.candidate;
  of_device.builder = result.builder;
  of_device.digest = result.digest;
  return of_device;
}

Measurement DeviceLab::measure(const Schedule& schedule, const StopRule& rule) {
  const PreparedCandidate prepared = preparation_->take(schedule);
  return prepared.measurement.outcome == Outcome::ok
             ? measured(prepared, measure_question(prepared.kernel, rule, cuts_))
             : prepared.measurement;
}

std::vector<Measurement> DeviceLab::prepare_finalists(const std::vector<Schedule>& finalists) {
  const NamedBuilder& builder = builders_.final ? *builders_.final : builders_.search;
  CandidatePreparation preparation(subject(), finalists, builder, finalists.size());
  std::vector<PreparedCandidate> prepared;
  for (const Schedule& schedule : finalists) {
    prepared.push_back(preparation.take(schedule));
  }
  // A finalist that takes the worker down takes those before it along: the others are added to a new one.
  std::vector<Measurement> measurements(prepared.size());
  for (bool complete = false; !complete;) {
    complete = true;
    has_product_ = false;
    for (std::size_t number = 0; number < prepared.size() && complete; ++number) {
      PreparedCandidate& finalist = prepared[number];
      if (finalist.measurement.outcome == Outcome::ok) {
        measurements[number] = measured(finalist, finalist_question(finalist.kernel));
        complete = worker_ != nullptr;
        if (!complete && measurements[number].outcome == Outcome::ok) {
          measurements[number].outcome = Outcome::launch_failed;
          measurements[number].detail = "the device works no more after it";
        }
      } else {
        measurements[number] = finalist.measurement;
      }
      if (!complete) {
        finalist.measurement = measurements[number];
      }
    }
  }
  return measurements;
}

std::vector<double> DeviceLab::run_round(Edge edge) {
  if (worker_ == nullptr) {
    return {};
  }
  const Reply reply = ask(round_question(edge), patience_.candidate);
  return reply.message ? times_in(*reply.message) : std::vector<double>();
}

}  // namespace esc::tuning

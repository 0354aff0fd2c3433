// SPDX-License-Identifier: Apache-2.0
// A worker without a GPU, which answers as the real one does and fails where it is told to:
//
//   fake-worker LOG [EVENT[#N]=BEHAVIOUR]...
//
// An event is what a worker does: "start", "open", "peers", "measure W" ("measure with cuts W" where the occupancy cuts
// are on), "finalist W", "round", "chain", where W is the number of warps of the kernel's blocks. Each is a line of LOG
// before it happens. A behaviour is for every event of that name, or for the N-th one alone, counted over all workers
// with the same LOG. A kernel of W warps takes W microseconds.

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <map>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>

#include "tuner/device/device_protocol.h"
#include "tuner/process/worker_process.h"

namespace esc::tuning {
namespace {

/// What is to happen at which event.
class Script {
 public:
  Script(std::string log, const std::vector<std::string>& rules) : log_(std::move(log)) {
    for (const std::string& rule : rules) {
      const std::size_t equals = rule.find('=');
      behaviours_[rule.substr(0, equals)] = rule.substr(equals + 1);
    }
  }

  /// Notes the event; its behaviour, empty where it has none of its own.
  std::string behaviour_at(const std::string& event) {
    std::ofstream(log_, std::ios::app) << event << std::endl;
    std::ifstream lines(log_);
    int count = 0;
    for (std::string line; std::getline(lines, line);) {
      count += line == event ? 1 : 0;
    }
    for (const std::string& key : {fmt::format("{}#{}", event, count), event}) {
      if (const auto found = behaviours_.find(key); found != behaviours_.end()) {
        return found->second;
      }
    }
    return {};
  }

 private:
  std::string log_;
  std::map<std::string, std::string> behaviours_;
};

/// Does what ends or stops a process, or makes it throw.
void suffer(const std::string& behaviour) {
  if (behaviour == "hang") {
    while (true) {
      ::pause();
    }
  }
  if (behaviour == "crash") {
    const rlimit no_core = {0, 0};
    ::setrlimit(RLIMIT_CORE, &no_core);
    std::signal(SIGSEGV, SIG_DFL);
    std::raise(SIGSEGV);
  }
  if (behaviour == "exit") {
    ::_exit(7);
  }
  if (behaviour == "throw") {
    throw std::runtime_error("the bus has fallen off");
  }
  if (behaviour == "no memory") {
    throw std::bad_alloc();
  }
}

class FakeDevice final : public MeasuringDevice {
 public:
  explicit FakeDevice(Script& script) : script_(script) {}

  DeviceDescription describe() override {
    return {.key = {90, 132, 60ULL << 20},
            .environment = {.tool = "0.1.0", .toolkit = "13.0", .device_name = "NVIDIA H200", .driver = "13.0"}};
  }

  DeviceRates measure_rates() override {
    suffer(script_.behaviour_at("rates"));
    return {.memory_gigabytes = 4300, .l2_gigabytes = 7000, .fp32_gigaflops = 60000};
  }

  void open(const ProductQuestion&) override {
    suffer(script_.behaviour_at("open"));
    finalists_.clear();
  }

  std::vector<Measurement> measure_peers() override {
    suffer(script_.behaviour_at("peers"));
    return {{.candidate = "cublas-fp32", .builder = "cuBLASLt 13.0", .samples = {20, 20, 20, 20, 20}}};
  }

  Measurement measure(const KernelQuestion& kernel, const StopRule& rule, OccupancyCuts cuts) override {
    Measurement measurement = check(cuts == OccupancyCuts::on ? "measure with cuts" : "measure", kernel);
    if (measurement.outcome == Outcome::ok) {
      measurement.samples.assign(static_cast<std::size_t>(rule.least), warps_of(kernel));
    }
    return measurement;
  }

  Measurement add_finalist(const KernelQuestion& kernel) override {
    Measurement measurement = check("finalist", kernel);
    if (measurement.outcome == Outcome::ok) {
      finalists_.push_back(warps_of(kernel));
    }
    return measurement;
  }

  std::vector<double> run_round(Edge edge) override {
    suffer(script_.behaviour_at(edge == Edge::chain ? "chain" : "round"));
    return finalists_;
  }

  bool works() override { return works_; }

 private:
  static double warps_of(const KernelQuestion& kernel) { return kernel.plan.threads / 32.0; }

  Measurement check(const std::string& event, const KernelQuestion& kernel) {
    const std::string behaviour = script_.behaviour_at(fmt::format("{} {}", event, warps_of(kernel)));
    suffer(behaviour);
    if (behaviour == "launch fails" || behaviour == "device breaks") {
      works_ = behaviour == "launch fails";
      return {.candidate = {}, .outcome = Outcome::launch_failed, .detail = "an illegal memory access was encountered"};
    }
    if (behaviour == "wrong result") {
      return {.candidate = {}, .outcome = Outcome::wrong_result, .detail = "relative error 1.00e+00", .error = 1};
    }
    return {};
  }

  Script& script_;
  std::vector<double> finalists_;
  bool works_ = true;
};

int run(const std::vector<std::string>& arguments) {
  end_with_parent();
  Script script(arguments.at(0), {arguments.begin() + 1, arguments.end()});
  const std::string behaviour = script.behaviour_at("start");
  suffer(behaviour);
  if (behaviour == "no device") {
    serve_refusal(worker_socket, "there is no GPU here");
    return 3;
  }
  FakeDevice device(script);
  serve_measurements(worker_socket, device);
  return 0;
}

}  // namespace
}  // namespace esc::tuning

int main(int argc, char** argv) { return esc::tuning::run({argv + 1, argv + argc}); }

// SPDX-License-Identifier: Apache-2.0
// Kernels that fail on a real GPU, and what the tuner makes of them: each must end in the right outcome, and the
// candidate after it must be measured as if nothing had happened.
//
//   tuner-faults        run beside esctune-worker; status 1 when something is not as it should be, 3 without a GPU

#include <fmt/format.h>

#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "generator/matrix/sample.h"
#include "generator/support/error.h"
#include "generator/support/program_beside.h"
#include "tuner/build/build_pool.h"
#include "tuner/device/candidate_preparation.h"
#include "tuner/device/device_lab.h"
#include "tuner/run/layer_list.h"

namespace esc::tuning {
namespace {

constexpr int architecture = 90;
constexpr std::int64_t bcol = 64;
constexpr std::chrono::milliseconds patience_of_candidate(2000);

/// What is put before a kernel's first statement, and the outcome that this shall have.
struct Fault {
  std::string name;
  std::string schedule;
  std::string statements;
  Outcome search;
  Outcome final;
};

std::vector<Fault> faults() {
  return {
      {"right", "panel:ufi=1,columns=64,vector=4,groups=2,warps=8", "", Outcome::ok, Outcome::ok},
      {"loops for ever", "panel:ufi=1,columns=64,vector=4,groups=2,warps=4",
       "for (volatile int round = 0; round >= 0; round = 0) {\n  }\n", Outcome::timed_out, Outcome::timed_out},
      {"writes out of bounds", "panel:ufi=1,columns=64,vector=4,groups=2,warps=2", "C[1LL << 42] = 1.0f;\n",
       Outcome::launch_failed, Outcome::launch_failed},
      {"reads misaligned", "panel:ufi=1,columns=64,vector=4,groups=2,warps=1",
       "C[0] = *reinterpret_cast<const volatile float*>(packed + 1);\n", Outcome::launch_failed,
       Outcome::launch_failed},
      {"stores nothing", "panel:ufi=2,columns=64,vector=4,groups=2,warps=8", "return;\n", Outcome::wrong_result,
       Outcome::wrong_result},
      {"reads another row of B", "panel:ufi=2,columns=64,vector=4,groups=2,warps=4", "B += 64;\n",
       Outcome::wrong_result, Outcome::wrong_result},
      {"wants more shared memory than there is", "panel:ufi=2,columns=64,vector=4,groups=2,warps=2",
       "__shared__ volatile char much[400000];\n  much[threadIdx.x] = 0;\n", Outcome::compile_failed,
       Outcome::compile_failed},
      {"is no C++", "panel:ufi=2,columns=64,vector=4,groups=2,warps=1", "this is no statement;\n",
       Outcome::compile_failed, Outcome::compile_failed},
      {"right, at the end", "panel:ufi=4,columns=64,vector=4,groups=2,warps=8", "", Outcome::ok, Outcome::ok},
  };
}

/// The text with statements before the first one of its kernel.
std::string with_statements(const std::string& text, const std::string& statements) {
  const std::string body = ") {\n";
  const std::size_t kernel = text.find("layer_kernel(");
  const std::size_t begin = text.find(body, kernel);
  ESC_CHECK(kernel != std::string::npos && begin != std::string::npos, "the text has the kernel");
  std::string changed = text;
  return changed.insert(begin + body.size(), "  " + statements);
}

/// Builds texts with their faults.
class FaultyBuilder {
 public:
  FaultyBuilder(BuildPool& pool, const PreparationSubject& subject) : pool_(pool) {
    for (const Fault& fault : faults()) {
      const NamedBuilder reader{"none", [&](const KernelText& text) {
                                  statements_[text.text] = fault.statements;
                                  return std::make_shared<const Cubin>();
                                }};
      static_cast<void>(prepare(subject, parse_schedule(fault.schedule), reader));
    }
    ESC_CHECK(statements_.size() == faults().size(), "each schedule has a text of its own");
  }

  std::shared_ptr<const Cubin> operator()(KernelText text) {
    text.text = with_statements(text.text, statements_.at(text.text));
    return std::make_shared<const Cubin>(pool_.build(text));
  }

 private:
  BuildPool& pool_;
  std::map<std::string, std::string> statements_;
};

bool passes(const std::string& stage, const Fault& fault, const Measurement& found, Outcome wanted) {
  const bool passed = found.outcome == wanted;
  fmt::print("{}  {:<7} {:<40} {:<16} {}\n", passed ? "PASS" : "FAIL", stage, fault.name, print(found.outcome),
             found.samples.empty() ? found.detail.substr(0, found.detail.find('\n'))
                                   : fmt::format("{:.2f} us", median(found.samples)));
  std::fflush(stdout);
  return passed;
}

bool run() {
  const auto matrix = std::make_shared<const SparseMatrix>(
      sample_matrix({.rows = 512, .columns = 512, .sparsity = 0.8, .structure = SampleStructure::uniform, .seed = 1}));
  const PreparationSubject subject{matrix, bcol, architecture};
  const std::filesystem::path worker = program_beside_this("esctune-worker");
  BuildPool pool({.program = worker, .arguments = {"build"}}, 4);
  FaultyBuilder builder(pool, subject);
  DeviceLab lab({.program = worker, .arguments = {"measure"}},
                {.search = {"nvrtc", [&](const KernelText& text) { return builder(text); }}, .final = std::nullopt}, 4,
                {.candidate = patience_of_candidate});
  if (lab.device().capability != architecture) {
    throw UserError("tuner-faults", "is for compute capability 9.0", "run it on an H100 or H200",
                    ExitStatus::missing_tool);
  }
  lab.open({.layer = facts_of(*matrix, "sample"), .bcol = bcol, .dtype = "f32", .device = lab.device()},
           {matrix, std::make_shared<const LoopNest>(spmm_nest())}, {});
  bool passed = true;
  std::vector<Schedule> finalists;
  for (const Fault& fault : faults()) {
    finalists.push_back(parse_schedule(fault.schedule));
    passed = passes("search", fault, lab.measure(finalists.back(), {}), fault.search) && passed;
  }
  const std::vector<Measurement> prepared = lab.prepare_finalists(finalists);
  std::size_t right = 0;
  for (std::size_t number = 0; number < prepared.size(); ++number) {
    const Fault fault = faults()[number];
    passed = passes("final", fault, prepared[number], fault.final) && passed;
    right += prepared[number].outcome == Outcome::ok ? 1 : 0;
  }
  for (const Edge edge : {Edge::plain, Edge::chain}) {
    const std::vector<double> times = lab.run_round(edge);
    const bool complete = times.size() == right && right == 2;
    fmt::print("{}  round   {} times\n", complete ? "PASS" : "FAIL", times.size());
    passed = passed && complete;
  }
  return passed;
}

}  // namespace
}  // namespace esc::tuning

int main() {
  try {
    return esc::tuning::run() ? 0 : 1;
  } catch (const esc::UserError& problem) {
    fmt::print(stderr, "tuner-faults: {}\n", problem.what());
    return static_cast<int>(problem.status());
  } catch (const std::exception& problem) {
    fmt::print(stderr, "tuner-faults: {}\n", problem.what());
    return 1;
  }
}

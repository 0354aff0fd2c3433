// SPDX-License-Identifier: Apache-2.0
#include "tuner/device/candidate_preparation.h"

#include <algorithm>
#include <utility>

#include "generator/emit/device_text.h"
#include "generator/emit/generate.h"
#include "generator/support/error.h"

namespace esc::tuning {
namespace {

constexpr const char* no_memory = "there is not enough memory on the host";

}  // namespace

PreparedCandidate prepare(const PreparationSubject& subject, const Schedule& schedule, const NamedBuilder& builder) {
  PreparedCandidate prepared{
      .measurement = {.candidate = print(schedule), .builder = builder.name}, .text = {}, .kernel = {}};
  const auto fail = [&](Outcome outcome, const std::string& detail) {
    prepared.measurement.outcome = outcome;
    prepared.measurement.detail = detail;
    return prepared;
  };
  try {
    const GeneratedLayer generated = generate_layer(*subject.matrix, subject.nest,
                                                    {.name = "layer",
                                                     .source_file = "layer",
                                                     .bcol = subject.bcol,
                                                     .architectures = {subject.architecture},
                                                     .choice = {schedule, "user"},
                                                     .fragments = subject.fragments});
    prepared.kernel.schedule = prepared.measurement.candidate;
    prepared.kernel.plan = launch_plan(generated.layer);
    const std::span<const std::byte> packed = generated.bytes();
    prepared.kernel.packed.assign(reinterpret_cast<const char*>(packed.data()), packed.size());
    prepared.text = {device_text(generated.layer), kernels_of(prepared.kernel.plan), subject.architecture};
    prepared.measurement.digest = digest(prepared.text);
  } catch (const UserError& refusal) {
    return fail(Outcome::skipped_by_limit, refusal.what());
  } catch (const std::bad_alloc&) {
    return fail(Outcome::skipped_by_limit, no_memory);
  }
  // What the builder cannot do for want of a compiler or of room on the disk is no candidate's fault, and passes
  // through.
  try {
    prepared.kernel.cubin = *builder.build(prepared.text);
  } catch (const BuildError& problem) {
    return fail(Outcome::compile_failed, problem.what());
  } catch (const std::bad_alloc&) {
    return fail(Outcome::skipped_by_limit, no_memory);
  }
  return prepared;
}

CandidatePreparation::CandidatePreparation(PreparationSubject subject, std::vector<Schedule> expected,
                                           NamedBuilder builder, std::size_t ahead)
    : subject_(std::move(subject)),
      expected_(expected.begin(), expected.end()),
      builder_(std::move(builder)),
      ahead_(ahead) {
  start_more();
}

void CandidatePreparation::start_more() {
  while (!expected_.empty() && pending_.size() < ahead_) {
    const Schedule schedule = expected_.front();
    expected_.pop_front();
    pending_.push_back(
        {print(schedule), std::async(std::launch::async, [subject = subject_, schedule, builder = builder_] {
           return prepare(subject, schedule, builder);
         })});
  }
}

PreparedCandidate CandidatePreparation::take(const Schedule& schedule) {
  const auto found = std::ranges::find(pending_, print(schedule), &Pending::schedule);
  if (found == pending_.end()) {
    return prepare(subject_, schedule, builder_);
  }
  std::future<PreparedCandidate> candidate = std::move(found->candidate);
  pending_.erase(found);
  start_more();
  return candidate.get();
}

}  // namespace esc::tuning

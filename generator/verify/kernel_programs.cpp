// SPDX-License-Identifier: Apache-2.0
#include "generator/verify/kernel_programs.h"

#include "generator/emit/built_architectures.h"

namespace esc {
namespace {

/// What device code is compiled with for the devices before compute capability 9.0.
const ProgramOptions earlier_devices{.headers = {}, .defines = {"__CUDA_ARCH__=800"}};

constexpr const char* features_of_hopper = "__CUDA_ARCH_FEAT_SM90_ALL";

}  // namespace

ProgramOptions with_features() { return {.headers = {}, .defines = {std::string(features_of_hopper) + "=1"}}; }

KernelPrograms::KernelPrograms(const std::string& text, const std::string& file_name, const Dispatch& dispatch)
    : usual_(compile_cuda(text, file_name, asks_for_own_features(text) ? with_features() : ProgramOptions())),
      without_features_(asks_for_own_features(text) ? new HostProgram(compile_cuda(text, file_name)) : nullptr),
      earlier_(dispatch.copies_in_bulk && dispatch.runs_earlier
                   ? new HostProgram(compile_cuda(text, file_name, earlier_devices))
                   : nullptr) {}

const HostProgram& KernelPrograms::for_call(const KernelCall& call) const {
  if (earlier_ != nullptr && call.compute_major < first_bulk_major) {
    return *earlier_;
  }
  const bool has_features = call.has_features && call.compute_major == first_bulk_major && call.compute_minor == 0;
  return without_features_ != nullptr && !has_features ? *without_features_ : usual_;
}

}  // namespace esc

// SPDX-License-Identifier: Apache-2.0
#include "generator/verify/kernel_programs.h"

#include "generator/emulate/compile_program.h"

namespace esc {
namespace {

/// What device code is compiled with for the devices before compute capability 9.0.
const ProgramOptions earlier_devices{.headers = {}, .defines = {"__CUDA_ARCH__=800"}};

}  // namespace

KernelPrograms::KernelPrograms(const std::string& text, const std::string& file_name, const Dispatch& dispatch)
    : usual_(compile_cuda(text, file_name)),
      earlier_(dispatch.copies_in_bulk && !dispatch.has_clusters ? new HostProgram(compile_cuda(text, file_name, earlier_devices)) : nullptr) {}

const HostProgram& KernelPrograms::for_call(const KernelCall& call) const {
  return earlier_ != nullptr && call.compute_major < first_bulk_major ? *earlier_ : usual_;
}

}  // namespace esc

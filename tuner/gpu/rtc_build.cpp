// SPDX-License-Identifier: Apache-2.0
#include "tuner/gpu/rtc_build.h"

#include <fmt/format.h>
#include <nvrtc.h>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <vector>

#include "generator/support/architecture.h"
#include "tuner/gpu/texts.h"

namespace esc::gpu {

using tuning::BuildError;
using tuning::Cubin;
using tuning::KernelText;

namespace {

/// For calls that fail only by a defect or for want of memory.
void check(nvrtcResult result, const char* call) {
  if (result != NVRTC_SUCCESS) {
    throw BuildError(fmt::format("{}: {}", call, nvrtcGetErrorString(result)));
  }
}

class Program {
 public:
  explicit Program(const std::string& text) {
    check(nvrtcCreateProgram(&program_, text.c_str(), "kernel.cu", 0, nullptr, nullptr), "nvrtcCreateProgram");
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  ~Program() { nvrtcDestroyProgram(&program_); }

  nvrtcProgram get() const { return program_; }

  std::string log() const {
    std::size_t bytes = 0;
    check(nvrtcGetProgramLogSize(program_, &bytes), "nvrtcGetProgramLogSize");
    std::string text(bytes, '\0');
    check(nvrtcGetProgramLog(program_, text.data()), "nvrtcGetProgramLog");
    return text.c_str();  // without the zero at its end
  }

 private:
  nvrtcProgram program_ = nullptr;
};

/// What NVRTC gets of a text.
std::string behind_prelude(const std::string& text) {
  return fmt::format("{}\n#line 1 \"kernel.cu\"\n{}", rtc_prelude_text, text);
}

std::vector<std::string> options_for(int architecture) {
  return {"--gpu-architecture=sm_" + compiled_architecture(architecture), "--std=c++17", "--disable-warnings"};
}

}  // namespace

Cubin build(const KernelText& text) {
  const Program program(behind_prelude(text.text));
  for (const std::string& kernel : text.kernels) {
    check(nvrtcAddNameExpression(program.get(), kernel.c_str()), "nvrtcAddNameExpression");
  }
  std::vector<const char*> options;
  const std::vector<std::string> texts_of_options = options_for(text.architecture);
  std::ranges::transform(texts_of_options, std::back_inserter(options), &std::string::c_str);
  const nvrtcResult compiled = nvrtcCompileProgram(program.get(), static_cast<int>(options.size()), options.data());
  if (compiled != NVRTC_SUCCESS) {
    throw BuildError(fmt::format("{}: {}", nvrtcGetErrorString(compiled), program.log()));
  }
  Cubin cubin;
  for (const std::string& kernel : text.kernels) {
    const char* symbol = nullptr;
    check(nvrtcGetLoweredName(program.get(), kernel.c_str(), &symbol), "nvrtcGetLoweredName");
    cubin.symbols.emplace_back(symbol);
  }
  std::size_t bytes = 0;
  check(nvrtcGetCUBINSize(program.get(), &bytes), "nvrtcGetCUBINSize");
  cubin.image.resize(bytes);
  check(nvrtcGetCUBIN(program.get(), cubin.image.data()), "nvrtcGetCUBIN");
  return cubin;
}

std::string rtc_version() {
  int major = 0;
  int minor = 0;
  check(nvrtcVersion(&major, &minor), "nvrtcVersion");
  return fmt::format("{}.{}", major, minor);
}

std::string rtc_setup() {
  return tuning::short_digest(behind_prelude("") + fmt::format("{}", fmt::join(options_for(0), " ")));
}

}  // namespace esc::gpu

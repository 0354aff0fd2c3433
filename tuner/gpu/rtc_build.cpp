#include "tuner/gpu/rtc_build.h"

#include <fmt/format.h>
#include <nvrtc.h>

#include <string_view>

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

}  // namespace

Cubin build(const KernelText& text) {
  const Program program(fmt::format("{}\n#line 1 \"kernel.cu\"\n{}", rtc_prelude_text, text.text));
  for (const std::string& kernel : text.kernels) {
    check(nvrtcAddNameExpression(program.get(), kernel.c_str()), "nvrtcAddNameExpression");
  }
  const std::string target = fmt::format("--gpu-architecture=sm_{}", text.architecture);
  const char* const options[] = {target.c_str(), "--std=c++17", "--disable-warnings"};
  const nvrtcResult compiled = nvrtcCompileProgram(program.get(), std::size(options), options);
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

}  // namespace esc::gpu

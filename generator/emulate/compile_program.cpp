// SPDX-License-Identifier: Apache-2.0
#include "generator/emulate/compile_program.h"

#include <optional>
#include <string_view>
#include <utility>

#include "generator/emulate/hooks.h"
#include "generator/emulate/host_library.h"
#include "generator/emulate/inline_ptx.h"
#include "generator/emulate/standin_headers.h"

namespace esc {
namespace {

/// The names of what device code alone sees begin so.
constexpr std::string_view macros_of_devices = "__CUDA_ARCH";

/// The same text as nvcc compiles it for the host; absent where it does not ask for whom it is compiled.
std::optional<HostSource> host_pass_of(const HostSource& source) {
  if (source.text.find(macros_of_devices) == source.text.npos) {
    return std::nullopt;
  }
  HostSource host = source;
  std::erase_if(host.defines, [](const std::string& define) { return define.starts_with(macros_of_devices); });
  host.defines.push_back("__ESC_HOST_PASS__");
  host.empties_kernels = true;
  return host;
}

/// From the emulator, or from the C library.
std::uint64_t resolve(const std::string& name) {
  const std::uint64_t hook = resolve_hook(name);
  return hook != 0 ? hook : resolve_host_library(name);
}

std::vector<VirtualHeader> joined(std::vector<VirtualHeader> headers, const std::vector<VirtualHeader>& more) {
  headers.insert(headers.end(), more.begin(), more.end());
  return headers;
}

}  // namespace

HostSource cuda_source(const std::string& text, const std::string& file_name, const ProgramOptions& options) {
  return {translate_inline_ptx(text, file_name), file_name, joined(options.headers, cuda_headers()), options.defines,
          false};
}

HostSource host_source(const std::string& text, const std::string& file_name, const ProgramOptions& options) {
  // An emulated program has one thread, so what is local to a thread is a plain variable.
  std::vector<std::string> defines = options.defines;
  defines.push_back("thread_local=");
  return {text, file_name, joined(options.headers, library_headers()), std::move(defines), false};
}

HostProgram compile_cuda(const std::string& text, const std::string& file_name, const ProgramOptions& options) {
  const HostSource source = cuda_source(text, file_name, options);
  return HostProgram(source, host_pass_of(source), resolve);
}

HostProgram compile_host(const std::string& text, const std::string& file_name, const ProgramOptions& options,
                         Watched watched) {
  return HostProgram(host_source(text, file_name, options), std::nullopt, resolve, watched);
}

}  // namespace esc

// SPDX-License-Identifier: Apache-2.0
#include "generator/emulate/compile_program.h"

#include <utility>

#include "generator/emulate/hooks.h"
#include "generator/emulate/host_library.h"
#include "generator/emulate/inline_ptx.h"
#include "generator/emulate/standin_headers.h"

namespace esc {
namespace {

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
  return {translate_inline_ptx(text, file_name), file_name, joined(options.headers, cuda_headers()), options.defines};
}

HostSource host_source(const std::string& text, const std::string& file_name, const ProgramOptions& options) {
  // An emulated program has one thread, so what is local to a thread is a plain variable.
  std::vector<std::string> defines = options.defines;
  defines.push_back("thread_local=");
  return {text, file_name, joined(options.headers, library_headers()), std::move(defines)};
}

HostProgram compile_cuda(const std::string& text, const std::string& file_name, const ProgramOptions& options) {
  return HostProgram(cuda_source(text, file_name, options), resolve);
}

HostProgram compile_host(const std::string& text, const std::string& file_name, const ProgramOptions& options, Watched watched) {
  return HostProgram(host_source(text, file_name, options), resolve, watched);
}

}  // namespace esc

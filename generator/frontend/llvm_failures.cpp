// SPDX-License-Identifier: Apache-2.0
#include "generator/frontend/llvm_failures.h"

#include <llvm/Support/ErrorHandling.h>
#include <unistd.h>

#include <new>
#include <string_view>

#include "generator/support/error.h"
#include "generator/support/standard_streams.h"

namespace esc {
namespace {

void throw_bad_alloc(void*, const char*, bool) { throw std::bad_alloc(); }

/// Nothing may be unwound here: LLVM may hold locks.
void end_on_fatal_error(void*, const char* reason, bool) {
  const std::string_view text(reason);
  const bool lacks_something = text.find("pthread") != std::string_view::npos ||
                               text.find("memory") != std::string_view::npos ||
                               text.find("llocat") != std::string_view::npos;
  write_to_standard_error(lacks_something ? "escgen: the system refuses what the compiler needs: "
                                          : "escgen: a defect of this program: LLVM: ");
  write_to_standard_error(text);
  write_to_standard_error("\n");
  _exit(static_cast<int>(lacks_something ? ExitStatus::missing_tool : ExitStatus::defect));
}

}  // namespace

void take_llvm_failures() {
  llvm::install_bad_alloc_error_handler(throw_bad_alloc);
  llvm::install_fatal_error_handler(end_on_fatal_error);
}

}  // namespace esc

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "generator/emit/dispatch.h"
#include "generator/emulate/compile_program.h"
#include "generator/emulate/host_program.h"
#include "generator/verify/kernel_calls.h"

namespace esc {

/// What a text that asks for features of a compute capability's own is compiled with, so that it finds those of 9.0
/// (sm_90a).
ProgramOptions with_features();

/// A kernel's text as code for the devices that its calls are made on: from compute capability 9.0 on and, where the
/// kernel does otherwise there, before; and for 9.0 with and without what that architecture alone has.
class KernelPrograms {
 public:
  /// Throws UserError for a text that does not compile.
  KernelPrograms(const std::string& text, const std::string& file_name, const Dispatch& dispatch);

  const HostProgram& usual() const { return usual_; }
  bool differ_without_features() const { return without_features_ != nullptr; }
  const HostProgram& for_call(const KernelCall& call) const;

 private:
  HostProgram usual_;
  std::unique_ptr<const HostProgram> without_features_;
  std::unique_ptr<const HostProgram> earlier_;
};

}  // namespace esc

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "generator/emit/dispatch.h"
#include "generator/emulate/host_program.h"
#include "generator/verify/kernel_calls.h"

namespace esc {

/// A kernel's text as code for the devices that its calls are made on: from compute capability 9.0 on and, where the kernel does otherwise there, before.
class KernelPrograms {
 public:
  /// Throws UserError for a text that does not compile.
  KernelPrograms(const std::string& text, const std::string& file_name, const Dispatch& dispatch);

  const HostProgram& usual() const { return usual_; }
  const HostProgram& for_call(const KernelCall& call) const;

 private:
  HostProgram usual_;
  std::unique_ptr<const HostProgram> earlier_;
};

}  // namespace esc

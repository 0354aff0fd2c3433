// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "generator/emulate/jit.h"
#include "generator/emulate/mapped_memory.h"
#include "generator/emulate/module_facts.h"
#include "generator/emulate/registers.h"
#include "generator/emulate/site_table.h"
#include "generator/emulate/watched.h"
#include "generator/frontend/host_compiler/host_compiler.h"

namespace esc {

/// The most dynamic and static shared memory that a block can have, bytes.
inline constexpr std::uint64_t kMaxSharedBytes = 227 * 1024;

/// A kernel in memory.
struct ProgramKernel {
  KernelFacts facts;
  std::uint64_t address = 0;
};

/// A variable in memory.
struct ProgramVariable {
  std::string name;
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  GlobalKind kind = GlobalKind::host;
};

/// A text compiled for this process and instrumented, so that an EmulatedDevice can run and check it, or, where results
/// alone are watched, left as it is. Its functions must be called through `EmulatedDevice::call` only. One device runs
/// a program at a time: the registers and the shared memory of its kernels are part of it.
class HostProgram {
 public:
  /// Compiles `source`, and where there is a `host_pass`, the same text for the host alone, which host code is taken
  /// from (host_pass.h); `resolve` answers what it leaves undefined with an address, or with 0. Throws UserError with
  /// file:line:column for a text that does not compile or uses a symbol that nobody defines.
  HostProgram(const HostSource& source, const std::optional<HostSource>& host_pass,
              const std::function<std::uint64_t(const std::string&)>& resolve, Watched watched = Watched::accesses);

  /// The address of an extern "C" function. Throws UserError when the text defines none of that name.
  void* symbol(const std::string& name) const;

  /// The same, typed: `function<int(const float*)>("scale")`.
  template <class Signature>
  Signature* function(const std::string& name) const {
    return reinterpret_cast<Signature*>(symbol(name));
  }

  const std::string& file_name() const { return file_name_; }
  const std::vector<ProgramKernel>& kernels() const { return kernels_; }
  /// Variables and constants of the module; not the shared ones.
  const std::vector<ProgramVariable>& variables() const { return variables_; }
  const std::vector<ProgramVariable>& shared_variables() const { return shared_; }
  std::uint64_t dynamic_shared() const { return dynamic_shared_; }
  /// What addresses in shared memory are counted from.
  std::uint64_t shared_window() const { return memory_.address(); }
  /// Whether a pointer leads to where shared memory lies, used or not, or to its end.
  bool is_shared(std::uint64_t pointer) const {
    return pointer >= first_shared_ && pointer <= dynamic_shared_ + kMaxSharedBytes;
  }
  /// Whether threads of its kernels may order themselves by asynchronous or named barriers, or fence what others read,
  /// one by one.
  bool orders_single_threads() const { return orders_single_threads_; }
  Registers& registers() const { return *reinterpret_cast<Registers*>(memory_.data()); }
  const SiteTable& sites() const { return sites_; }

 private:
  std::string file_name_;
  SiteTable sites_;
  MappedMemory memory_;  ///< registers, then static shared variables, then dynamic shared memory
  std::uint64_t first_shared_ = 0;
  std::uint64_t dynamic_shared_ = 0;
  bool orders_single_threads_ = false;
  std::vector<ProgramVariable> shared_;
  std::vector<ProgramVariable> variables_;
  std::vector<ProgramKernel> kernels_;
  std::unique_ptr<JitCode> code_;
};

}  // namespace esc

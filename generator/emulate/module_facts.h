// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace llvm {
class Function;
class GlobalObject;
class Module;
}  // namespace llvm

namespace esc {

/// A kernel of a program under check.
struct KernelFacts {
  std::string symbol;
  std::string name;                               ///< as written, with template arguments
  std::optional<std::uint32_t> max_threads = {};  ///< per block, from __launch_bounds__
  std::uint64_t static_shared = 0;                ///< bytes of the shared variables that it can reach
  std::uint32_t cluster_blocks = 1;               ///< along x, from __cluster_dims__
};

/// A shared variable of known size; or the array of dynamic shared memory (`bytes` 0).
struct SharedFacts {
  std::string symbol;
  std::string name;
  std::uint64_t bytes = 0;
  std::uint64_t alignment = 1;
};

/// Who may touch a variable of the module.
enum class GlobalKind { constant, device, host, compiler };

struct GlobalFacts {
  std::string symbol;
  std::string name;
  std::uint64_t bytes = 0;
  GlobalKind kind = GlobalKind::host;
};

struct ModuleFacts {
  std::vector<KernelFacts> kernels;
  std::vector<SharedFacts> shared;
  std::vector<GlobalFacts> globals;
};

/// Reads what the annotations of the stand-in headers say about `module` and makes every kernel and variable visible by
/// its symbol; shared variables become declarations, because the emulator holds their memory. Before: a module straight
/// from the front end. After: the same code, without annotations. Throws UserError for a variable that would have to be
/// initialised at run time.
ModuleFacts take_facts(llvm::Module& module);

/// What the annotations of a module straight from the front end name: kernels, and functions and variables of device
/// code.
struct DeviceObjects {
  std::vector<llvm::Function*> kernels;
  std::vector<llvm::GlobalObject*> others;
};

DeviceObjects device_objects(llvm::Module& module);
/// Forgets the annotations, so that nothing of device code is needed for them.
void drop_annotations(llvm::Module& module);

/// Symbols that `module` uses and does not define, sorted.
std::vector<std::string> undefined_symbols(const llvm::Module& module);

}  // namespace esc

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

namespace llvm {
class LLVMContext;
class Module;
namespace orc {
class LLJIT;
}
}  // namespace llvm

namespace esc {

/// How much is done for the speed of the code: little, which is soon done, or what a release build has.
enum class Optimisation { light, full };

/// Machine code of one module in this process; it lives as long as this object.
class JitCode {
 public:
  /// Optimises and compiles. `symbols` answers every symbol that the module does not define; nothing else of
  /// this process can be reached. Throws UserError naming what is missing or cannot be compiled.
  JitCode(std::unique_ptr<llvm::Module> module, std::unique_ptr<llvm::LLVMContext> context,
          const std::map<std::string, std::uint64_t>& symbols, Optimisation optimisation = Optimisation::light);
  JitCode(JitCode&&) noexcept;
  JitCode& operator=(JitCode&&) noexcept;
  ~JitCode();

  /// The address of a symbol, or 0 where the module has none of that name.
  std::uint64_t address(const std::string& symbol) const;

 private:
  std::unique_ptr<llvm::orc::LLJIT> jit_;
};

}  // namespace esc

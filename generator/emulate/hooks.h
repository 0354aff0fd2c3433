#pragma once

#include <cstdint>
#include <string>

namespace esc {

class Machine;

/// The address of the function that answers `name`: a hook of instrumented code, a device function of the stand-in
/// headers, or a function of the CUDA runtime. 0 where there is none.
std::uint64_t resolve_hook(const std::string& name);

/// The machine whose code runs on this thread. Compiled text calls the hooks with nothing but addresses, millions of
/// times a second; a thread-local pointer is how they find their machine without a look-up.
Machine& active_machine();

/// Makes `machine` the active one of this thread, and the former one again at the end of the scope.
class ActiveMachine {
 public:
  explicit ActiveMachine(Machine& machine);
  ActiveMachine(const ActiveMachine&) = delete;
  ActiveMachine& operator=(const ActiveMachine&) = delete;
  ~ActiveMachine();

 private:
  Machine* former_;
};

}  // namespace esc

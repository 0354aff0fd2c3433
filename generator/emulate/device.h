// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "generator/emulate/fault.h"
#include "generator/emulate/host_program.h"
#include "generator/emulate/options.h"

namespace esc {

class Machine;

/// What stands for the status of a host function that a fault has stopped.
inline constexpr int stopped_by_fault = -1;

/// What a buffer is to the code under check.
struct BufferUse {
  enum class Space { device, host };
  enum class Access { read_only, read_write };
  enum class Contents { initialised, poisoned };  ///< poisoned: a byte that nothing has written must not be read

  Space space = Space::device;
  Access access = Access::read_only;
  Contents contents = Contents::initialised;
  bool of_predecessor = false;  ///< the kernel before may use it: none may touch it before it has waited for that

  static BufferUse input() { return {}; }
  static BufferUse output() { return {Space::device, Access::read_write, Contents::poisoned, false}; }
  static BufferUse update() { return {Space::device, Access::read_write, Contents::initialised, false}; }
  BufferUse on_host() const { return {Space::host, access, contents, of_predecessor}; }
  BufferUse shared_with_predecessor() const { return {space, access, contents, true}; }
};

/// A GPU played on the host: runs the functions of a HostProgram, with the kernels that they launch, and reports what
/// they do wrong before it can do harm. Not for use by several threads at once; several devices are independent.
///
/// What is checked: every access against the registered buffers (bounds, alignment that the type promises, read-only,
/// host or device, bytes never written), races, barriers, warp operations, asynchronous copies, endless loops, launch
/// limits. Order between blocks that is made with atomics and fences is not understood: such accesses are reported as
/// races. A run shows the faults of the path that it takes.
class EmulatedDevice {
 public:
  explicit EmulatedDevice(EmulationOptions options = {});
  EmulatedDevice(EmulatedDevice&&) noexcept;
  EmulatedDevice& operator=(EmulatedDevice&&) noexcept;
  ~EmulatedDevice();

  /// Registers `bytes` at `memory`, which the caller keeps alive. Throws UserError where registered memory overlaps or
  /// the name is taken.
  void add_buffer(const std::string& name, const void* memory, std::size_t bytes, BufferUse use);
  template <class T>
  void add_buffer(const std::string& name, std::span<T> values, BufferUse use) {
    add_buffer(name, values.data(), values.size_bytes(), use);
  }

  /// A fresh buffer that this device owns, zeroed (0xff where poisoned: floats are NaN), aligned to `kPageBytes`, with
  /// wide gaps on both sides, so that an index far outside does not land in another buffer.
  std::span<std::byte> allocate(const std::string& name, std::size_t bytes, BufferUse use);

  /// Forgets a buffer, and frees it where it is this device's.
  void remove_buffer(const std::string& name);

  /// Declares all bytes of a buffer unwritten again, or written.
  void set_contents(const std::string& name, BufferUse::Contents contents);

  /// How many bytes of a poisoned buffer nothing has written yet; 0 for other buffers.
  std::uint64_t count_uninitialised(const std::string& name) const;

  /// Calls a host function of `program`; its launches and fills run here. Empty when a fault ended it early.
  template <class R, class... P>
  std::optional<R> call(const HostProgram& program, R (*function)(P...), std::type_identity_t<P>... arguments) {
    std::optional<R> result;
    run(program, [&] { result = function(arguments...); });
    return result;
  }

  /// The same by name: `call<int(const float*)>(program, "scale", values)`. Throws UserError for an unknown name.
  template <class Signature, class... A>
  auto call(const HostProgram& program, const std::string& name, A&&... arguments) {
    return call(program, program.function<Signature>(name), std::forward<A>(arguments)...);
  }

  /// The same for who calls the function himself: `work` calls it and returns what it returns.
  std::optional<int> call(const HostProgram& program, const std::function<int()>& work) {
    std::optional<int> result;
    run(program, [&] { result = work(); });
    return result;
  }

  /// The faults of all calls so far, in the order found, each kind once per place. Blocks with a fault of an access
  /// that cannot be made are abandoned; after `max_faults` nothing runs any more.
  const std::vector<EmulationFault>& faults() const;
  /// The messages of `faults()`, one per line.
  std::string describe_faults() const;
  void forget_faults();

  const EmulationCounters& counters() const;
  /// The kernels whose attributes host code has asked for so far, which loads them.
  const std::set<std::string>& prepared_kernels() const;
  /// How the next calls run. Limits that host code has raised for kernels stay.
  void set_options(EmulationOptions options);
  /// What host code finds at the paths from now on, and nothing else.
  void set_files(KnownFiles files);

 private:
  void run(const HostProgram& program, const std::function<void()>& work);

  std::unique_ptr<Machine> machine_;
  std::vector<std::pair<std::string, MappedMemory>> owned_;
};

}  // namespace esc

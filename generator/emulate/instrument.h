// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "generator/emulate/access_note.h"
#include "generator/emulate/site_table.h"

namespace llvm {
class Module;
}

namespace esc {

/// Why code stops where no access is wrong. Values are passed by compiled text.
enum class StopReason : std::uint32_t { trap, unreachable, division, shift, local_array, call_target };

/// Names of what instrumented code refers to; `resolve_hook` (hooks.h) and the registers answer them.
namespace hook_names {
inline constexpr const char* kRead = "__esc_read";  ///< + bytes: (address, note) before a read of 1, 2, 4, 8, 16 bytes
inline constexpr const char* kWrite = "__esc_write";                     ///< + bytes: the same for a write
inline constexpr const char* kReadRange = "__esc_read_range";            ///< (address, bytes, note)
inline constexpr const char* kWriteRange = "__esc_write_range";          ///< (address, bytes, note)
inline constexpr const char* kAtomic = "__esc_atomic_access";            ///< (address, bytes, note)
inline constexpr const char* kStop = "__esc_stop";                       ///< (StopReason, site), does not return
inline constexpr const char* kOutOfFuel = "__esc_out_of_fuel";           ///< (site)
inline constexpr const char* kStackOverflow = "__esc_stack_overflow";    ///< (site), does not return
inline constexpr const char* kGridConstant = "__esc_grid_constant";      ///< (address) of a parameter of a kernel
inline constexpr const char* kInitialiseBarrier = "__esc_barrier_init";  ///< called by texts with asynchronous barriers
inline constexpr const char* kNamedBarrier = "__esc_named_barrier";      ///< called by texts with named barriers
inline constexpr const char* kIssueProduct = "__esc_issue_product";  ///< called by texts with products of warpgroups
inline constexpr const char* kSite = "__esc_site";
inline constexpr const char* kFuel = "__esc_fuel";
inline constexpr const char* kStackLimit = "__esc_stack_limit";
}  // namespace hook_names

/// Whether `name` is one of threadIdx, blockIdx, blockDim and gridDim.
bool is_index_register(std::string_view name);

/// Rewrites `module` (straight from the front end) so that it reports what it does before it does it:
///   - each access of memory that is not provably inside a local variable calls a hook with address, size, promised
///     alignment and place. One copy of a vector type is one access: its alignment can be judged only as a whole;
///   - an index into a local array is compared with its bounds in line;
///   - each trip around a loop costs fuel, so that no loop is endless; each function compares its frame with the stack;
///   - a call through a pointer is compared with the functions of the text that it may be of;
///   - division by zero, traps and code that must not be reached stop the thread instead of this process.
/// Functions with the attribute disable_sanitizer_instrumentation are left alone. Is before every optimisation but
/// inlining and the promotion of scalars to registers: later passes could merge, split or speculate accesses.
/// Throws UserError for inline assembly and for what else reaches below the language: computed jumps, frames,
/// registers.
SiteTable instrument(llvm::Module& module);

}  // namespace esc

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "generator/confine/allowance.h"

namespace esc {

/// Takes every right from this process, for ever, but to compute, to have the memory of the allowance, to read from and
/// write to `descriptor`, and to end: no files (with `reads_files`: none to be written), no network, no other process,
/// no signals to others. Descriptors other than `descriptor` are closed or lead nowhere. Must be called while the
/// process has one thread. What went wrong, in words, or empty: then the process must end without doing anything.
///
/// A system call beyond those rights calls `refused` with its number, which must not return.
std::string give_up_rights(const Allowance& allowance, int descriptor, void (*refused)(int system_call));

/// Whether a limit of this process leaves less memory than the allowance would: what runs out of memory then is not to
/// blame.
bool is_short_of_memory(const Allowance& allowance);

}  // namespace esc

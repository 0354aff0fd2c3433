// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace esc {

/// What a user may do where the system has refused a descriptor, a process, a thread or memory with this error.
const char* remedy_for(int error);

}  // namespace esc

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llvm/ADT/IntrusiveRefCntPtr.h>
#include <llvm/Support/VirtualFileSystem.h>

#include <string>

#include "generator/frontend/nest_headers.h"

namespace esc::frontend {

/// The files of this machine that a nest may include: headers of the compiler and of the C and C++ libraries, and with
/// NestHeaders::beside those in the folder of `file_name` and below. Any other file, and what is no regular file,
/// cannot be opened, with the rule as the reason; folders and libraries can be looked for, as the compiler does to find
/// its headers.
llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> header_files(const std::string& file_name, NestHeaders headers);

}  // namespace esc::frontend

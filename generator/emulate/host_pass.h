// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

namespace llvm {
class Module;
}

namespace esc {

/// Joins the two compilations of a text of CUDA C++, as nvcc has two: in `device` its kernels, and what they call, see
/// __CUDA_ARCH__, in `host` nothing does. Of `host` come the functions that are visible by their names, and what they
/// call; of `device` the kernels, which these launch, and the variables of device code. Before: two modules straight
/// from the front end, of one context. After: one, with the annotations of `device`.
std::unique_ptr<llvm::Module> join_passes(std::unique_ptr<llvm::Module> device, std::unique_ptr<llvm::Module> host);

}  // namespace esc

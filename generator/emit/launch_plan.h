// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "generator/emit/layer.h"

namespace esc {

/// How a layer's launcher launches its kernel for N = bCol columns without gaps between rows, for programs that launch
/// it themselves. The kernel's arguments are packed, B, ldb, C, ldc (long long), N (unsigned int), then `sizes` and,
/// where there are `boxes`, a tensor map of B: of elements of 16 bits, with a swizzle as wide as a row of a box, or
/// of float32 without one; before compute capability 9.0 it may hold anything.
struct LaunchPlan {
  /// A kernel in front that sets some rows of C to zero, which the other one adds to. Its arguments are packed, C, ldc
  /// (long long), N (unsigned int) and then `sizes`; it is programmatic where the other one is.
  struct Zeroing {
    std::string kernel;  ///< as C++ names it: "NAME_zero_rows"
    unsigned int grid_x = 1;
    unsigned int threads = 32;
    std::vector<unsigned int> sizes = {};
    bool operator==(const Zeroing&) const = default;
  };

  /// The parts of B that tensor copies move.
  struct Boxes {
    std::uint64_t rows_of_b = 1;
    unsigned int rows = 1;
    unsigned int columns = 16;
    unsigned int element_bytes = 2;
    bool of_columns = false;  ///< B has its columns one after the other, and they are the lines of a box
    bool are_copied = true;   ///< else the kernel does not look at the map, which may hold anything
    bool operator==(const Boxes&) const = default;
  };

  std::string kernel;  ///< the instance, as C++ names it: "NAME_kernel<true, true>"
  unsigned int grid_x = 1;
  unsigned int grid_y = 1;
  unsigned int threads = 32;
  std::uint64_t shared_bytes = 0;  ///< of dynamic shared memory
  bool zeroes_c = false;           ///< C must be set to zero first
  bool programmatic = false;       ///< may begin before the kernel before has ended
  std::vector<unsigned int> sizes = {};
  std::optional<Zeroing> zeroing = {};  ///< absent: no row needs it
  std::optional<Boxes> boxes = {};      ///< absent: threads copy B, or load it
};

/// The kernels of a plan, as C++ names them: the zeroing one after the main one.
std::vector<std::string> kernels_of(const LaunchPlan& plan);

/// The variants of a layer's kernel as template arguments of C++, that for which it is tuned first: "<true, true>".
std::vector<std::string> kernel_variants(const Layer& layer);

/// The plan of a layer with at least one non-zero: what its lowered nest says with the layer's sizes.
LaunchPlan launch_plan(const Layer& layer);

}  // namespace esc

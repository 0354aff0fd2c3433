#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "generator/ir/loop_nest.h"

namespace esc {

/// A dense array of any rank, row-major, in double. Index arrays are held the same way: exact up to 2^53.
struct Tensor {
  std::vector<std::int64_t> extents;
  std::vector<double> elements;

  bool operator==(const Tensor&) const = default;
};

/// What a nest runs on: the sizes by name, and every array it mentions.
struct Memory {
  Environment sizes;
  std::map<std::string, Tensor> arrays;
};

/// Runs the nest in order, in double, and returns the memory it leaves. The untransformed nest run this way is the
/// oracle of every later form. What a loop's body defines has no value outside it. Arrays that every block or every
/// thread has of its own are no part of the memory: each finds them uninitialised. The threads of a block run one after
/// the other from one barrier, or instruction of a warp, to the next.
/// Throws Defect for an access outside an array, a variable without a value, an element of a block's or a thread's own
/// array that is read before it is written, a loop that breaks its promise, a barrier that not all threads reach, or a
/// race: two iterations of loops that are mapped to the GPU writing one element when either of them is not atomic. On a
/// block's own arrays a read takes part in races too, and a barrier separates what stands before it from what stands behind.
Memory interpret(const LoopNest& nest, Memory memory);

}  // namespace esc

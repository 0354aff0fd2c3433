// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "generator/ir/named_values.h"

namespace esc {

/// Whose an array is: the memory's, or a thread's own; of a block or of a cluster, where reads take part in races too.
enum class Owner { memory_or_thread, block, cluster };

/// An array as the interpreter sees it: elements that somebody owns, or a part of them.
struct ArrayView {
  std::vector<std::int64_t> extents;
  double* elements = nullptr;
  char* written = nullptr;  ///< one for each element; null where every element has a value
  Owner owner = Owner::memory_or_thread;
  bool is_shared() const { return owner != Owner::memory_or_thread; }

  std::int64_t size() const;
};

/// An array with its elements, none of them written. Its view stays where it is.
class OwnedArray {
 public:
  explicit OwnedArray(std::vector<std::int64_t> extents, Owner owner = Owner::memory_or_thread);
  OwnedArray(const OwnedArray&) = delete;
  OwnedArray& operator=(const OwnedArray&) = delete;

  const ArrayView& view() const { return view_; }
  /// All zero, or nothing written.
  void reset(bool zero);

 private:
  ArrayView view_;
  std::vector<double> elements_;
  std::vector<char> written_;
};

/// What one thread of the interpreter knows: values of names, and arrays of its own. Definitions end with the scope
/// that they were made in; a frame hides those before it while an instruction runs. Names are those of the nest
/// and of its instructions, which outlive it.
class ThreadState {
 public:
  std::int64_t number = 0;          ///< of the thread in its block
  std::int64_t consumer_group = 0;  ///< its consumer group's index, where the block has consumer groups
  std::int64_t iteration = 0;       ///< of all that ran in parallel, for races
  std::map<std::string, std::shared_ptr<OwnedArray>, std::less<>> registers;

  const double* find(const SoughtName& name) const {
    return values_.find(name, frames_.empty() ? 0 : frames_.back().first);
  }
  double* find(const std::string& name) {
    return const_cast<double*>(static_cast<const ThreadState*>(this)->find(SoughtName(name)));
  }
  void define(std::string_view name, double value) { values_.add(name, value); }

  std::size_t open() const { return values_.size(); }
  void close(std::size_t opened) { values_.cut(opened); }

  /// The arrays of an instruction by the names of its parameters; they hide the thread's own.
  struct Frame {
    std::size_t first = 0;
    std::map<std::string, ArrayView, std::less<>> arrays;
    std::vector<std::pair<std::uint64_t, const std::pair<const std::string, ArrayView>*>>
        by_digest;  ///< of their names

    const ArrayView* find(const std::string& name) const;
  };
  const Frame* frame() const { return frames_.empty() ? nullptr : &frames_.back(); }
  void enter(std::map<std::string, ArrayView, std::less<>> arrays);
  void leave();

 private:
  NamedValues values_;
  std::deque<Frame> frames_;
};

}  // namespace esc
